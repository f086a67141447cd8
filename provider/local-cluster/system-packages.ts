import { existsSync, readFileSync } from "node:fs";

import { findExecutable } from "./find-executable";
import { runCommand } from "./run-command";

/** A program of the system and the package of Debian and Ubuntu that holds it. */
interface SystemProgram {
  package: string;
  /** Name on the PATH, or a full path. */
  program: string;
  /** Other paths where it may be. */
  alternatives?: string[];
}

const programs: SystemProgram[] = [
  { package: "containerd", program: "containerd" },
  { package: "runc", program: "runc" },
  {
    package: "containernetworking-plugins",
    program: "/usr/lib/cni/ptp",
    alternatives: ["/opt/cni/bin/ptp", "/usr/libexec/cni/ptp"],
  },
  { package: "conntrack", program: "conntrack" },
  { package: "nftables", program: "nft" },
  { package: "iptables", program: "iptables" },
  { package: "wireguard-tools", program: "wg" },
  { package: "wireguard-go", program: "wireguard-go" },
  { package: "busybox-static", program: "busybox" },
  { package: "iproute2", program: "ip" },
];

/** Packages whose programs this machine lacks. */
export function missingPackages(): string[] {
  return programs
    .filter(({ program, alternatives = [] }) =>
      program.startsWith("/")
        ? ![program, ...alternatives].some((path) => existsSync(path))
        : !findExecutable(program),
    )
    .map((entry) => entry.package);
}

/**
 * Installs what is missing, on Debian and Ubuntu as root.
 *
 * @throws elsewhere, naming what is missing
 */
export async function ensureSystemPackages(
  progress: (line: string) => void = () => undefined,
): Promise<void> {
  const missing = missingPackages();
  if (missing.length === 0) return;
  if (!isDebianLike() || process.getuid?.() !== 0) {
    throw new Error(
      `this machine lacks ${missing.join(", ")} (names of the packages on Debian and Ubuntu); install them and try again`,
    );
  }
  progress(`installing system packages: ${missing.join(", ")}`);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const install = ["install", "--yes", "--no-install-recommends", ...missing];
  try {
    await runCommand("apt-get", install, { env });
  } catch {
    // The package lists may be missing or old.
    await runCommand("apt-get", ["update"], { env });
    await runCommand("apt-get", install, { env });
  }
  const still = missingPackages();
  if (still.length > 0)
    throw new Error(
      `apt-get installed ${missing.join(", ")} but the programs of ${still.join(", ")} are not found`,
    );
}

function isDebianLike(): boolean {
  if (findExecutable("apt-get") === undefined) return false;
  const release = existsSync("/etc/os-release") ? readFileSync("/etc/os-release", "utf8") : "";
  return /^ID(_LIKE)?=.*\b(debian|ubuntu)\b/m.test(release);
}
