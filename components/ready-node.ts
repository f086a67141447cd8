import type * as pulumi from "@pulumi/pulumi";

import { WaitFor } from "../provider/wait-for";
import type { ClusterAccess } from "./cluster";
import { after } from "./waiting";

/** How a node is waited for; again whenever a trigger changes. */
interface NodeWait {
  consumer: ClusterAccess;
  timeoutSeconds: number;
  triggers: Record<string, pulumi.Output<string>>;
}

/** The name of a node, once the node is Ready. */
export function readyNode(
  name: string,
  nodeName: pulumi.Output<string>,
  { consumer: { kubeconfig }, timeoutSeconds, triggers }: NodeWait,
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
      triggers,
      timeoutSeconds,
    },
    { parent },
  );
  return after([ready], nodeName);
}
