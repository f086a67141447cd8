import { z } from "zod";
import { ignored, oneOf, text } from "./flags";

/** Flags that every process takes, whatever runs in it. */
export const processFlags = z.object({
  /** Of this cluster; the service account of the pod by default. */
  kubeconfig: text(process.env.KUBECONFIG ?? ""),
  /** `host:port` or `:port` of `/metrics`; empty for none. */
  metricsAddress: text(":8082"),
  /** `host:port` or `:port` of `/healthz`, `/livez` and `/readyz`; empty for none. */
  healthProbeAddress: text(":8081"),
  logLevel: oneOf(["debug", "info", "warn", "error"], "info"),

  // Requests are held back by the API server's own answers, not by a rate of ours; each has a deadline.
  clientQps: ignored(),
  clientMaxBurst: ignored(),
  clientTimeout: ignored(),
});
export type ProcessFlags = z.output<typeof processFlags>;
