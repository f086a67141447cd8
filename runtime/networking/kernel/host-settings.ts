import { readFileSync } from "node:fs";
import { release } from "node:os";

/** What is wrong with the kernel's version; undefined where it is recent enough. */
export function kernelFault(minimum: string, version = release()): string | undefined {
  const [have, want] = [numbers(version), numbers(minimum)];
  for (let index = 0; index < 3; index++) {
    const difference = (have[index] ?? 0) - (want[index] ?? 0);
    if (difference > 0) return undefined;
    if (difference < 0) {
      return `the kernel is ${version}, older than ${minimum}; update it, or start with --disable-kernel-version-check`;
    }
  }
  return undefined;
}

/** `6.1.0-18-amd64` is 6, 1, 0. */
function numbers(version: string): number[] {
  return (/^\d+(\.\d+)*/.exec(version)?.[0] ?? "").split(".").map(Number);
}

/**
 * What keeps the kernel from forwarding packets between interfaces of this network namespace; undefined where nothing does. The settings
 * cannot be written from inside an unprivileged pod: a new namespace has those of its node.
 */
export function forwardingFault(readSetting = setting): string | undefined {
  if (readSetting("net/ipv4/ip_forward") !== "1") {
    return "net.ipv4.ip_forward is 0 in the pod's network namespace, so nothing is forwarded; set it to 1 on the node before the pod starts";
  }
  if (
    readSetting("net/ipv4/conf/all/rp_filter") === "1" ||
    readSetting("net/ipv4/conf/default/rp_filter") === "1"
  ) {
    return "net.ipv4.conf.{all,default}.rp_filter is 1 in the pod's network namespace, so what comes from nodes is dropped; set it to 2 or 0 on the node before the pod starts";
  }
  return undefined;
}

function setting(path: string): string {
  try {
    return readFileSync(`/proc/sys/${path}`, "utf8").trim();
  } catch {
    return "";
  }
}
