/**
 * A network made of namespaces of this machine's kernel: each is a host, a pod or a router, with its own interfaces, rules, tables and processes. All of it ends with
 * this process, however that ends.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";

/** A namespace of the lab: network, mounts and processes. Its processes die with its holder, and that with this process. */
export class LabHost {
  private constructor(
    readonly name: string,
    private readonly holder: ChildProcess,
    private readonly pid: number,
  ) {}

  static async open(name: string): Promise<LabHost> {
    // What wireguard-go and ip keep in files is each host's own.
    const script = `
      mkdir -p /var/run/wireguard
      mount -t tmpfs tmpfs /var/run/wireguard
      if [ -d /etc/iproute2 ]; then mount -t tmpfs tmpfs /etc/iproute2; fi
      ip link set lo up
      sysctl -qw net.ipv4.ip_forward=1
      echo ready
      exec cat`;
    const holder = spawn(
      "unshare",
      [
        "--net",
        "--mount",
        "--pid",
        "--fork",
        "--kill-child",
        "--propagation",
        "private",
        "sh",
        "-euc",
        script,
      ],
      { stdio: ["pipe", "pipe", "inherit"] },
    );
    const [first] = (await once(holder.stdout, "data")) as [Buffer];
    if (!first.toString().startsWith("ready")) throw new Error(`the host ${name} did not start`);
    holder.stdin.on("error", () => undefined);
    return new LabHost(name, holder, childOf(holder.pid ?? 0));
  }

  /** What has to stand before a command to run it here. */
  get enter(): [string, string[]] {
    return ["nsenter", ["-t", String(this.pid), "--net", "--mount", "--pid"]];
  }

  /** Runs a shell script here; returns what it printed. @throws with what it wrote to its error output */
  async run(script: string): Promise<string> {
    const [program, args] = this.enter;
    try {
      const { stdout } = await promisify(execFile)(program, [...args, "sh", "-euc", script], {
        maxBuffer: 64 * 1024 * 1024,
      });
      return stdout;
    } catch (cause) {
      const said = cause instanceof Error && "stderr" in cause ? String(cause.stderr) : "";
      throw new Error(`on ${this.name}: ${script.trim()}\n${said}`, { cause });
    }
  }

  /** Starts a program here that goes on. */
  spawn(
    program: string,
    args: string[],
    options: { env?: NodeJS.ProcessEnv; log?: number } = {},
  ): LabProcess {
    const [enter, place] = this.enter;
    const output = options.log ?? "ignore";
    const child = spawn(enter, [...place, program, ...args], {
      stdio: ["ignore", output, output],
      env: options.env ?? process.env,
    });
    return new LabProcess(child);
  }

  /** Ends it with all of its processes and interfaces. */
  async close(): Promise<void> {
    if (this.holder.exitCode !== null || this.holder.signalCode !== null) return;
    const ended = once(this.holder, "exit");
    this.holder.kill("SIGKILL");
    await ended;
  }
}

/** A program on a host of the lab. */
export class LabProcess {
  constructor(private readonly entering: ChildProcess) {}

  get ended(): boolean {
    return this.entering.exitCode !== null || this.entering.signalCode !== null;
  }

  /** Ends the program itself, and waits until it is gone. */
  async end(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    if (this.ended) return;
    const gone = once(this.entering, "exit");
    process.kill(childOf(this.entering.pid ?? 0), signal);
    await gone;
  }
}

/** The only child of a process. */
function childOf(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
  const [child = ""] = children;
  if (children.length !== 1 || child === "") throw new Error(`process ${pid} has no single child`);
  return Number(child);
}

/** The hosts of a test. */
export class NetworkLab {
  private readonly hosts: LabHost[] = [];
  private wires = 0;

  async host(name: string): Promise<LabHost> {
    const host = await LabHost.open(name);
    this.hosts.push(host);
    return host;
  }

  /** Joins two hosts by a wire. */
  async wire(
    a: { host: LabHost; name: string },
    b: { host: LabHost; name: string },
    mtu = 1500,
  ): Promise<void> {
    const far = `w${(this.wires += 1)}`;
    const pid = b.host.enter[1][1] ?? "";
    // Made on one host and moved to the other: nothing of it is ever on this machine's own network. The other host is named by a file of this
    // machine, as processes have other numbers inside.
    await promisify(execFile)("sh", [
      "-euc",
      `exec 3</proc/${pid}/ns/net
       nsenter -t ${a.host.enter[1][1]} --net ip link add ${a.name} mtu ${mtu} type veth peer name ${far} mtu ${mtu}
       nsenter -t ${a.host.enter[1][1]} --net ip link set ${far} netns /proc/${pid}/ns/net name ${b.name}
       nsenter -t ${a.host.enter[1][1]} --net ip link set ${a.name} up
       nsenter -t ${pid} --net ip link set ${b.name} up`,
    ]);
  }

  async close(): Promise<void> {
    await Promise.all(this.hosts.splice(0).map((host) => host.close()));
  }
}
