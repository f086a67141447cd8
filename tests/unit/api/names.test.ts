import assert from "node:assert/strict";

import { controlPlaneIdentityName, kubeconfigSecretName, tenantNamespaceName } from "../../../runtime/api";

/** The vectors of control plane reference 21.1. */
describe("names that are made from cluster IDs", () => {
  it("of a tenant namespace", () => {
    assert.equal(tenantNamespaceName("cool-firefly"), "liqo-tenant-cool-firefly");
  });

  it("of a control plane's Identity and its Secret", () => {
    const identity = controlPlaneIdentityName("cl-provider");
    assert.equal(identity, "controlplane-cl-provider");
    assert.equal(kubeconfigSecretName(identity), "kubeconfig-controlplane-cl-provider");
  });
});
