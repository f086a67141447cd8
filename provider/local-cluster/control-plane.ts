import { rmSync } from "node:fs";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { waitForApiServer } from "./api-server-probe";
import { ChildDaemon } from "./child-daemon";
import { clusterKubeconfig } from "./cluster-kubeconfig";
import {
  apiServerFlags,
  auditPolicy,
  controllerManagerFlags,
  etcdFlags,
  schedulerFlags,
} from "./control-plane-flags";
import { loadCertificateAuthority, writeControlPlanePki } from "./control-plane-pki";
import { freePorts } from "./free-port";
import { identifyProcess, isRunning } from "./process-identity";
import { ensureTools, type EnsureToolsOptions } from "./toolchain";

export interface ControlPlaneOptions {
  /** Names the cluster and the context of the kubeconfigs. */
  name: string;
  /** Runs kube-controller-manager too (CSR signing, service accounts, garbage collection, workloads); false by default. */
  controllerManager?: boolean;
  /** How long the certificates that kube-controller-manager signs are valid, as in `3m`; a year by default. */
  signingDuration?: string;
  /** Runs kube-scheduler too; false by default. */
  scheduler?: boolean;
  /** Writes one line a request to `auditLogPath`; false by default. */
  auditLog?: boolean;
  /** 10.96.0.0/16 by default. */
  serviceCidr?: string;
  /**
   * Runs once, after etcd is started and before the API server is, with the address that etcd answers clients at (it may take a moment to). What
   * it puts there, the API server finds as if another one had stored it before. Where it fails, so does the start.
   */
  beforeApiServer?: (etcdUrl: string) => Promise<void>;
  /** Told what is fetched or built. */
  progress?: EnsureToolsOptions["progress"];
}

export interface ControlPlane {
  readonly name: string;
  /** The API server, on the loopback address. */
  readonly url: string;
  /** Kubeconfig text of an administrator. */
  readonly kubeconfig: string;
  /** CA of the API server, PEM. */
  readonly caCertificate: string;
  /** Holds `etcd.log`, `kube-apiserver.log`, …, and `pki/`; removed by `stop`. */
  readonly folder: string;
  /** JSON lines, level Metadata, stage ResponseComplete; undefined without `auditLog`. */
  readonly auditLogPath: string | undefined;
  /** Process numbers of what runs, by program: `etcd`, `kube-apiserver`, … */
  pids(): Record<string, number>;
  /** Kubeconfig text of another user, by a client certificate. */
  kubeconfigFor(user: { name: string; groups?: string[] }): Promise<string>;
  /** Kills the API server at once and starts it again on the same address; returns when it is ready. */
  restartApiServer(options?: { downtimeMs?: number }): Promise<void>;
  stop(): Promise<void>;
}

const folderPrefix = "pulumi-liqo-control-plane-";

/**
 * Starts a Kubernetes control plane without nodes on the loopback address: etcd and kube-apiserver, the rest by option.
 * It is ready in about five seconds, needs no root, and ends with this process, however that ends.
 *
 * @throws with the end of the log of the program that failed
 */
