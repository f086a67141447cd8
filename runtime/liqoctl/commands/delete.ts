import { Command } from "commander";

import { ResourceSlice } from "../../api/authentication";
import { kubeconfigSecretName, sliceIdentityName } from "../../api/keys";
import type { Kind, KubeObject } from "../../api/meta";
import { Configuration, GatewayClient, GatewayServer, PublicKey } from "../../api/networking";
import { VirtualNode } from "../../api/offloading";
import { controllerOf } from "../../kube";
import { type Cluster } from "../cluster/cluster";
import { type CommandContext, type Run, runs } from "../run";
import { CommandError } from "../failure";
import { timeoutOption } from "../options";
import { waitUntil } from "../wait";
import { deletePeeringUser } from "./peering-user";
import { targetOptions, type TargetFlags, withTarget } from "./target";

/** Objects of a peering by name; the namespace is found, unless the name is taken in several. */
export function deleteCommand(context: CommandContext): Command {
  const command = new Command("delete").description("remove an object of a peering by itself");
  const kinds = [
    of(context, ResourceSlice, "resourceslice", ["resourceslices", "rs"]),
    of(context, VirtualNode, "virtualnode", ["virtualnodes", "vn"]),
    of(context, Configuration, "configuration", ["configurations", "config"]),
    of(context, GatewayServer, "gatewayserver", ["gatewayservers", "server", "servers", "gws"]),
    of(context, GatewayClient, "gatewayclient", ["gatewayclients", "client", "clients", "gwc"]),
    of(context, PublicKey, "publickey", ["publickeys", "publickeies"]),
  ];
  for (const child of kinds) command.addCommand(child);
  return command.addCommand(deletePeeringUser(context));
}

function of<T extends KubeObject>(
  context: CommandContext,
  kind: Kind<T>,
  name: string,
  aliases: string[],
): Command {
  const command = new Command(name)
    .aliases(aliases)
    .description(`remove a ${kind.kind}; returns when it is gone`)
    .argument("<name>", "its name");
  for (const option of [...targetOptions(), timeoutOption("2m")]) command.addOption(option);
  return command.action(
    runs<TargetFlags>(context, (run, flags, [object = ""]) =>
      withTarget(run, flags, (cluster) =>
        remove(run, cluster, kind, { name: object, namespace: flags.namespace }),
      ),
    ),
  );
}

/** The virtual nodes that go on with the credentials of a slice that goes; the one that was made with it goes, too. */
async function tellUsers(run: Run, { client }: Cluster, { kind, metadata }: KubeObject): Promise<void> {
  if (kind !== ResourceSlice.kind) return;
  const { name, namespace, uid } = metadata;
  const secret = kubeconfigSecretName(sliceIdentityName(name));
  const nodes = await client.list(VirtualNode, namespace === undefined ? {} : { namespace }, run.call);
  const users = nodes
    .filter(({ spec }) => spec.kubeconfigSecretRef?.name === secret)
    .filter((node) => controllerOf(node)?.uid !== uid)
    .map((node) => node.metadata.name);
  for (const user of users) {
    const way = `remove it, too: liqoctl delete virtualnode ${user}`;
    run.progress.warn(
      undefined,
      `VirtualNode ${namespace}/${user} uses slice ${name}: no new pod starts there; ${way}`,
    );
  }
}

async function remove<T extends KubeObject>(
  run: Run,
  cluster: Cluster,
  kind: Kind<T>,
  { name, namespace }: { name: string; namespace: string | undefined },
): Promise<void> {
  const { client } = cluster;
  const selection = {
    fieldSelector: `metadata.name=${name}`,
    ...(namespace === undefined ? {} : { namespace }),
  };
  const found = await client.list(kind, selection, run.call);
  const [only, second] = found;
  if (second !== undefined) {
    throw new CommandError(
      `there are ${found.length} of the kind ${kind.kind} named ${name}, in ${found.map(({ metadata }) => metadata.namespace).join(", ")}`,
      "give the namespace by --namespace",
    );
  }
  if (only === undefined) {
    run.progress.info(undefined, `no ${kind.kind} ${name} is there`);
    return;
  }
  await run.progress.step(
    undefined,
    `remove ${kind.kind} ${name}`,
    async (waiting) => {
      await tellUsers(run, cluster, only);
      await client.delete(kind, only.metadata, { ...run.call, uid: only.metadata.uid ?? "" });
      const next = `see which finalizers hold it: kubectl get ${kind.plural}.${kind.group} -n ${only.metadata.namespace} ${name} -o yaml`;
      await waitUntil(run, { waiting, next }, async () => {
        const left = await client.get(kind, only.metadata, run.call);
        return left?.metadata.uid !== only.metadata.uid
          ? { is: "met", value: undefined }
          : {
              is: "open",
              seen: `its finalizers are waited for: ${(left?.metadata.finalizers ?? []).join(", ")}`,
            };
      });
    },
    () => `${kind.kind} ${only.metadata.namespace}/${name} removed`,
  );
}
