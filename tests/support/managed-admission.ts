/** The admission webhooks of a managed cluster, inside the test: by the runtime's registrations, with the rights of its own service account. */
import assert from "node:assert/strict";

import {
  MutatingWebhookConfiguration,
  NamespaceOffloading,
  ValidatingWebhookConfiguration,
} from "../../runtime/api";
import { DeploymentName } from "../../runtime/plan/deployments";
import { webhookConfigurations } from "../../runtime/plan/webhooks";
import { decideCertificates } from "../../runtime/webhooks/certificates";
import { admissionRoutes } from "../../runtime/webhooks/routes";
import { AdmissionServer } from "../../runtime/webhooks/server";
import { namespaceOffloading, refusal } from "./admission-cluster";
import type { ManagedCluster } from "./managed-cluster";
import { type TestContext, testContext } from "./runtime-context";
import { until } from "./until";

export class ManagedAdmission {
  private constructor(
    private readonly context: TestContext,
    private readonly server: AdmissionServer,
  ) {}

  /** Returns when the API server calls the webhooks. */
  static async start({
    admin,
    controlPlane,
    clusterId,
    liqoNamespace,
  }: Pick<ManagedCluster, "admin" | "clusterId" | "liqoNamespace"> & {
    controlPlane: Pick<ManagedCluster["controlPlane"], "kubeconfigFor">;
  }): Promise<ManagedAdmission> {
    const kubeconfig = await controlPlane.kubeconfigFor({
      name: `system:serviceaccount:${liqoNamespace}:${DeploymentName.webhook}`,
      groups: ["system:serviceaccounts", `system:serviceaccounts:${liqoNamespace}`],
    });
    const context = testContext(kubeconfig, "webhook");
    const routes = admissionRoutes(context, {
      clusterID: clusterId,
      liqoNamespace,
      podCidrs: ["10.72.0.0/16"],
      runtimeClass: "liqo",
      vkOptionsTemplate: { namespace: liqoNamespace, name: "virtual-kubelet-default" },
      enforceResources: false,
    });
    await context.informers.whenSynced();
    const decision = decideCertificates({}, ["127.0.0.1"], new Date());
    assert.equal(decision.do, "replace");
    const certificates = decision.data;
    const server = await AdmissionServer.start({ port: 0, host: "127.0.0.1", certificates, routes });
    const { mutating, validating } = webhookConfigurations({
      namespace: liqoNamespace,
      serviceName: DeploymentName.webhook,
      caBundle: certificates.ca,
      baseUrl: `https://127.0.0.1:${server.port}`,
    });
    await admin.create(MutatingWebhookConfiguration, mutating);
    await admin.create(ValidatingWebhookConfiguration, validating);
    // The API server takes a moment to call new webhooks.
    const wrong = namespaceOffloading("default", {
      namespaceMappingStrategy: "SelectedName",
      remoteNamespaceName: "No!",
    });
    await until("the webhooks are called", async () =>
      /is no name for a namespace/.test(await refusal(admin.create(NamespaceOffloading, wrong))),
    );
    await admin.delete(NamespaceOffloading, { name: "offloading", namespace: "default" });
    return new ManagedAdmission(context, server);
  }

  /** Answers no more; the registrations stay. */
  async stop(): Promise<void> {
    await this.context.end();
    await this.server.stop();
  }
}
