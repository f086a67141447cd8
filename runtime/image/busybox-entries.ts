import { execFile } from "node:child_process";
import { promisify } from "node:util";

import { programPath } from "./executable-entries";
import type { LayerEntry } from "./layer";

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
