import assert from "node:assert/strict";
import { VirtualNode } from "../../../runtime/api";
import { resourceSliceUser } from "../../../runtime/identity";
import type { Verdict } from "../../../runtime/webhooks/admission-review";
import { validateIdentity } from "../../../runtime/webhooks/identity";
import { validateQuota } from "../../../runtime/webhooks/quota";
import { verdictOnValidation } from "../../../runtime/webhooks/validation";
import { validateVirtualNodeSpec } from "../../../runtime/webhooks/virtual-node";
import { admissionRequest } from "./requests";

const peer = "liqo.io/remote-cluster-id";
const tenantOf = (cluster: string) => ({ "liqo.io/tenant-namespace": "true", [peer]: cluster });
const namespace = "to-milan";

type Labels = Record<string, string>;
type Row = [title: string, spec: object, labels: Labels, ofNamespace: Labels, outcome: RegExp];

const object = (group: string, kind: string, spec: object, labels: Labels) => ({
  apiVersion: `${group}.liqo.io/v1beta1`,
  kind,
  metadata: { name: "pool", namespace, labels },
  spec,
});

/** What a verdict says, as one line. */
function said(verdict: Verdict): string {
  if (!verdict.allowed) return `refused: ${verdict.message}`;
  return verdict.warnings === undefined ? "allowed" : `warned: ${verdict.warnings.join("; ")}`;
}

describe("the validation of an Identity", () => {
  const control = { clusterID: "milan", type: "ControlPlane", namespace: "guests-from-rome" };
  const judge = (spec: object, labels: Labels, ofNamespace: Labels, before?: object) =>
    said(
      validateIdentity(
        admissionRequest({
          namespace,
          object: object("authentication", "Identity", spec, labels),
          ...(before === undefined
            ? {}
            : { operation: "UPDATE", oldObject: object("authentication", "Identity", before, labels) }),
        }),
        { ownClusterID: "rome", namespaceLabels: ofNamespace },
      ),
    );
  const rows: Row[] = [
    ["takes one of the namespace's provider", control, { [peer]: "milan" }, tenantOf("milan"), /^allowed$/],
    ["takes one without a label", control, {}, tenantOf("milan"), /^allowed$/],
    [
      "takes one of a slice",
      { clusterID: "milan", type: "ResourceSlice" },
      {},
      tenantOf("milan"),
      /^allowed$/,
    ],
    [
      "tells of a namespace without labels, which may come",
      control,
      {},
      {},
      /^warned: Identity "to-milan\/pool": namespace "to-milan" is not the tenant namespace of cluster "milan" \(yet\); .*label this one/,
    ],
    [
      "refuses one in another's namespace",
      control,
      {},
      tenantOf("turin"),
      /^refused: Identity "to-milan\/pool": spec\.clusterID is "milan", and namespace "to-milan" is the tenant namespace of cluster "turin"; create it in that of "milan", or give the ID "turin"$/,
    ],
    [
      "refuses another label",
      control,
      { [peer]: "turin" },
      tenantOf("milan"),
      /label .* is "turin", and spec\.clusterID "milan"; make them equal$/,
    ],
    [
      "refuses this cluster",
      { ...control, clusterID: "rome" },
      {},
      {},
      /spec\.clusterID: "rome" is this cluster.*give/,
    ],
    ["refuses none", { type: "ControlPlane" }, {}, {}, /spec\.clusterID: is missing; give/],
    ["refuses no type", { clusterID: "milan" }, {}, tenantOf("milan"), /spec\.type: is missing; write/],
    [
      "refuses a namespace that is none",
      { ...control, namespace: "No!" },
      {},
      tenantOf("milan"),
      /spec\.namespace: "No!" is no name of a namespace; give/,
    ],
    [
      "tells of a control plane without a namespace",
      { clusterID: "milan", type: "ControlPlane" },
      {},
      tenantOf("milan"),
      /^warned: .*spec\.namespace: is missing.*give/,
    ],
  ];
  for (const [title, spec, labels, ofNamespace, outcome] of rows)
    it(title, () => assert.match(judge(spec, labels, ofNamespace), outcome));

  it("leaves what was wrong before, and looks at what is changed", () => {
    assert.equal(judge({ ...control, authParams: {} }, {}, tenantOf("turin"), control), "allowed");
    assert.match(
      judge({ ...control, clusterID: "naples" }, {}, tenantOf("turin"), control),
      /^refused: .*is "naples"/,
    );
    assert.equal(judge({ ...control, clusterID: "turin" }, {}, tenantOf("turin"), control), "allowed");
  });
});

