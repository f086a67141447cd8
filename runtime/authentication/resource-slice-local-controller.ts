import { EventReason, type KubeObject, Label, ResourceSlice } from "../api";
import {
  CertificateError,
  createCertificateRequest,
  InvalidCertificateRequest,
  KeyError,
  parseCertificate,
  parseCertificateRequest,
  resourceSliceSubject,
  samePublicKey,
} from "../identity";
import {
  type Controller,
  exceptStatus,
  keyOf,
  runController,
  type Source,
  watches,
  writeIfChanged,
} from "../kube";
import { isCopy, isSource } from "../plan/peer-objects";
import { clusterKeyPair, previousPublicKeys } from "./cluster-keys";
import {
  type AuthenticationCaches,
  type AuthenticationContext,
  consumption,
  consumptionOfIdentity,
  consumptionOfSecret,
  requeueAfter,
} from "./context";
import { awaitsItsClass, tellUnservedClass } from "./slice-class";
import { describeLookup, labelledPeer } from "./tenant-namespace";

/** At the consumer: completes the slices that users make, so that they can be copied to the provider (control plane reference 6.5). */
export function runResourceSliceLocal({ runtime, caches, options }: AuthenticationContext): Controller {
  const { slices, tenantNamespaces, clusterKeys, identities } = caches;
  const own = () => slices.list().filter((slice) => !isCopy(slice));

  /** Why a slice will never be replicated; undefined where it will. */
  function fault(slice: ResourceSlice): { reason: string; message: string } | undefined {
    const labels = slice.metadata.labels ?? {};
    const provider = tenantNamespaces.clusterOf(slice.metadata.namespace);
    if (provider === undefined) {
      return {
        reason: EventReason.failedGetClusterID,
        message: `namespace "${slice.metadata.namespace}" is not a tenant namespace; create the slice in the one of its provider`,
      };
    }
    const lookup = tenantNamespaces.of(provider);
    if (lookup.outcome !== "found") {
      return { reason: EventReason.failedGetNamespace, message: describeLookup(lookup, provider) };
    }
    for (const [label, value] of [
      [Label.replication, "true"],
      [Label.replicationDestination, provider],
      [Label.remoteClusterID, provider],
    ] as const) {
      if (labels[label] === value) continue;
      return {
        reason: EventReason.missingLabels,
        message: `label ${label} is ${labels[label] === undefined ? "missing" : `"${labels[label]}"`}; a slice for cluster "${provider}" has ${label}=${value}`,
      };
    }
    return undefined;
  }

  return runController(
    {
      name: "resourceslice_local",
      sources: [
        watches(slices, {
          when: (event) => !isCopy(event.object) && (exceptStatus(event) || awaitsItsClass(event.object)),
        }),
        watches(tenantNamespaces.informer, {
          keys: ({ metadata }) =>
            own()
              .filter((slice) => slice.metadata.namespace === metadata.name)
              .map(keyOf),
          when: exceptStatus,
        }),
        watches(clusterKeys, { keys: () => own().map(keyOf) }),
        // Once a provider has accepted the cluster's new key, it accepts requests for that key.
        watches(identities, {
          keys: ({ metadata }) =>
            own()
              .filter((slice) => slice.metadata.namespace === metadata.namespace)
              .map(keyOf),
          when: (event) => event.object.spec.type === "ControlPlane" && exceptStatus(event),
        }),
        ...slicesOfIdentities(caches),
      ],
      objectOf: (key) => slices.getByKey(key),
      reconcile: async (key) => {
        const slice = slices.getByKey(key);
        if (slice === undefined || isCopy(slice) || slice.metadata.deletionTimestamp) return;
        const found = fault(slice);
        if (found !== undefined) runtime.events.warning(slice, found.reason, found.message);
        if (!isOwnSource(slice, caches)) return;
        const provider =
          slice.spec.providerClusterID ??
          labelledPeer(slice) ??
          tenantNamespaces.clusterOf(slice.metadata.namespace);
        // A value that is set stays: the provider validates it. Only a request that we made follows the cluster's key.
        const spec = {
          consumerClusterID: slice.spec.consumerClusterID ?? options.clusterId,
          ...(provider === undefined ? {} : { providerClusterID: provider }),
          csr: slice.spec.csr && !isOutdated(slice) ? slice.spec.csr : certificateRequest(slice),
        };
        const { change } = await writeIfChanged(
          runtime.client,
          ResourceSlice,
          {
            apiVersion: "authentication.liqo.io/v1beta1",
            kind: "ResourceSlice",
            metadata: { name: slice.metadata.name, namespace: slice.metadata.namespace },
            spec,
          },
          slice,
        );
        if (change !== "none")
          runtime.events.normal(slice, EventReason.reconciled, "ResourceSlice completed");
        return requeueAfter(
          tellUnservedClass(
            slice,
            runtime,
            `ask the administrator of cluster "${provider ?? ""}" which classes are served there ("default" is, unless it was disabled), and set spec.class to one of them`,
          ),
        );
      },
    },
    runtime,
  );

  /** Whether a slice's request is one of ours for a key before a rotation, and the provider has taken the new one. */
  function isOutdated(slice: ResourceSlice): boolean {
    const previous = previousPublicKeys(clusterKeys);
    if (previous.length === 0) return false;
    const { publicKey } = clusterKeyPair(clusterKeys);
    const controlPlane = identities
      .list()
      .find(
        ({ metadata, spec }) =>
          spec.type === "ControlPlane" && metadata.namespace === slice.metadata.namespace,
      );
    const signed = controlPlane?.spec.authParams?.signedCRT;
    try {
      if (signed && !samePublicKey(parseCertificate(Buffer.from(signed, "base64")).publicKey, publicKey))
        return false;
      const asked = parseCertificateRequest(Buffer.from(slice.spec.csr ?? "", "base64"));
      return previous.some((key) => samePublicKey(asked.publicKey, key));
    } catch (error) {
      if (
        error instanceof CertificateError ||
        error instanceof InvalidCertificateRequest ||
        error instanceof KeyError
      )
        return false;
      throw error;
    }
  }

  function certificateRequest(slice: ResourceSlice): string {
    const { privateKey } = clusterKeyPair(clusterKeys);
    const subject = resourceSliceSubject(slice.metadata.name, options.clusterId);
    return Buffer.from(createCertificateRequest(subject, privateKey)).toString("base64");
  }
}

