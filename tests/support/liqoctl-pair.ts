/** Clusters `rome` and `milan` with the runtime on them, not peered, and `liqoctl` to peer them. */
import assert from "node:assert/strict";

import type { ControlPlane } from "../../provider/local-cluster/control-plane";
import { Deployment, type Desired, Namespace } from "../../runtime/api";
import { KubeClient } from "../../runtime/kube";
import { deployments } from "../../runtime/plan/deployments";
import { installationDataSchema } from "../../runtime/plan/installation-settings";
import { auditEvents } from "./audit-log";
import { HostRuntime } from "./host-runtime";
import { type Ended, Liqoctl } from "./liqoctl";
import { withControlPlanes } from "./with-control-planes";

export const PEER =
  "peer --remote-kubeconfig milan.kubeconfig --remote-namespace liqo-system --networking-disabled";
export const UNPEER = "unpeer --remote-kubeconfig milan.kubeconfig --remote-namespace liqo-system";
const WRITES = ["create", "update", "patch", "delete", "deletecollection"];

type Side = "rome" | "milan";

/** For a mocha suite: starts the clusters before its tests and ends them after. Call it inside `describe`, and use it inside hooks and tests. */
export function withLiqoctl(): LiqoctlPair {
  // Before the control planes go.
  after(() => pair.end());
  const pair = new LiqoctlPair(
    withControlPlanes({
      rome: { controllerManager: true, auditLog: true, serviceCidr: "10.86.0.0/16" },
      milan: { controllerManager: true, auditLog: true, serviceCidr: "10.87.0.0/20" },
    }),
  );
  before(async function () {
    this.timeout(180_000);
    await pair.start();
  });
  return pair;
}

export class LiqoctlPair {
  readonly cli = new Liqoctl();
  rome!: KubeClient;
  milan!: KubeClient;
  runtimes!: Record<Side, HostRuntime>;

  constructor(readonly controlPlane: (name: Side) => ControlPlane) {}

  async start(): Promise<void> {
    const start = (clusterId: Side, namespace: string) => {
      const cluster = this.controlPlane(clusterId);
      return HostRuntime.start({
        cluster,
        clusterId,
        namespace,
        settings: { apiServer: { address: cluster.url } },
      });
    };
    const [atRome, atMilan] = await Promise.all([start("rome", "liqo"), start("milan", "liqo-system")]);
    this.runtimes = { rome: atRome, milan: atMilan };
    const { kubeconfig: ofRome } = this.controlPlane("rome");
    const { kubeconfig: ofMilan } = this.controlPlane("milan");
    this.rome = KubeClient.fromKubeconfig(ofRome, { userAgent: "test" });
    this.milan = KubeClient.fromKubeconfig(ofMilan, { userAgent: "test" });
    await this.cli.prepare({ rome: ofRome, milan: ofMilan });
    await this.rome.create(Deployment, restingControllerManager());
    for (const name of ["shop", "cellar"])
      await this.rome.create(Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  }

  async end(): Promise<void> {
    const { runtimes, rome, milan }: Partial<LiqoctlPair> = this;
    this.cli.remove();
    await Promise.all(Object.values(runtimes ?? {}).map((runtime) => runtime.stop()));
    rome?.close();
    milan?.close();
  }

  readonly ok = async (line: string): Promise<Ended> => {
    const result = await this.cli.run(line);
    assert.equal(result.status, 0, `liqoctl ${line}\n${result.out}${result.err}`);
    return result;
  };

  readonly fails = async (line: string, ...words: RegExp[]): Promise<Ended> => {
    const result = await this.cli.run(line);
    assert.equal(result.status, 1, `liqoctl ${line}\n${result.out}${result.err}`);
    for (const each of words) assert.match(result.err, each);
    return result;
  };

  /** What liqoctl writes to either cluster meanwhile. */
  readonly writesDuring = async (work: () => Promise<unknown>): Promise<string[]> => {
    const from = Date.now();
    await work();
    return (["rome", "milan"] as const).flatMap((name) =>
      auditEvents(this.controlPlane(name).auditLogPath ?? "", from)
        .filter(({ userAgent, verb }) => userAgent === "liqoctl" && WRITES.includes(verb))
        .map(({ verb, objectRef }) => `${name}: ${verb} ${objectRef?.resource} ${objectRef?.name}`),
    );
  };
}

/** The Deployment of an installation, which `info` reads; it has no pods, since the processes run beside the cluster. */
function restingControllerManager(): Desired<Deployment> {
  const data = installationDataSchema.parse({
    image: "registry.example/runtime:0.1.0-test",
    clusterLabels: { region: "europe" },
  });
  const { controllerManager } = deployments({ namespace: "liqo", ...data });
  return { ...controllerManager, spec: { ...controllerManager.spec, replicas: 0 } };
}
