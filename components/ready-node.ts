import type * as pulumi from "@pulumi/pulumi";

import { WaitFor } from "../provider/wait-for/resource";
import type { ClusterAccess } from "./cluster";
import { after } from "./waiting";

/** The name of a node, once the node is Ready. */
export function readyNode(
  name: string,
  nodeName: pulumi.Output<string>,
  { kubeconfig }: ClusterAccess,
  timeoutSeconds: number,
  parent: pulumi.Resource,
): pulumi.Output<string> {
  const ready = new WaitFor(
    name,
    {
      kubeconfig,
      apiVersion: "v1",
      kind: "Node",
      name: nodeName,
      condition: { type: "Ready" },
      timeoutSeconds,
    },
    { parent },
  );
  return after([ready], nodeName);
}