export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const tools = await ensureTools(
    ["etcd", "kubernetes"],
    options.progress ? { progress: options.progress } : {},
  );
  await removeLeftFolders();
  const self = identifyProcess(process.pid);
  const [etcdPort = 0, peerPort = 0, apiPort = 0, managerPort = 0, schedulerPort = 0, unique = 0] =
    await freePorts(6);
  const folder = join(
    tmpdir(),
    `${folderPrefix}${process.pid}-${self?.startTime ?? ""}-${options.name}-${unique}`,
  );
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const removeAtExit = () => rmSync(folder, { recursive: true, force: true });
  process.once("exit", removeAtExit);

  const url = `https://127.0.0.1:${apiPort}`;
  const etcdUrl = `http://127.0.0.1:${etcdPort}`;
  const serviceCidr = options.serviceCidr ?? "10.96.0.0/16";
  const { path: pki, folder: pkiFolder } = await writeControlPlanePki({
    folder: join(folder, "pki"),
    clusterName: options.name,
    server: url,
    addresses: ["127.0.0.1"],
    dnsNames: ["localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"],
  });
  const auditLogPath = options.auditLog === true ? join(folder, "audit.log") : undefined;
  const policyFile = join(folder, "audit-policy.yaml");
  if (auditLogPath !== undefined) await writeFile(policyFile, auditPolicy);

  const flags: Record<string, string[]> = {
    etcd: etcdFlags({
      dataFolder: join(folder, "etcd"),
      clientUrl: etcdUrl,
      peerUrl: `http://127.0.0.1:${peerPort}`,
    }),
    "kube-apiserver": apiServerFlags({
      pki,
      etcdUrl,
      bindAddress: "127.0.0.1",
      port: apiPort,
      serviceCidr,
      ...(auditLogPath !== undefined && { audit: { policyFile, logFile: auditLogPath } }),
    }),
    ...(options.controllerManager === true && {
      "kube-controller-manager": controllerManagerFlags({
        pki,
        serviceCidr,
        port: managerPort,
        ...(options.signingDuration !== undefined && { signingDuration: options.signingDuration }),
      }),
    }),
    ...(options.scheduler === true && { "kube-scheduler": schedulerFlags({ pki, port: schedulerPort }) }),
  };
  const daemons = new Map<string, ChildDaemon>();
  const start = (name: string) => {
    const logFile = join(folder, `${name}.log`);
    daemons.set(
      name,
      ChildDaemon.start({ name, command: tools.of(name), args: flags[name] ?? [], cwd: folder, logFile }),
    );
  };
  const [kubeconfig, ca, certificate, privateKey] = await Promise.all(
    ["admin.kubeconfig", "ca.crt", "admin.crt", "admin.key"].map((name) => readFile(pki(name), "utf8")),
  );
  if (kubeconfig === undefined || ca === undefined || certificate === undefined || privateKey === undefined) {
    throw new Error(`${pkiFolder} is incomplete`);
  }
  const untilReady = () =>
    waitForApiServer(
      { url, ca, certificate, privateKey },
      {
        timeoutMs: 60_000,
        onTry: () => {
          for (const name of ["etcd", "kube-apiserver"]) daemons.get(name)?.assertRunning();
        },
      },
    );
  const stop = async () => {
    // Clients first; etcd keeps nothing that is worth a graceful end.
    await Promise.all([...daemons.values()].map((daemon) => daemon.stop(0)));
    await rm(folder, { recursive: true, force: true });
    process.removeListener("exit", removeAtExit);
  };

  try {
    start("etcd");
    await options.beforeApiServer?.(etcdUrl);
    start("kube-apiserver");
    await untilReady();
    // They would end if they started before the API server is ready.
    for (const name of Object.keys(flags)) if (!daemons.has(name)) start(name);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    name: options.name,
    url,
    kubeconfig,
    caCertificate: ca,
    folder,
    auditLogPath,
    pids: () =>
      Object.fromEntries(
        [...daemons].flatMap(([name, { pid }]) => (pid === undefined ? [] : [[name, pid] as const])),
      ),
    kubeconfigFor: async ({ name, groups }) => {
      const authority = await loadCertificateAuthority(pkiFolder);
      const client = await authority.issue({ commonName: name, organizations: groups ?? [] });
      return clusterKubeconfig({
        clusterName: options.name,
        userName: name,
        server: url,
        caCertificate: ca,
        client,
      });
    },
    restartApiServer: async ({ downtimeMs = 0 } = {}) => {
      await daemons.get("kube-apiserver")?.stop(0);
      if (downtimeMs > 0) await new Promise((resolve) => setTimeout(resolve, downtimeMs));
      start("kube-apiserver");
      await untilReady();
    },
    stop,
  };
}

/** Folders of processes that were killed: the name tells whose they are. */
async function removeLeftFolders(): Promise<void> {
  const boot = identifyProcess(process.pid)?.boot ?? "";
  for (const name of await readdir(tmpdir())) {
    const [pid, startTime] = name.startsWith(folderPrefix) ? name.slice(folderPrefix.length).split("-") : [];
    if (pid === undefined || startTime === undefined) continue;
    if (!isRunning({ pid: Number(pid), startTime, boot })) {
      await rm(join(tmpdir(), name), { recursive: true, force: true });
    }
  }
}
