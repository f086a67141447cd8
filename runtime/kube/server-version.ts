import { z } from "zod";

import type { KubeClient } from "./client";

const answer = z.object({ gitVersion: z.string() });

/** The version of the API server, such as `v1.34.4`. */
export async function serverVersion(client: KubeClient, signal: AbortSignal): Promise<string> {
  const { body } = await client.raw({ path: "/version", signal });
  return answer.parse(JSON.parse(body.toString("utf8"))).gitVersion;
}
