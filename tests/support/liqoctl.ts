/** `liqoctl` as people run it: a process of its own, with kubeconfigs in files. */
import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { ensureTools } from "../../provider/local-cluster/toolchain";

export interface Ended {
  status: number | null;
  out: string;
  err: string;
}

export class Liqoctl {
  /** Where it is run, with the kubeconfigs in it. */
  readonly folder = mkdtempSync(join(tmpdir(), "pulumi-liqo-liqoctl-"));
  private readonly bin = join(this.folder, "bin");
  private path = "";

  /** Puts `liqoctl` and `kubectl` on the PATH of what is run. */
  async prepare(kubeconfigs: Record<string, string>): Promise<void> {
    const kubectl = (await ensureTools(["kubernetes"])).of("kubectl");
    mkdirSync(this.bin);
    const program = join(this.bin, "liqoctl");
    const main = require.resolve("../../runtime/liqoctl/main");
    writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`);
    chmodSync(program, 0o755);
    this.path = [this.bin, dirname(kubectl), process.env.PATH ?? ""].join(":");
    for (const [name, text] of Object.entries(kubeconfigs)) this.write(`${name}.kubeconfig`, text);
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.folder, name), text, { mode: 0o600 });
  }

  /** Arguments as a shell would read them. The consumer's kubeconfig is the one of the environment. */
  run(line: string): Promise<Ended> {
    return ended(this.start(line));
  }

  /** A whole command line of a shell. */
  shell(line: string): Promise<Ended> {
    return ended(this.spawn(line));
  }

  start(line: string): ChildProcess {
    return this.spawn(`exec liqoctl ${line}`);
  }

  private spawn(line: string): ChildProcess {
    return spawn("bash", ["-c", line], {
      cwd: this.folder,
      env: { PATH: this.path, HOME: this.folder, KUBECONFIG: join(this.folder, "rome.kubeconfig") },
      stdio: ["ignore", "pipe", "pipe"],
    });
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export function ended(child: ChildProcess): Promise<Ended> {
  let out = "";
  let err = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => (out += text));
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (err += text));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (status) => resolve({ status, out, err }));
  });
}
