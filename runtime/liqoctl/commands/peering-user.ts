import { Command, Option } from "commander";

import { Name, peeringUserName, RoleName } from "../../api/keys";
import { CertificateSigningRequest, ClusterRole, Role, RoleBinding } from "../../api/kubernetes";
import {
  buildKubeconfig,
  CertificateError,
  type CertificateExpectation,
  checkCertificate,
  createCertificateRequest,
  generateKeyPair,
  type KeyType,
  peeringUserSubject,
} from "../../identity";
import { isAlreadyExists, systemClock, timestamp } from "../../kube";
import { peeringUserBindingNames, peeringUserBindings, peeringUserRequest } from "../../plan/peering-user";
import type { Cluster } from "../cluster/cluster";
import { ensureTenantNamespace } from "../cluster/tenant-namespace";
import { CommandError } from "../failure";
import { apiServerOverride, installedControllerManager } from "../info/installation-info";
import { timeoutOption } from "../options";
import { type CommandContext, type Run, runs } from "../run";
import { waitUntil } from "../wait";
import { type TargetFlags, withTarget } from "./target";

/** `generate peering-user` and `delete peering-user`. */

interface PeeringUserFlags extends TargetFlags {
  consumerClusterId: string;
}

function options(): Option[] {
  return [
    new Option(
      "--consumer-cluster-id <id>",
      "ID of the cluster that is to use this one's resources",
    ).makeOptionMandatory(),
    new Option("--liqo-namespace <name>", "namespace that Liqo is installed in").default(Name.liqoNamespace),
    timeoutOption("2m"),
  ];
}

export function generatePeeringUser(context: CommandContext): Command {
  const command = new Command("peering-user").description(
    "at the provider: print a kubeconfig by which the consumer's administrator can peer, and no more",
  );
  for (const option of [
    ...options(),
    new Option(
      "--tls-compatibility-mode <when>",
      "an RSA key, for clients that know no Ed25519; auto takes what the installation has",
    )
      .choices(["auto", "true", "false"])
      .default("auto"),
  ])
    command.addOption(option);
  interface Flags extends PeeringUserFlags {
    tlsCompatibilityMode: "auto" | "true" | "false";
  }
  return command.action(
    runs<Flags>(context, (run, flags) =>
      withTarget(run, flags, async (cluster) => {
        const mode =
          flags.tlsCompatibilityMode === "auto"
            ? (await installedControllerManager(run, cluster))?.flags.get("tls-compatibility-mode")
            : flags.tlsCompatibilityMode;
        const keyType = mode === "true" ? "rsa" : "ed25519";
        run.terminal.out(await makePeeringUser(run, cluster, flags.consumerClusterId, keyType));
        run.progress.info(undefined, "this kubeconfig is kept nowhere else");
      }),
    ),
  );
}

export function deletePeeringUser(context: CommandContext): Command {
  const command = new Command("peering-user").description("take a peering user's rights away");
  for (const option of options()) command.addOption(option);
  return command.action(
    runs<PeeringUserFlags>(context, (run, flags) =>
      withTarget(run, flags, (cluster) => removePeeringUser(run, cluster, flags.consumerClusterId)),
    ),
  );
}

/** Users by which a consumer's administrator peers at the provider, without being its administrator (control plane reference 17.2). */

/**
 * Makes the user, and returns a kubeconfig, which is kept nowhere.
 *
 * @throws CommandError where there is one already: its key is known to nobody here, so that it can't be given out again
 */
async function makePeeringUser(
  run: Run,
  cluster: Cluster,
  consumer: string,
  keyType: KeyType,
): Promise<string> {
  const { client, liqoNamespace } = cluster;
  const ownId = await cluster.clusterId(run);
  if (ownId === consumer) {
    throw new CommandError(
      `--consumer-cluster-id ${consumer} is the ID of the cluster itself`,
      "give the ID of the cluster that is to use its resources",
    );
  }
  await requireRoles(run, cluster);
  const { name: tenantNamespace } = await ensureTenantNamespace(run, cluster, consumer);
  const subject = peeringUserSubject(consumer);
  const { privateKey, publicKey } = generateKeyPair(keyType);
  const certificate = await run.progress.step(
    undefined,
    `have a certificate signed for the peering user of ${consumer}`,
    async (waiting) => {
      const csr = createCertificateRequest(subject, privateKey);
      const issued = await issue(run, cluster, consumer, csr, waiting);
      return checked(issued, { subject, publicKey, purpose: "client", now: new Date() }, consumer);
    },
    () => `certificate of the peering user of ${consumer} signed`,
  );
  const user = { consumerClusterId: consumer, userName: subject.commonName, liqoNamespace, tenantNamespace };
  for (const binding of peeringUserBindings(user)) await client.create(RoleBinding, binding, run.call);
  const ca = await client.certificateAuthority();
  return buildKubeconfig({
    providerClusterId: consumer,
    identityName: `${consumer}-user`,
    server: apiServerOverride(await installedControllerManager(run, cluster)) ?? client.server,
    ...(ca === undefined ? {} : { ca }),
    certificate,
    privateKey,
    namespace: tenantNamespace,
  });
}

