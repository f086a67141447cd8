import assert from "node:assert/strict";

import { consumerSecrets, peerCopies, peerSecrets } from "../../../runtime/plan/peer-webhooks";
import { webhookConfigurations } from "../../../runtime/plan/webhooks";

const { mutating, validating } = webhookConfigurations({
  namespace: "liqo-system",
  serviceName: "liqo-webhook",
});
const all = [...(mutating.webhooks ?? []), ...(validating.webhooks ?? [])];

describe("the registrations", () => {
  it("have the names and paths that runbooks know", () => {
    const shown = (webhooks: typeof mutating.webhooks) =>
      (webhooks ?? []).map((webhook) => `${webhook?.name} ${webhook?.clientConfig?.service?.path}`);
    assert.deepEqual(shown(mutating.webhooks), [
      "pod.mutate.liqo.io /mutate/pod",
      "shadowpod.mutate.liqo.io /mutate/shadowpods",
      "fc.mutate.liqo.io /mutate/foreign-cluster",
      "virtualnode.mutate.liqo.io /mutate/virtualnodes",
      "firewallconfiguration.mutate.liqo.io /mutate/firewallconfigurations",
      "tenant.validate.liqo.io /mutate/tenants",
    ]);
    assert.deepEqual(shown(validating.webhooks), [
      "nsoff.validate.liqo.io /validate/namespace-offloading",
      "shadowpod.validate.liqo.io /validate/shadowpods",
      "firewallconfiguration.validate.liqo.io /validate/firewallconfigurations",
      "routeconfiguration.validate.liqo.io /validate/routeconfigurations",
      "configuration.validate.liqo.io /validate/configurations",
      "resourceslice.validate.liqo.io /validate/resourceslices",
      "resourceslice.peer.liqo.io /validate/peer-copies",
      "renew.peer.liqo.io /validate/peer-copies",
      "namespacemap.peer.liqo.io /validate/peer-copies",
      "identity-secret.peer.liqo.io /validate/peer-secrets",
      "nonce-secret.peer.liqo.io /validate/peer-secrets",
      "token-secret.peer.liqo.io /validate/peer-secrets",
      "ip.peer.liqo.io /validate/peer-ips",
      "token-secret.consumer.liqo.io /validate/consumer-secrets",
      "gatewayserver.peer.liqo.io /validate/peer-gateways",
      "gatewayclient.peer.liqo.io /validate/peer-gateways",
      "publickey.peer.liqo.io /validate/peer-gateways",
      "service.consumer.liqo.io /validate/consumer-services",
      "identity.validate.liqo.io /validate/identities",
      "quota.validate.liqo.io /validate/quotas",
      "tenant.validate.liqo.io /validate/tenants",
    ]);
  });

  it("lead to the replica that books where quotas are decided, and to any of them elsewhere", () => {
    const services = all.map((webhook) => [webhook?.name, webhook?.clientConfig?.service?.name]);
    assert.deepEqual(
      services.filter(([, service]) => service !== "liqo-webhook"),
      [["shadowpod.validate.liqo.io", "liqo-webhook-leader"]],
    );
  });

  it("fail closed where they guard something, and never stand in the way of a deletion", () => {
    for (const webhook of all) {
      assert.ok(webhook);
      const advises = ["identity.validate.liqo.io", "quota.validate.liqo.io"].includes(webhook.name ?? "");
      assert.equal(webhook.failurePolicy, advises ? "Ignore" : "Fail", webhook.name);
      // Of the replicated kinds peers delete what is not theirs, and those alone are asked about.
      const deletions = webhook.rules?.some((rule) => rule?.operations?.includes("DELETE")) === true;
      assert.equal(deletions, webhook.clientConfig?.service?.path === "/validate/peer-copies", webhook.name);
      // On a pod they cost more than the call.
      const conditions = webhook.matchConditions ?? [];
      assert.equal(conditions.length > 0, webhook.name !== "pod.mutate.liqo.io", webhook.name);
    }
  });

  it("leave the pods of the Liqo namespace and of kube-system alone, and of namespaces that are not offloaded", () => {
    const pods = mutating.webhooks?.find((webhook) => webhook?.name === "pod.mutate.liqo.io");
    assert.deepEqual(pods?.namespaceSelector, {
      matchLabels: { "liqo.io/scheduling-enabled": "true" },
      matchExpressions: [
        { key: "kubernetes.io/metadata.name", operator: "NotIn", values: ["liqo-system", "kube-system"] },
      ],
    });
  });

  it("guard against peers alone by what is called peer, on every write of the replicated kinds and on no plain Secret", () => {
    const guards = all.filter((webhook) => webhook?.name?.endsWith(".peer.liqo.io"));
    for (const guard of guards) {
      const [first] = guard?.matchConditions ?? [];
      assert.deepEqual(first, {
        name: "by-peer",
        expression: "has(request.userInfo.groups) && 'liqo.io' in request.userInfo.groups",
      });
    }
    const looksAt = (registrations: ReturnType<typeof peerCopies>) =>
      registrations.map(({ resource, subresources, labelled, skippable }) => [
        [resource, ...(subresources ?? [])].join("/"),
        labelled,
        skippable,
      ]);
    assert.deepEqual(looksAt([...peerCopies(), ...peerSecrets()]), [
      ["resourceslices/status", undefined, false],
      ["renews/status", undefined, false],
      ["namespacemaps/status", undefined, false],
      ["secrets", "liqo.io/identity-type", false],
      ["secrets", "liqo.io/signed-nonce", false],
      ["secrets", undefined, false],
    ]);
    const tokens = guards.find((guard) => guard?.name === "token-secret.peer.liqo.io");
    assert.equal(
      tokens?.matchConditions?.[1]?.expression,
      "has(object.type) && object.type == 'kubernetes.io/service-account-token'",
    );
  });

  it("ask about Secrets of virtual kubelets only where they hold the token of an account, in namespaces of a cluster", () => {
    assert.deepEqual([consumerSecrets().labelled, consumerSecrets().skippable], [undefined, false]);
    const guard = all.find((webhook) => webhook?.name === "token-secret.consumer.liqo.io");
    assert.deepEqual(guard?.namespaceSelector, {
      matchExpressions: [{ key: "liqo.io/remote-cluster-id", operator: "Exists" }],
    });
    // One condition: of several the API server works out all.
    const [condition, ...more] = guard.matchConditions ?? [];
    assert.deepEqual(more, []);
    assert.match(
      condition?.expression ?? "",
      /^has\(object\.type\) && object\.type == 'kubernetes\.io\/service-account-token' && !authorizer\./,
    );
  });

  it("honour the label that skips them only where upstream's do, and not where who may write the object is a peer", () => {
    const skippable = all
      .filter((webhook) =>
        webhook?.objectSelector?.matchExpressions?.some((each) => each?.key === "liqo.io/webhook-skip"),
      )
      .map((webhook) => webhook?.name);
    assert.deepEqual(skippable, [
      "fc.mutate.liqo.io",
      "virtualnode.mutate.liqo.io",
      "firewallconfiguration.mutate.liqo.io",
      "nsoff.validate.liqo.io",
      "firewallconfiguration.validate.liqo.io",
      "routeconfiguration.validate.liqo.io",
      "identity.validate.liqo.io",
      "quota.validate.liqo.io",
    ]);
  });
});
