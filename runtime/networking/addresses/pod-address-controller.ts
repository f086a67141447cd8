import { IP, Label, LabelValue, type Pod } from "../../api";
import {
  controlledBy,
  type Controller,
  ownedBy,
  runController,
  watches,
  withGlobalMetadata,
  writeIfChanged,
} from "../../kube";
import { podAddress } from "../address-mapping";
import type { NetworkingContext } from "../networking-context";
import { wantedIP, type WantedIP } from "../generated";

/**
 * Gives each pod that runs at a peer an address by which other peers reach it through this cluster (networking reference 8, offloading
 * reference 13.2).
 */
export function runPodAddressController(networking: NetworkingContext): Controller {
  const { runtime, caches } = networking;
  return runController(
    {
      name: "pod-address",
      sources: [
        watches(caches.pods, {
          keys: (pod) => (isOffloaded(pod) ? [`${pod.metadata.namespace}/${pod.metadata.name}`] : []),
        }),
        watches(caches.ips, { keys: ownedBy("Pod") }),
      ],
      objectOf: (key) => caches.pods.getByKey(key),
      reconcile: (key) => reconcile(networking, key),
    },
    runtime,
  );
}

async function reconcile({ runtime, caches, options }: NetworkingContext, key: string): Promise<void> {
  const pod = caches.pods.getByKey(key);
  if (pod === undefined || pod.metadata.deletionTimestamp || !isOffloaded(pod)) return;
  const address = podAddress(pod);
  if (address === undefined) return;
  const observed = caches.ips.getByKey(key);
  if (observed !== undefined && observed.spec.ip !== address) {
    // A pod that has moved: the address is immutable, so the IP goes first.
    const ours = ownedBy("Pod")(observed).includes(key);
    if (!ours || observed.metadata.deletionTimestamp) return;
    await runtime.client.delete(IP, observed.metadata, { uid: observed.metadata.uid });
    return;
  }
  await writeIfChanged(runtime.client, IP, withGlobalMetadata(podIP(pod, address), options.global), observed);
}

/** The IP of a pod: of the same name, and gone with it. */
function podIP(pod: Pod, address: string): WantedIP {
  const { name, namespace = "" } = pod.metadata;
  return wantedIP(
    {
      name,
      namespace,
      labels: {
        // Names of pods may be longer than a label's value; the owner reference says the same.
        ...(name.length <= 63 && { [Label.podName]: name }),
        [Label.podNamespace]: namespace,
      },
      ownerReferences: [controlledBy(pod)],
    },
    { ip: address },
  );
}

function isOffloaded({ metadata }: Pod): boolean {
  return metadata.labels?.[Label.shadowPod] === LabelValue.true;
}
