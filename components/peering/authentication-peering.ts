import * as pulumi from "@pulumi/pulumi";

import { IdentityCredentials } from "../../provider/identity-credentials";
import { NonceRead } from "../../provider/nonce-read";
import { TenantCredentials } from "../../provider/tenant-credentials";
import { WaitFor } from "../../provider/wait-for";
import {
  controlPlaneIdentity,
  nonceData,
  nonceSecret,
  signedNonceSecret,
  tenant,
} from "../../runtime/plan/peering";
import { argument, checkedArguments, installedClusterShape, shape } from "../core/arguments";
import { connected, inState, type PeeringClusterArgs } from "../core/cluster";
import { ExistingObjects } from "../core/existing-objects";
import {
  type ClusterResourceOptions,
  KubernetesObject,
  namespaceOf,
  planned,
} from "../core/kubernetes-object";
import { after, digestOf, timeouts, withWait } from "../core/waiting";
import { advertisedBy } from "../installation/installed-clusters";
import { sidesOf, tenantNamespaces } from "./peering-sides";

export interface AuthenticationPeeringArgs {
  /** The cluster that offloads work. */
  consumer: PeeringClusterArgs;
  /** The cluster that lends its resources. */
  provider: PeeringClusterArgs;
  /** Whether the tenant namespaces are made, and removed with the peering; true by default. */
  createTenantNamespaces?: boolean;
  /** HTTP proxy through which the consumer reaches the provider's API server; none by default. */
  proxyUrl?: pulumi.Input<string>;
  /** Longest time for each step, in seconds; 120 by default. */
  timeoutSeconds?: number;
}

export const authenticationPeeringShape = shape<AuthenticationPeeringArgs>({
  consumer: installedClusterShape,
  provider: installedClusterShape,
  createTenantNamespaces: argument.flag,
  proxyUrl: argument.later,
  timeoutSeconds: argument.seconds,
});

/**
 * The right of a consumer to ask a provider for resources: the handshake of keys and nonces, and the credentials that come of it.
 *
 * All objects of both clusters are resources of the stack; the steps that carry something from one cluster to the other wait for it.
 */
export class AuthenticationPeering extends pulumi.ComponentResource {
  /** Namespace at the consumer for everything about the provider. Whatever takes it waits for the credentials. */
  public readonly consumerTenantNamespace: pulumi.Output<string>;
  /** Namespace at the provider for everything about the consumer. */
  public readonly providerTenantNamespace: pulumi.Output<string>;

  constructor(name: string, args: AuthenticationPeeringArgs, opts?: pulumi.ComponentResourceOptions) {
    checkedArguments(authenticationPeeringShape, `AuthenticationPeering "${name}"`, args);
    super(
      "pulumi-liqo:index:AuthenticationPeering",
      name,
      { ...args, consumer: inState(args.consumer), provider: inState(args.provider) },
      opts,
    );
    const { createTenantNamespaces = true, timeoutSeconds = 120, proxyUrl } = args;
    const consumer = connected(`${name}-consumer`, args.consumer, this);
    const provider = connected(`${name}-provider`, args.provider, this);
    const subject = `AuthenticationPeering "${name}"`;
    const sides = sidesOf(subject, args);
    const optionsAt = (cluster: typeof consumer): ClusterResourceOptions => ({
      parent: this,
      provider: cluster.provider,
      existing: new ExistingObjects(cluster),
      ...timeouts(timeoutSeconds),
    });
    const [atConsumer, atProvider] = [optionsAt(consumer), optionsAt(provider)];
    const common = { timeoutSeconds };

    const namespaces = createTenantNamespaces
      ? Object.values(
          tenantNamespaces({ subject, name, timeoutSeconds }, sides, { consumer, provider }, this),
        )
      : [];
    const nonce = new KubernetesObject(
      `${name}-nonce`,
      planned("v1", "Secret", sides.apply(nonceSecret), "type"),
      { ...atProvider, dependsOn: namespaces },
    );
    const nonceRead = new NonceRead(
      `${name}-nonce-read`,
      { ...common, kubeconfig: provider.kubeconfig, namespace: namespaceOf(nonce) },
      { parent: this },
    );
    const signedNonce = new KubernetesObject(
      `${name}-signed-nonce`,
      {
        ...planned("v1", "Secret", sides.apply(signedNonceSecret), "type"),
        data: nonceRead.nonce.apply(nonceData),
      },
      { ...atConsumer, dependsOn: namespaces },
    );
    const credentials = new TenantCredentials(
      `${name}-tenant-credentials`,
      {
        ...common,
        kubeconfig: consumer.kubeconfig,
        clusterID: consumer.clusterId,
        namespace: namespaceOf(signedNonce),
        nonce: nonceRead.nonce,
        ...(consumer.liqoNamespace === undefined ? {} : { liqoNamespace: consumer.liqoNamespace }),
      },
      { parent: this },
    );
    const { publicKey, csr, signature } = credentials;
    const tenantPlan = pulumi
      .output({ sides, shown: { publicKey, csr, signature }, proxyUrl })
      .apply((known) => tenant(known.sides, known.shown, known.proxyUrl));
    const tenantObject = new KubernetesObject(
      `${name}-tenant`,
      {
        ...planned("authentication.liqo.io/v1beta1", "Tenant", tenantPlan, "spec"),
        // Not of the whole plan: where a preview does not know what is shown, it still is the same Tenant.
        metadata: sides.apply((both) => tenant(both, { publicKey: "", csr: "", signature: "" }).metadata),
      },
      atProvider,
    );
    const advertised = advertisedBy(args.provider.clusterId);
    const granted = new IdentityCredentials(
      `${name}-identity-credentials`,
      {
        ...common,
        kubeconfig: provider.kubeconfig,
        namespace: namespaceOf(tenantObject),
        name: tenantObject.metadata.name,
        csr,
        // The empty text asks for credentials without a proxy, so that one which is taken out of the program leaves them.
        proxyUrl: pulumi.output(proxyUrl).apply((url) => url ?? ""),
        apiServer: advertised.apply((installation) => installation?.apiServer),
        triggers: advertised.apply((installation) => installation && { access: installation.access }),
      },
      { parent: this },
    );
    const identitySpec = pulumi
      .all([sides, granted.authParams])
      .apply(([both, authParams]) => controlPlaneIdentity(both, authParams).spec);
    const identity = new KubernetesObject(
      `${name}-identity`,
      {
        apiVersion: "authentication.liqo.io/v1beta1",
        kind: "Identity",
        metadata: withWait(
          sides.apply((both) => controlPlaneIdentity(both, {}).metadata),
          "jsonpath={.status.kubeconfigSecretRef.name}",
        ),
        spec: identitySpec,
      },
      atConsumer,
    );
    // The annotation's wait takes the kubeconfig of older credentials for one.
    const written = new WaitFor(
      `${name}-identity-kubeconfig`,
      {
        ...common,
        kubeconfig: consumer.kubeconfig,
        apiVersion: "authentication.liqo.io/v1beta1",
        kind: "Identity",
        namespace: namespaceOf(identity),
        name: identity.metadata.name,
        field: { path: "{.status.kubeconfigSecretRef.name}" },
        triggers: { spec: digestOf(identitySpec) },
      },
      { parent: this },
    );

    this.consumerTenantNamespace = after([written], namespaceOf(identity));
    this.providerTenantNamespace = namespaceOf(tenantObject);
    this.registerOutputs({
      consumerTenantNamespace: this.consumerTenantNamespace,
      providerTenantNamespace: this.providerTenantNamespace,
    });
  }
}
