import type * as pulumi from "@pulumi/pulumi";

import type { Network } from "../../runtime/api/ipam";
import type { WgGatewayClientTemplate, WgGatewayServerTemplate } from "../../runtime/api/networking";
import type { InstallationData } from "../../runtime/plan/installation-settings";
import type { ManifestOf } from "../../runtime/plan/manifest";
import { fabricDaemonSet } from "../../runtime/plan/networking/fabric";
import { clientTemplate, serverTemplate } from "../../runtime/plan/networking/gateway-templates";
import { installationNetworks, type InstallationNetworks } from "../../runtime/plan/networking/networks";
import { type KubernetesObjectArgs, planned } from "../core/kubernetes-object";
import { withWait } from "../core/waiting";
import type { NetworkingArgs } from "./installation-args";

interface NetworkObject {
  key: string;
  manifest: KubernetesObjectArgs;
  options?: pulumi.CustomResourceOptions;
  /** Whether it is waited for until the controllers have answered it: then it comes after them, lest it keep them from being made. */
  waits?: boolean;
}

/**
 * What the networking adds: the cluster's networks, waited for until they have their ranges, what gateways are made from, and the agent. How many
 * networks there are is plain; what they are may be known later.
 */
export function networkObjects(
  namespace: string,
  args: NetworkingArgs | undefined,
  data: pulumi.Output<InstallationData>,
): NetworkObject[] {
  if (args === undefined) return [];
  const settings = data.apply(({ networking, ...rest }) => {
    if (networking === undefined) throw new Error("the networking settings were not checked");
    return { ...rest, networking };
  });
  const plans = settings.apply((value) => installationNetworks(namespace, value.networking));
  const network = (
    key: string,
    choose: (networks: InstallationNetworks) => ManifestOf<Network> | undefined,
  ) => {
    const plan = plans.apply((networks) => {
      const chosen = choose(networks);
      if (chosen === undefined) throw new Error(`there is no ${key}`);
      return chosen;
    });
    const manifest = planned("ipam.liqo.io/v1alpha1", "Network", plan, "spec");
    return {
      key,
      manifest: { ...manifest, metadata: withWait(plan.metadata, "jsonpath={.status.cidr}") },
      waits: true,
      // A network cannot become another one, and two of a name cannot be.
      options: { replaceOnChanges: ["spec"], deleteBeforeReplace: true },
    };
  };
  const template = <M extends GatewayTemplate>(key: string, kind: M["kind"], plan: pulumi.Output<M>) => ({
    key,
    manifest: planned<GatewayTemplate>("networking.liqo.io/v1beta1", kind, plan, "spec"),
  });
  return [
    ...args.podCidrs.map((_, index) => network(`pod-cidr-${index}`, ({ pods }) => pods[index])),
    network("service-cidr", ({ service }) => service),
    ...(args.reservedSubnets ?? []).map((_, index) =>
      network(`reserved-subnet-${index}`, ({ reserved }) => reserved[index]),
    ),
    network("external-cidr", ({ external }) => external),
    network("internal-cidr", ({ internal }) => internal),
    template(
      "gateway-server-template",
      "WgGatewayServerTemplate",
      settings.apply((value) => serverTemplate(namespace, value)),
    ),
    template(
      "gateway-client-template",
      "WgGatewayClientTemplate",
      settings.apply((value) => clientTemplate(namespace, value)),
    ),
    {
      key: "fabric",
      manifest: planned(
        "apps/v1",
        "DaemonSet",
        settings.apply((value) => fabricDaemonSet(namespace, value)),
        "spec",
      ),
    },
  ];
}

type GatewayTemplate = ManifestOf<WgGatewayServerTemplate> | ManifestOf<WgGatewayClientTemplate>;
