import {
  Configuration,
  GatewayClient,
  GatewayServer,
  Identity,
  type Kind,
  type KubeObject,
  Label,
  LabelValue,
  ResourceSlice,
  RoleBinding,
  Tenant,
} from "../../runtime/api";
import type { KubeClient } from "../../runtime/kube";
import { peeringUserBindingNames } from "../../runtime/plan/peering-user";
import { listIfServed } from "../removal-guard/blockers";
import type { ProviderContext } from "../resource-definition";
import type { WantedNamespace } from "./holds";

/**
 * What of a tenant namespace somebody else still needs, as texts: objects that a person or a program put there and that stay. What controllers make
 * of them, and copies of the peer's, follow those.
 */
export async function neededInside(
  client: KubeClient,
  { name: namespace, peer }: WantedNamespace,
  context: ProviderContext,
): Promise<string[]> {
  const put = async <T extends KubeObject>(kind: Kind<T>, counts: (object: T) => boolean = () => true) => {
    const found = await listIfServed(client, kind, context, { namespace });
    return found
      .filter((object) => !object.metadata.deletionTimestamp && counts(object))
      .map(({ metadata }) => `${kind.kind} ${metadata.name}`);
  };
  const user = peeringUserBindingNames(peer).tenantNamespace;
  const found = await Promise.all([
    put(Tenant),
    put(Identity, ({ spec }) => spec.type === "ControlPlane"),
    put(ResourceSlice, ({ metadata }) => metadata.labels?.[Label.replicated] !== LabelValue.true),
    put(Configuration),
    put(GatewayServer),
    put(GatewayClient),
    put(RoleBinding, ({ metadata }) => metadata.name === user),
  ]);
  return found.flat();
}
