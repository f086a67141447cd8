import assert from "node:assert/strict";

import * as pulumi from "@pulumi/pulumi";

import {
  AuthenticationPeering,
  Fleet,
  Installation,
  NamespaceOffloading,
  NetworkPeering,
  Peering,
  ResourceSlice,
  VirtualNode,
} from "../../../components";
import { ArgumentError } from "../../../components/core/arguments";

const components = {
  AuthenticationPeering,
  Fleet,
  Installation,
  NamespaceOffloading,
  NetworkPeering,
  Peering,
  ResourceSlice,
  VirtualNode,
};
const secret = "apiVersion: v1\nusers: [{ user: { token: open-sesame } }]";
const rome = { kubeconfig: secret, clusterId: "rome" };
const milan = { kubeconfig: secret, clusterId: "milan" };
const pods = { podCidrs: "10.200.0.0/16", serviceCidr: "10.90.0.0/16" };

/** As a program does that no compiler has seen. */
function make(component: keyof typeof components, args: unknown): void {
  Reflect.construct(components[component], ["it", args]);
}

describe("the arguments of a component", () => {
  const faults: [keyof typeof components, unknown, ...RegExp[]][] = [
    ["Peering", undefined, /^Peering "it": is required; give an object$/],
    ["Peering", { provider: milan }, /consumer\.kubeconfig: is required; give the cluster as an object/],
    ["Peering", { consumer: secret, provider: milan }, /consumer\.kubeconfig: is required/],
    ["Peering", { consumer: { clusterId: "rome" }, provider: milan }, /consumer\.kubeconfig: is required/],
    [
      "Peering",
      { consumer: rome, provider: { ...milan, kubeConfig: secret } },
      /provider: has unknown fields: kubeConfig/,
    ],
    [
      "Peering",
      { consumer: pulumi.output(rome), provider: milan },
      /consumer\.kubeconfig: .*the whole cluster is an output/,
    ],
    [
      "Peering",
      { consumer: rome, provider: milan, resource: {} },
      /^Peering "it": has unknown fields: resource; remove them$/,
    ],
    [
      "Peering",
      { consumer: rome, provider: milan, bidirectional: "yes" },
      /bidirectional: "yes" is not true or false/,
    ],
    ["Peering", { consumer: rome, provider: milan, timeoutSeconds: 0 }, /timeoutSeconds: 0 is not above 0/],
    [
      "Peering",
      { consumer: rome, provider: milan, networking: { sever: "consumer" } },
      /networking: has unknown fields: sever/,
    ],
    [
      "Peering",
      { consumer: rome, provider: milan, reverseResources: { cpu: "2" } },
      /reverseResources would do nothing: set "bidirectional: true"/,
    ],
    [
      "Peering",
      {
        consumer: rome,
        provider: milan,
        createResourceSlice: false,
        resources: { cpu: "2" },
        resourceSliceClass: "gold",
      },
      /resources would do nothing: take out "createResourceSlice: false"/,
      /resourceSliceClass would do nothing/,
    ],
    [
      "Peering",
      {
        consumer: rome,
        provider: milan,
        networking: { enabled: false, server: "consumer", link: pulumi.output({ mtu: 1400 }) },
      },
      /networking: server would do nothing: take out "enabled: false", or leave it out/,
      /networking: link would do nothing/,
    ],
    [
      "Fleet",
      {
        clusters: { rome: { kubeconfig: secret }, milan: { kubeconfig: secret } },
        image: "runtime:7",
        peerings: {
          west: { consumer: "rome", provider: "milan", networking: { enabled: false, link: { mtu: 1400 } } },
        },
      },
      /peerings\.west\.networking: link would do nothing: take out "enabled: false"/,
    ],
    ["Installation", { clusterId: "rome", image: "runtime:7" }, /cluster\.kubeconfig: is required/],
    ["Installation", { cluster: rome, image: "runtime:7" }, /cluster: has unknown fields: clusterId/],
    ["Installation", { cluster: { kubeconfig: secret } }, /image: is required/],
    [
      "Installation",
      { cluster: { kubeconfig: secret }, image: "runtime:7", networking: pods },
      /networking\.podCidrs: "10\.200\.0\.0\/16" is not a list/,
    ],
    [
      "Installation",
      { cluster: { kubeconfig: secret }, image: "runtime:7", networking: { podCidrs: [] } },
      /networking\.serviceCidr: is required/,
    ],
    [
      "AuthenticationPeering",
      { consumer: rome, provider: milan, proxyURL: "" },
      /has unknown fields: proxyURL/,
    ],
    ["NetworkPeering", { consumer: rome, provider: milan, server: true }, /server: true is not a string/],
    ["ResourceSlice", { consumer: rome }, /providerClusterId: is required/],
    [
      "VirtualNode",
      { consumer: rome, providerClusterId: "milan" },
      /nodeName: is required/,
      /kubeconfigSecretName: is required/,
    ],
    ["NamespaceOffloading", { cluster: rome }, /namespace: is required/],
    ["Fleet", { clusters: [], image: "runtime:7" }, /clusters: a list is not an object/],
    [
      "Fleet",
      { clusters: { rome: { kubeconfig: secret }, milan: {} }, image: "runtime:7" },
      /clusters\.milan\.kubeconfig: is required/,
    ],
    [
      "Fleet",
      {
        clusters: { rome: { kubeconfig: secret } },
        image: "runtime:7",
        peerings: { west: { consumer: "rome", provider: "milan", resource: {} } },
      },
      /peerings\.west: has unknown fields: resource/,
    ],
  ];
  for (const [at, [component, args, ...texts]] of faults.entries())
    it(`are refused before anything is planned: ${component}, ${at + 1} (${texts.map(String).join(", ")})`, () => {
      assert.throws(
        () => make(component, args),
        (error) => {
          assert.ok(error instanceof ArgumentError && pulumi.RunError.isInstance(error), String(error));
          for (const text of texts) assert.match(error.message, text);
          assert.doesNotMatch(error.message, /sesame/);
          return true;
        },
      );
    });

  it("keep their message whatever the SDK puts before it", () => {
    const error = new ArgumentError("image: is empty");
    error.message = `error serializing property "metadata": ${error.message}`;
    assert.equal(error.message, "image: is empty");
    assert.equal(error.cause, undefined);
  });
});