/**
 * Whether this cluster requests a slice from a provider. The labels are no proof: a consumer of ours writes into the same kind of namespace, and could
 * create a slice that is labelled as a source and already has a status. A source counts only where this cluster has a control-plane identity for its
 * provider, which no peer can create.
 */
export function isOwnSource(slice: ResourceSlice, caches: AuthenticationCaches): boolean {
  if (!isSource(slice)) return false;
  const { namespace, labels } = slice.metadata;
  return caches.consumes(consumption(namespace, labels?.[Label.replicationDestination]));
}

/** Enqueues the local slices of a namespace when a control-plane identity appears or disappears there. */
export function slicesOfIdentities({ slices, identities, peerSecrets }: AuthenticationCaches): Source[] {
  const inNamespaceOf = ({ metadata }: KubeObject): string[] =>
    slices
      .list()
      .filter((slice) => isSource(slice) && slice.metadata.namespace === metadata.namespace)
      .map(keyOf);
  return [
    watches(identities, {
      keys: inNamespaceOf,
      when: ({ type, object }) => type !== "updated" && consumptionOfIdentity(object).length > 0,
    }),
    watches(peerSecrets, {
      keys: inNamespaceOf,
      when: ({ type, object }) => type !== "updated" && consumptionOfSecret(object).length > 0,
    }),
  ];
}
