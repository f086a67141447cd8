import { join } from "node:path";

import { buildBusyboxImage, buildRuntimeImage, type ImageArchive } from "../../runtime/image";
import { cacheFolder } from "./folders";
import { kindUsable } from "./kind/kind-backend";
import { ensureSystemPackages } from "./system-packages";
import { ensureTools, type EnsureToolsOptions } from "./toolchain";
import { ToolSourceFault } from "./toolchain/tool-source";

/** The images that local clusters cannot pull from anywhere, as archives to load into their nodes. */
export interface LocalImages {
  /** The runtime of this checkout; its tag is a hash of what is in it. */
  runtime: ImageArchive;
  /** A shell and the usual commands, for applications to try things with. */
  busybox: ImageArchive;
}

/**
 * Builds the images from this machine's own programs, or finds them built. Where clusters will run natively, system packages that are
 * missing are installed first, on Debian and Ubuntu.
 *
 * @throws naming the package whose program is missing
 */
export async function localImages(
  progress?: (line: string) => void,
  options: Pick<EnsureToolsOptions, "signal" | "plan"> = {},
): Promise<LocalImages> {
  if (!(await kindUsable())) await ensureSystemPackages(progress);
  const folder = join(cacheFolder(), "images");
  const wireGuardGo = await newWireGuardGo({ ...options, ...(progress && { progress }) });
  const [runtime, busybox] = await Promise.all([
    buildRuntimeImage({ folder, ...(wireGuardGo !== undefined && { wireGuardGo }) }),
    buildBusyboxImage(folder),
  ]);
  return { runtime, busybox };
}

/** Distributions have one of 2022, which takes each packet by itself: the same machine carries an eighth with it. It works all the same. */
async function newWireGuardGo(options: EnsureToolsOptions): Promise<string | undefined> {
  try {
    return (await ensureTools(["wireguard-go"], options)).of("wireguard-go");
  } catch (error) {
    options.signal?.throwIfAborted();
    if (error instanceof ToolSourceFault) throw error;
    options.progress?.(
      `the image gets the wireguard-go that is installed, which is slow: ${error instanceof Error ? error.message : String(error)}`,
    );
    return undefined;
  }
}
