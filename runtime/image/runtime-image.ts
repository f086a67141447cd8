import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { executableEntries, nameServiceEntries, type Program, programPath } from "./executable-entries";
import {
  archiveFileName,
  type ImageArchive,
  imageId,
  type ImageSpec,
  writeImageArchive,
} from "./image-archive";
import { type Layer, type LayerEntry, writeLayer } from "./layer";
import { busyboxEntries } from "./small-images";

/** Repository of the runtime's image; the tag is a hash of what is in it. */
export const runtimeImageRepository = "localhost/pulumi-liqo/runtime";

/** What the gateway and the fabric agent call, beside Node. */
const programs: Program[] = [
  { name: "ip", debianPackage: "iproute2" },
  { name: "bridge", debianPackage: "iproute2" },
  { name: "nft", debianPackage: "nftables" },
  { name: "wg", debianPackage: "wireguard-tools" },
  { name: "wireguard-go", debianPackage: "wireguard-go" },
  { name: "conntrack", debianPackage: "conntrack" },
];

export interface RuntimeImageOptions {
  /** Where layers and archives are kept; `images` in the cache folder. */
  folder: string;
  /** `runtime/main` of the same build by default. */
  entryPoint?: string;
  /** Path of wireguard-go; by default the one that is installed. */
  wireGuardGo?: string;
}

/**
 * Builds the image of the runtime from this machine's Node and network tools, and a bundle of `runtime/main.ts`. Nothing is written
 * if the same image was built before. The command is `liqo-runtime <component>[,<component>]`.
 *
 * @throws naming the Debian package of a tool that is not installed
 */
export async function buildRuntimeImage(options: RuntimeImageOptions): Promise<ImageArchive> {
  const layersFolder = join(options.folder, "layers");
  const [base, bundle] = await Promise.all([
    baseEntries(options).then((entries) => writeLayer(entries, layersFolder)),
    bundleRuntime(options.entryPoint ?? require.resolve("../main")),
  ]);
  const application = await writeLayer(applicationEntries(bundle), layersFolder);
  const spec = runtimeImageSpec([base, application]);
  const archive = await writeImageArchive(spec, join(options.folder, archiveFileName(spec)));
  removeUnused(options.folder, { name: /^runtime-[0-9a-f]{12}\.tar$/, keep: 5 });
  // A layer is made anew from its sources in seconds; an archive holds copies of its layers.
  removeUnused(layersFolder, { name: /^[0-9a-f]+\.(tar|digest)$/, keep: 0 });
  return archive;
}

function runtimeImageSpec(layers: Layer[]): ImageSpec {
  const unnamed: ImageSpec = {
    name: "",
    layers,
    entrypoint: ["/usr/local/bin/liqo-runtime"],
    environment: { NODE_ENV: "production" },
  };
  return {
    ...unnamed,
    name: `${runtimeImageRepository}:${imageId(unnamed).slice("sha256:".length).slice(0, 12)}`,
  };
}

async function baseEntries({ wireGuardGo }: RuntimeImageOptions): Promise<LayerEntry[]> {
  const executables = await Promise.all([
    executableEntries(nodePath(), "/usr/local/bin/node"),
    shellEntries(),
    ...programs.map((program) => {
      const given = program.name === "wireguard-go" ? wireGuardGo : undefined;
      return executableEntries(given ?? programPath(program), `/usr/local/sbin/${program.name}`);
    }),
  ]);
  const entries = executables.flat();
  return [...(await busyboxEntries()), ...entries, ...nameServiceEntries(entries.map(({ path }) => path))];
}

/** Busybox's shell runs busybox's own `ip` whatever the PATH says, so the image has dash where this machine has it. */
async function shellEntries(): Promise<LayerEntry[]> {
  return existsSync("/bin/dash") ? executableEntries("/bin/dash", "/bin/sh") : [];
}

function applicationEntries(bundle: Uint8Array): LayerEntry[] {
  return [
    { path: "/app/liqo-runtime.js", content: bundle },
    { path: "/app/package.json", content: '{ "name": "pulumi-liqo", "type": "commonjs" }\n' },
    {
      path: "/usr/local/bin/liqo-runtime",
      content: '#!/bin/sh\nexec /usr/local/bin/node /app/liqo-runtime.js "$@"\n',
      mode: 0o755,
    },
  ];
}

/** The Node that the package brings for this platform, else the one that runs now. */
function nodePath(): string {
  try {
    return require.resolve(`node-linux-${process.arch}/bin/node`);
  } catch {
    return process.execPath;
  }
}

/**
 * The runtime as one file of JavaScript for Node 24.
 *
 * @param entryPoint compiled or TypeScript source of `runtime/main`
 */
async function bundleRuntime(entryPoint: string): Promise<Uint8Array> {
  // Loaded here: those who only want the names of images need no compiler in memory.
  const { build } = await import("esbuild");
  const result = await build({
    entryPoints: [entryPoint],
    bundle: true,
    platform: "node",
    target: "node24",
    format: "cjs",
    minifySyntax: true,
    minifyWhitespace: true,
    keepNames: true,
    legalComments: "none",
    write: false,
    logLevel: "silent",
  });
  const [output] = result.outputFiles;
  if (output === undefined) throw new Error(`bundling ${entryPoint} gave no output`);
  return output.contents;
}

/** Other checkouts share the folder: what was used within a day may be theirs. */
const UNUSED_MS = 24 * 3_600_000;

/** Which files of a folder go, of those whose name matches: each change of the runtime's source makes some of a hundred megabytes together. */
interface UnusedFiles {
  name: RegExp;
  /** How many of the newest stay whatever their age. */
  keep: number;
}

/** Removes what nobody used for a day; whoever uses a file sets its time. */
export function removeUnused(folder: string, { name, keep }: UnusedFiles, now = Date.now()): void {
  const files = readdirSync(folder)
    .filter((file) => name.test(file))
    .map((file) => join(folder, file))
    .map((file) => ({ file, time: statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? now }))
    .sort((a, b) => b.time - a.time);
  for (const { file, time } of files.slice(keep)) if (now - time > UNUSED_MS) rmSync(file, { force: true });
}