/** Takes the user's rights away; its certificate, which nobody can take back, is good for nothing then. */
async function removePeeringUser(run: Run, { client }: Cluster, consumer: string): Promise<void> {
  const removed: string[] = [];
  for (const name of Object.values(peeringUserBindingNames(consumer))) {
    for (const { metadata } of await client.list(
      RoleBinding,
      { fieldSelector: `metadata.name=${name}` },
      run.call,
    ))
      if (await client.delete(RoleBinding, metadata, run.call))
        removed.push(`RoleBinding ${metadata.namespace}/${name}`);
  }
  const request = await client.get(CertificateSigningRequest, { name: peeringUserName(consumer) }, run.call);
  if (request !== undefined && (await client.delete(CertificateSigningRequest, request.metadata, run.call)))
    removed.push(`CertificateSigningRequest ${request.metadata.name}`);
  run.progress.info(
    undefined,
    removed.length === 0 ? `no peering user of ${consumer} is there` : `removed ${removed.join(", ")}`,
  );
}

async function requireRoles(run: Run, { client, liqoNamespace }: Cluster): Promise<void> {
  const [reader, writer] = [RoleName.peeringUserLiqoNamespace, RoleName.peeringUserTenantNamespace];
  const [role, clusterRole] = await Promise.all([
    client.get(Role, { name: reader, namespace: liqoNamespace }, run.call),
    client.get(ClusterRole, { name: writer }, run.call),
  ]);
  if (role !== undefined && clusterRole !== undefined) return;
  const missing = role === undefined ? `Role ${liqoNamespace}/${reader}` : `ClusterRole ${writer}`;
  throw new CommandError(
    `${client.server} has no ${missing}, which peering users are given`,
    "bring the installation there up to date",
  );
}

/** @throws CommandError where the signer answered with another certificate than was asked for */
function checked(certificate: string, expected: CertificateExpectation, consumer: string): string {
  try {
    return checkCertificate(certificate, expected);
  } catch (cause) {
    if (!(cause instanceof CertificateError)) throw cause;
    throw new CommandError(
      `the certificate that was signed for the peering user of ${consumer} is not given out: ${cause.message}`,
      `see who signs in this cluster; ${takeBack(consumer)}`,
      { cause },
    );
  }
}

const takeBack = (consumer: string) =>
  `take it back: liqoctl delete peering-user --consumer-cluster-id ${consumer}`;

/** Asks for the certificate, approves the request, and waits for the signer. */
async function issue(
  run: Run,
  { client }: Cluster,
  consumer: string,
  csr: string,
  waiting: (seen: string) => void,
): Promise<string> {
  const wanted = peeringUserRequest(consumer, csr);
  const created = await client.create(CertificateSigningRequest, wanted, run.call).catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
    throw new CommandError(
      `there is a peering user of ${consumer} already (CertificateSigningRequest ${wanted.metadata.name}), whose kubeconfig is kept nowhere`,
      `take its rights away first: liqoctl delete peering-user --consumer-cluster-id ${consumer}`,
      { cause: error },
    );
  });
  const now = timestamp(systemClock);
  const approved = {
    type: "Approved",
    status: "True",
    reason: "LiqoApproval",
    message: "An administrator makes a peering user by liqoctl",
    lastUpdateTime: now,
    lastTransitionTime: now,
  };
  await client.patch(
    CertificateSigningRequest,
    created.metadata,
    { status: { conditions: [...(created.status?.conditions ?? []), approved] } },
    { type: "merge", subresource: "approval", ...run.call },
  );
  const again = takeBack(consumer);
  const next = `this cluster's control plane may have no signer for ${wanted.spec?.signerName ?? ""}, as on EKS; ${again}`;
  return await waitUntil(run, { waiting, next }, async () => {
    const { status } = (await client.get(CertificateSigningRequest, created.metadata, run.call)) ?? {};
    if (status?.certificate)
      return { is: "met", value: Buffer.from(status.certificate, "base64").toString() };
    const refusal = status?.conditions?.find(({ type }) => type === "Denied" || type === "Failed");
    return refusal === undefined
      ? { is: "open", seen: "approved, and not signed yet" }
      : {
          is: "refused",
          seen: `CertificateSigningRequest ${created.metadata.name} is ${refusal.type}: ${refusal.message ?? ""}`,
          next: again,
        };
  });
}
