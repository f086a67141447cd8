import assert from "node:assert/strict";

import { type Desired, Namespace, Secret, type WholePodSpec } from "../../runtime/api";
import { refusal } from "../support/admission-cluster";
import { atMilan } from "../support/peering-of-rome";
import { Stranger } from "../support/stranger";
import { until } from "../support/until";

const ENFORCE = "pod-security.kubernetes.io/enforce";
const OURS = "liqo.io/pod-security";
const containers = [{ name: "web", image: "web:1" }];
const privileged: WholePodSpec = {
  containers: [{ name: "web", image: "web:1", securityContext: { privileged: true } }],
};

/** What whoever holds a consumer's credentials can get of the provider by the pods that it asks for. */
describe("pods of a stranger", function () {
  this.timeout(120_000);
  const rome = Stranger.forSuite();
  const levelOf = async (name: string) => (await rome.remote(name))?.metadata.labels?.[ENFORCE];
  const enforce = (name: string, metadata: object) =>
    rome.admin.patch(Namespace, { name }, { metadata }, { type: "merge" });
  const untilLevel = (name: string, level: string) =>
    until(`${name} enforces ${level}`, async () => (await levelOf(name)) === level);

  const secret = (name: string, type: string): Desired<Secret> => ({
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name,
      namespace: "shop-rome",
      annotations: { "kubernetes.io/service-account.name": "default" },
    },
    type,
  });
  const token = (name: string) => secret(name, "kubernetes.io/service-account-token");

  before(() => rome.namespace("shop", "shop-rome"));

  it("are held to the baseline standard from the first moment", async () =>
    assert.equal(await levelOf("shop-rome"), "baseline"));

  const named: [what: string, spec: WholePodSpec, why: RegExp][] = [
    ["a node of its choice", { containers, nodeName: "control-plane-1" }, /nodeName is "control-plane-1"/],
    [
      "another service account",
      { containers, serviceAccountName: "deployer" },
      /serviceAccountName is "deployer"/,
    ],
    [
      "that account by the field's former name",
      { containers, serviceAccount: "deployer" },
      /serviceAccount is "deployer"/,
    ],
    [
      "a priority that pushes others out",
      { containers, priorityClassName: "system-node-critical" },
      /priorityClassName is "system-node-critical"/,
    ],
    ["another runtime", { containers, runtimeClassName: "nvidia" }, /runtimeClassName is "nvidia"/],
    [
      "a token for somebody who trusts the provider",
      {
        containers,
        volumes: [
          {
            name: "token",
            projected: { sources: [{ serviceAccountToken: { path: "token", audience: "vault" } }] },
          },
        ],
      },
      /audience is "vault"/,
    ],
  ];

  describe("where no webhook is asked", () => {
    for (const [at, [what, spec, why]] of named.entries()) {
      it(`are not made with ${what}`, async () => {
        const name = `unasked-${at}`;
        assert.equal(await rome.run(name, spec), "allowed");
        assert.match(await rome.reason(name), why);
        assert.equal(await rome.pod(name), undefined);
      });
    }
  });

  describe("with the webhooks", () => {
    before(() => rome.serveWebhooks());

    it("run, where they ask for nothing but to run", async () => {
      assert.equal(await rome.run("plain", { containers, serviceAccountName: "default" }), "allowed");
      await until("the pod exists", () => rome.pod("plain"));
    });

    for (const [at, [what, spec, why]] of named.entries()) {
      it(`are refused with ${what}`, async () => assert.match(await rome.run(`asked-${at}`, spec), why));
    }

    const powerful: [what: string, spec: WholePodSpec, why: RegExp][] = [
      ["all privileges", privileged, /violates PodSecurity "baseline:latest": privileged/],
      [
        "the node's files",
        { containers, volumes: [{ name: "root", hostPath: { path: "/" } }] },
        /violates PodSecurity "baseline:latest": hostPath volumes/,
      ],
      ["the node's network", { containers, hostNetwork: true }, /violates PodSecurity.*host namespaces/],
      ["the node's processes", { containers, hostPID: true }, /violates PodSecurity.*host namespaces/],
      ["the node's memory segments", { containers, hostIPC: true }, /violates PodSecurity.*host namespaces/],
      [
        "a capability of the kernel",
        {
          containers: [
            { name: "web", image: "web:1", securityContext: { capabilities: { add: ["SYS_ADMIN"] } } },
          ],
        },
        /violates PodSecurity "baseline:latest": non-default capabilities/,
      ],
    ];
    for (const [at, [what, spec, why]] of powerful.entries()) {
      it(`are not made with ${what}, and rome reads why`, async () => {
        const name = `powerful-${at}`;
        assert.equal(await rome.run(name, spec), "allowed");
        assert.match(await rome.reason(name), why);
        await until("the status says so too", async () =>
          why.test((await rome.statusOf(name))?.message ?? ""),
        );
        assert.equal(await rome.pod(name), undefined);
      });
    }

    it("keep their users apart from the node's", async () => {
      assert.equal(await rome.run("users", { containers, hostUsers: false }), "allowed");
      const pod = await until("the pod exists", () => rome.pod("users"));
      assert.equal(pod.spec.hostUsers, false);
    });
  });

  describe("and the provider's administrator", () => {
    it("finds the standard back where it was taken away", async () => {
      await enforce("shop-rome", { labels: { [ENFORCE]: null }, annotations: { [OURS]: null } });
      await untilLevel("shop-rome", "baseline");
    });

    it("keeps a choice for one namespace", async () => {
      await rome.namespace("tools", "tools-rome");
      await enforce("tools-rome", { labels: { [ENFORCE]: "restricted" } });
      await rome.restart();
      await rome.namespace("more", "more-rome");
      assert.equal(await levelOf("tools-rome"), "restricted");
    });

    it("chooses for one consumer, by its tenant namespace, and pods that were refused are made", async () => {
      assert.equal(await rome.run("later", privileged), "allowed");
      assert.match(await rome.reason("later"), /violates PodSecurity/);
      await enforce(atMilan("").namespace, { annotations: { [OURS]: "privileged" } });
      await untilLevel("shop-rome", "privileged");
      await until("the pod is made", () => rome.pod("later"));
      await until("nothing is told any more", async () => {
        const status = await rome.statusOf("later");
        return status?.reason === undefined && status?.message === undefined;
      });
      await enforce(atMilan("").namespace, { annotations: { [OURS]: "restricted" } });
      await untilLevel("shop-rome", "restricted");
      assert.equal(await levelOf("tools-rome"), "restricted");
    });

    it("chooses for all of them by a flag", async () => {
      await enforce(atMilan("").namespace, { annotations: { [OURS]: null } });
      await untilLevel("shop-rome", "baseline");
      await rome.restart("--pod-security=restricted");
      await untilLevel("shop-rome", "restricted");
    });
  });

  describe("and the Secrets that their virtual kubelet makes", () => {
    it("hold no token of an account there", async () => {
      const refused = /"shop-rome\/stolen": the type .* makes it a token of service account "default"/;
      assert.match(await refusal(rome.kubelet.create(Secret, token("stolen"))), refused);
      await rome.admin.create(Secret, token("by-the-administrator"));
      const ref = { name: "by-the-administrator", namespace: "shop-rome" };
      const other = { metadata: { annotations: { "kubernetes.io/service-account.name": "deployer" } } };
      assert.match(
        await refusal(rome.kubelet.patch(Secret, ref, other, { type: "merge" })),
        /makes it a token of service account "deployer"/,
      );
      await until("Kubernetes fills the administrator's", async () => {
        return (await rome.admin.get(Secret, ref))?.data?.token !== undefined;
      });
    });

    it("hold none when no webhook answers, while others are made, and those of milan's administrator", async () => {
      await rome.silenceWebhooks();
      assert.match(await refusal(rome.kubelet.create(Secret, token("again"))), /failed calling webhook/);
      assert.equal(await refusal(rome.kubelet.create(Secret, secret("plain", "Opaque"))), "allowed");
      await rome.admin.create(Secret, token("by-the-administrator-again"));
    });
  });
});
