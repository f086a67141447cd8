import { z } from "zod";

import { defineComponent } from "../component/component";
import { integer, list, text } from "../component/flags";
import { ConnectProxy } from "./connect-proxy";

const flags = z.object({
  port: integer(8080, 0, 65_535),
  allowedHosts: list(),
  forceHost: text(),
});

/** The proxy for peers that reach the API server through the tunnel only (control plane reference 16.1). */
export const proxy = defineComponent({
  name: "proxy",
  flags,
  start: async ({ log, signal, health, shutdown }, { port, allowedHosts, forceHost }) => {
    const server = await ConnectProxy.start({
      port,
      allowedHosts,
      forceHost,
      onRefusal: ({ target, status, error }) => log.info("connection refused", { target, status, error }),
    });
    log.info("peers are led to the API server", { port: server.port, forceHost, allowedHosts });
    health.addReadiness("proxy", () => undefined);
    signal.addEventListener("abort", () => shutdown.add(server.stop()), { once: true });
  },
});
