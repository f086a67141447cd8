import assert from "node:assert/strict";

import { z } from "zod";

import type { KubeClient } from "../../runtime/kube";

const Review = z.object({ status: z.object({ userInfo: z.object({ username: z.string() }) }) });

/** Who the API server takes us for. */
export async function whoAmI(client: KubeClient): Promise<string> {
  const { status, body } = await client.raw({
    method: "POST",
    path: "/apis/authentication.k8s.io/v1/selfsubjectreviews",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" }),
  });
  assert.equal(status, 201, body.toString());
  return Review.parse(JSON.parse(body.toString())).status.userInfo.username;
}