describe("the validation of a Quota", () => {
  const user = resourceSliceUser("pool", "turin");
  const judge = (spec: object, labels: Labels, ofNamespace: Labels) =>
    said(
      validateQuota(
        admissionRequest({ namespace, object: object("offloading", "Quota", spec, labels) }),
        ofNamespace,
      ),
    );
  const rows: Row[] = [
    [
      "takes a slice's",
      { user, resources: { cpu: "2", "example.com/gpu": 1 } },
      {},
      tenantOf("turin"),
      /^allowed$/,
    ],
    [
      "refuses less than nothing",
      { user, resources: { cpu: "-2" } },
      {},
      tenantOf("turin"),
      /^refused: Quota "to-milan\/pool": spec\.resources: cpu: "-2" is negative; give/,
    ],
    [
      "refuses a name of nothing",
      { user, resources: { "my cpu": "2" } },
      {},
      tenantOf("turin"),
      /spec\.resources: "my cpu" is no name of a resource; write/,
    ],
    [
      "refuses the label of another consumer",
      { user, resources: {} },
      { [peer]: "naples" },
      tenantOf("turin"),
      /the label .* is "naples", and namespace "to-milan" is the tenant namespace of cluster "turin"; create/,
    ],
    [
      "tells of a user of another form",
      { user: "jane", resources: {} },
      {},
      tenantOf("turin"),
      /^warned: .*spec\.user: "jane" is no user of a slice of cluster "turin", which are called <slice>-[0-9a-f]{12}; give/,
    ],
    [
      "tells of a slice's user of another consumer",
      { user: resourceSliceUser("pool", "naples"), resources: {} },
      {},
      tenantOf("turin"),
      /^warned: .*is no user of a slice of cluster "turin"/,
    ],
    [
      "tells of a namespace without labels",
      { user, resources: {} },
      {},
      {},
      /^warned: .*is no tenant namespace \(yet\); create/,
    ],
  ];
  for (const [title, spec, labels, ofNamespace, outcome] of rows)
    it(title, () => assert.match(judge(spec, labels, ofNamespace), outcome));
});

describe("what is found in a VirtualNode", () => {
  const whole = { clusterID: "milan", kubeconfigSecretRef: { name: "kubeconfig-resourceslice-pool" } };
  const judge = (spec: object, labels: Labels, ofNamespace: Labels) =>
    said(
      verdictOnValidation(
        "VirtualNode",
        admissionRequest({ namespace, object: object("offloading", "VirtualNode", spec, labels) }),
        (one) =>
          validateVirtualNodeSpec(one, VirtualNode.fromApiServer(one.raw).spec, {
            ownClusterID: "rome",
            namespace,
            namespaceLabels: ofNamespace,
          }),
      ),
    );
  const rows: Row[] = [
    ["nothing", whole, { [peer]: "milan" }, tenantOf("milan"), /^allowed$/],
    [
      "no cluster",
      { ...whole, clusterID: undefined },
      {},
      tenantOf("milan"),
      /^refused: .*spec\.clusterID: is missing; give/,
    ],
    [
      "this cluster",
      { ...whole, clusterID: "rome" },
      {},
      {},
      /spec\.clusterID: "rome" is this cluster.*give/,
    ],
    [
      "another's namespace",
      whole,
      {},
      tenantOf("turin"),
      /^refused: VirtualNode "to-milan\/pool": spec\.clusterID is "milan", and namespace "to-milan" is the tenant namespace of cluster "turin"; create/,
    ],
    ["another's label", whole, { [peer]: "turin" }, tenantOf("milan"), /make them equal/],
    [
      "no labels of the namespace",
      whole,
      {},
      {},
      /^warned: .*is not the tenant namespace of cluster "milan" \(yet\)/,
    ],
    [
      "no Secret",
      { clusterID: "milan" },
      {},
      tenantOf("milan"),
      /^warned: .*kubeconfigSecretRef\.name: is missing.*name a Secret/,
    ],
    [
      "no name of a Secret",
      { ...whole, kubeconfigSecretRef: { name: "My_Secret" } },
      {},
      tenantOf("milan"),
      /kubeconfigSecretRef\.name: "My_Secret" is no name of a Secret; use/,
    ],
    [
      "amounts that no node has",
      { ...whole, resourceQuota: { hard: { pods: "1.5", cpu: "-1" } } },
      {},
      tenantOf("milan"),
      /spec\.resourceQuota\.hard: pods: "1\.5" is not a whole number.*spec\.resourceQuota\.hard: cpu: "-1" is negative/,
    ],
  ];
  for (const [title, spec, labels, ofNamespace, outcome] of rows)
    it(title, () => assert.match(judge(spec, labels, ofNamespace), outcome));
});
