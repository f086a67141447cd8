import { createHash } from "node:crypto";
import { join } from "node:path";

import { busyboxEntries } from "./busybox-entries";
import { programPath } from "./executable-entries";
import { imageId, writeImageArchive, type ImageArchive, type ImageSpec } from "./image-archive";
import { writeLayer } from "./layer";

/** Shell and network commands, for test applications and demonstrations. */
export const busyboxImageName = "localhost/pulumi-liqo/busybox:1";
/** Holds the namespaces of a pod. */
export const pauseImageName = "localhost/pulumi-liqo/pause:1";

/** @param folder where layers and archives are kept; `images` in the cache folder */
export async function buildBusyboxImage(folder: string): Promise<ImageArchive> {
  const layer = await writeLayer(await busyboxEntries(), join(folder, "layers"));
  return archive({ name: busyboxImageName, layers: [layer], entrypoint: [], command: ["sh"] }, folder);
}

/** @param folder where layers and archives are kept; `images` in the cache folder */
export async function buildPauseImage(folder: string): Promise<ImageArchive> {
  const source = programPath({ name: "busybox", debianPackage: "busybox-static" });
  const layer = await writeLayer([{ path: "/bin/busybox", source, mode: 0o755 }], join(folder, "layers"));
  return archive(
    { name: pauseImageName, layers: [layer], entrypoint: ["/bin/busybox", "sleep", "infinity"] },
    folder,
  );
}

async function archive(spec: ImageSpec, folder: string): Promise<ImageArchive> {
  return writeImageArchive(spec, join(folder, archiveFileName(spec)));
}

/** A file name that tells one content from another. */
export function archiveFileName(spec: ImageSpec): string {
  const [, base = "image"] = /([^/:]+):[^:]*$/.exec(spec.name) ?? [];
  const key = createHash("sha256").update(spec.name).update(imageId(spec)).digest("hex").slice(0, 12);
  return `${base}-${key}.tar`;
}
