import { chmod, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";

import { PersistentVolume, PersistentVolumeClaim } from "../../../../runtime/api/kubernetes";
import {
  isAlreadyExists,
  refOfKey,
  runController,
  Terminal,
  watches,
  type ControllerContext,
  type InformerSet,
  type KubeClient,
} from "../../../../runtime/kube";
import { decideClaim, mustRemove, volumeName, volumeOf } from "./volume-plan";

export interface VolumeSettings {
  client: KubeClient;
  informers: InformerSet;
  nodeNames: readonly string[];
  /** Folder on this machine that holds a folder for each volume. */
  volumesFolder: string;
}

/** Provisions the claims of the default storage class as folders, and removes the folders of released volumes. */
export function runVolumeControllers(settings: VolumeSettings, context: ControllerContext): void {
  const { client, nodeNames, volumesFolder } = settings;
  const claims = settings.informers.informer(PersistentVolumeClaim);
  const volumes = settings.informers.informer(PersistentVolume);

  runController(
    {
      name: "volume-provisioner",
      sources: [watches(claims)],
      async reconcile(key) {
        const { name, namespace } = refOfKey(key);
        const claim = claims.get(name, namespace);
        const decision = claim && decideClaim(claim, nodeNames);
        if (claim === undefined || decision === undefined) return;
        if ("refuse" in decision) throw new Terminal("ProvisioningFailed", decision.refuse);
        if (volumes.get(volumeName(claim)) !== undefined) return; // the controller manager binds it
        const folder = join(volumesFolder, volumeName(claim));
        await mkdir(folder, { recursive: true });
        await chmod(folder, 0o777); // containers write as whatever user they run as
        try {
          await client.create(PersistentVolume, volumeOf(claim, decision.provisionOn, volumesFolder));
        } catch (error) {
          if (!isAlreadyExists(error)) throw error;
        }
      },
      objectOf: (key) => claims.get(refOfKey(key).name, refOfKey(key).namespace),
    },
    context,
  );

  runController(
    {
      name: "volume-remover",
      sources: [watches(volumes)],
      async reconcile(key) {
        const volume = volumes.get(refOfKey(key).name);
        if (volume === undefined || !mustRemove(volume)) return;
        const { name, uid } = volume.metadata;
        // Folders are named after volumes: a path that a person wrote into the object is not followed.
        await rm(join(volumesFolder, name), { recursive: true, force: true });
        await client.delete(PersistentVolume, { name }, uid === undefined ? {} : { uid });
      },
    },
    context,
  );
}
