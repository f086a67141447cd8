/** The context of a component inside a test: connected to a control plane, without log, ended by the test. */
import {
  type Clock,
  createRegistry,
  Elections,
  EventRecorder,
  Health,
  InformerSet,
  KubeClient,
  type Logger,
  type RuntimeContext,
  silentLogger,
  systemClock,
} from "../../runtime/kube";

export interface TestContext extends RuntimeContext {
  /** Stops what runs with the context, and closes its connections. */
  end(): Promise<void>;
}

export function testContext(
  kubeconfig: string,
  component: string,
  log: Logger = silentLogger,
  clock: Clock = systemClock,
): TestContext {
  const ending = new AbortController();
  const client = KubeClient.fromKubeconfig(kubeconfig, { userAgent: `liqo-${component}` });
  const metrics = createRegistry();
  const informers = new InformerSet(client, { log, metrics });
  const context = {
    client,
    informers,
    log,
    clock,
    signal: ending.signal,
    metrics,
    health: new Health(),
    shutdown: new Set<Promise<unknown>>(),
    events: new EventRecorder({ client, component }),
  };
  const elections = new Elections(context);
  return {
    ...context,
    elections,
    end: async () => {
      ending.abort();
      void Promise.allSettled(context.shutdown).then(() => elections.close());
      await informers.stop();
      client.close();
    },
  };
}
