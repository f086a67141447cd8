/** A provider whose administrator means ill: rome offloads to milan, and milan writes what it likes on its own cluster. */
import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";

import {
  CustomResourceDefinition,
  type Desired,
  type Kind,
  type KubeObject,
  Namespace,
  NamespaceMap,
  NamespaceOffloading,
  RoleBinding,
  Secret,
} from "../../runtime/api";
import { KubeClient } from "../../runtime/kube";
import { base64 } from "./base64";
import type { ManagedCluster } from "./managed-cluster";
import { atMilan, atRome } from "./peering-of-rome";
import { until } from "./until";

/** Options of a patch of the status. */
export const status = { type: "merge", subresource: "status" } as const;

export class HostileProvider {
  constructor(
    private readonly rome: ManagedCluster,
    private readonly milan: ManagedCluster,
  ) {}

  /** The milanese administrator's word on the map, on its own cluster. */
  async answer(entries: Record<string, object | null>): Promise<void> {
    await this.milan.admin.patch(
      NamespaceMap,
      atMilan("milan"),
      { status: { currentMapping: entries } },
      status,
    );
  }

  async mapping() {
    return (await there(NamespaceMap, this.rome, atRome("milan"))).status?.currentMapping ?? {};
  }

  /** A namespace of milan's own, in which rome's virtual kubelet may write. */
  async trap(name: string): Promise<void> {
    await this.milan.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
    await this.milan.admin.create(RoleBinding, {
      apiVersion: RoleBinding.apiVersion,
      kind: RoleBinding.kind,
      metadata: { name: "welcome", namespace: name },
      roleRef: {
        apiGroup: "rbac.authorization.k8s.io",
        kind: "ClusterRole",
        name: "liqo-virtual-kubelet-remote",
      },
      subjects: [{ kind: "Group", apiGroup: "rbac.authorization.k8s.io", name: "rome" }],
    });
  }

  async offload(name: string, spec: object = {}): Promise<void> {
    await this.rome.admin.create(Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
    await this.offloadExisting(name, spec);
  }

  async offloadExisting(name: string, spec: object = {}): Promise<void> {
    const offloading: Desired<KubeObject> & { spec: object } = {
      apiVersion: NamespaceOffloading.apiVersion,
      kind: NamespaceOffloading.kind,
      metadata: { name: "offloading", namespace: name },
      spec,
    };
    await this.rome.apply(offloading);
  }

  async secret(namespace: string, name: string): Promise<void> {
    await this.rome.admin.create(Secret, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name, namespace },
      data: { password: base64("of rome") },
    });
  }

  async arrived(namespace: string, name: string): Promise<void> {
    await until(`Secret ${name} arrives`, () => this.milan.admin.get(Secret, { name, namespace }));
  }

  /** What comes later arrives where it was asked for: by then the virtual kubelet has seen what came before. */
  async probe(namespace: string, name: string, remote = "shop-rome"): Promise<void> {
    await pause(1_000);
    await this.secret(namespace, name);
    await this.arrived(remote, name);
  }

  async nothingIn(namespace: string): Promise<void> {
    const names = (await this.milan.admin.list(Secret, { namespace })).map(({ metadata }) => metadata.name);
    assert.deepEqual(names, []);
  }

  /** Lets milan's API server take any status of a kind: the administrator may change definitions there. */
  async anyStatus(plural: string): Promise<void> {
    const ref = { name: `${plural}.offloading.liqo.io` };
    const path = "/spec/versions/0/schema/openAPIV3Schema/properties/status";
    const value = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
    await this.milan.admin.patch(CustomResourceDefinition, ref, [{ op: "replace", path, value }], {
      type: "json",
    });
  }

  /** A peer's control plane where it is rome's consumer: what a Tenant gets, in the same tenant namespace. */
  async asConsumerOfRome(name: string): Promise<KubeClient> {
    await this.rome.admin.create(RoleBinding, {
      apiVersion: RoleBinding.apiVersion,
      kind: RoleBinding.kind,
      metadata: { name: "liqo-binding-liqo-remote-controlplane", namespace: "to-milan" },
      roleRef: {
        apiGroup: "rbac.authorization.k8s.io",
        kind: "ClusterRole",
        name: "liqo-remote-controlplane",
      },
      subjects: [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name }],
    });
    return KubeClient.fromKubeconfig(
      await this.rome.controlPlane.kubeconfigFor({ name, groups: ["liqo.io"] }),
    );
  }
}

/** An object that is there, or comes. */
export function there<T extends KubeObject>(
  kind: Kind<T>,
  { admin }: ManagedCluster,
  ref: { name: string; namespace: string },
): Promise<T> {
  return until(`${kind.kind} ${ref.name}`, () => admin.get(kind, ref));
}
