import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { programPath } from "./executable-entries";
import { archiveFileName, type ImageArchive, type ImageSpec, writeImageArchive } from "./image-archive";
import { type LayerEntry, writeLayer } from "./layer";

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

/** Static busybox and a link for each of its commands, with the files that a name look-up wants. */
export async function busyboxEntries(): Promise<LayerEntry[]> {
  const source = programPath({ name: "busybox", debianPackage: "busybox-static" });
  const { stdout } = await promisify(execFile)(source, ["--list"]);
  const commands = stdout.split("\n").filter((name) => name !== "" && name !== "busybox");
  return [
    { path: "/bin/busybox", source, mode: 0o755 },
    ...commands.map((name) => ({ path: `/bin/${name}`, linkTo: "busybox" })),
    {
      path: "/etc/passwd",
      content: "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n",
    },
    { path: "/etc/group", content: "root:x:0:\nnobody:x:65534:\n" },
    { path: "/etc/nsswitch.conf", content: "hosts: files dns\n" },
    { path: "/tmp", directory: true, mode: 0o1777 },
    { path: "/run", directory: true },
    { path: "/root", directory: true, mode: 0o700 },
  ];
}
