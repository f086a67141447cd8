import type { IncomingMessage, ServerResponse } from "node:http";
import { request } from "node:https";

import type { ControlPlane } from "../../provider/local-cluster/control-plane";
import { userPem } from "./kubeconfig-edit";

/** Sends a request that a server in front of a control plane got on to a URL of its API server, as the administrator, and the answer back. */
export function forward(
  plane: ControlPlane,
  url: URL,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): void {
  const forwarded = request(url, {
    method: incoming.method,
    headers: { ...incoming.headers, host: url.host },
    ca: plane.caCertificate,
    cert: userPem(plane.kubeconfig, "client-certificate-data"),
    key: userPem(plane.kubeconfig, "client-key-data"),
  });
  forwarded.on("response", (response) => {
    outgoing.writeHead(response.statusCode ?? 500, response.headers);
    outgoing.flushHeaders();
    response.pipe(outgoing);
  });
  forwarded.on("error", () => outgoing.destroy());
  outgoing.on("close", () => forwarded.destroy());
  incoming.pipe(forwarded);
}
