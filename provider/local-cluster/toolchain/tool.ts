/** A program that the local clusters or Pulumi need, with the ways to get it. */
export interface Tool {
  readonly name: string;
  readonly version: string;
  /** File names, as they are called. */
  readonly binaries: readonly string[];
  /** How a copy on the PATH tells its version; without it the PATH is not looked at. */
  readonly probe?: Probe;
  /** The publisher's own builds for a platform; undefined where there are none. */
  readonly download?: (platform: Platform) => readonly Download[] | undefined;
  /** The archives that a folder or mirror of tools holds, where they are not the ones of `download`. */
  readonly supply?: (platform: Platform) => Supply;
  readonly build: GoBuild;
}

export interface Probe {
  readonly args: readonly string[];
  /** Binaries that tell their version when called otherwise. */
  readonly otherArgs?: Readonly<Record<string, readonly string[]>>;
  readonly accepts: (output: string) => boolean;
}

/** In Go's words, which publishers use in file names: `linux`, `amd64`. */
export interface Platform {
  readonly os: string;
  readonly architecture: string;
}

/** How a file that was fetched becomes binaries. */
export interface Archive {
  /** For an archive (.tar.gz): the paths inside of the binaries wanted. Without it the file is the binary itself. */
  readonly members?: readonly string[];
  /** Name of the binary if the file is one. */
  readonly binary?: string;
}

export interface Download extends Archive {
  readonly url: string;
  /** The publisher's list of SHA-256 sums (`<sum>  <file>` lines, or the sum alone). */
  readonly checksumUrl: string;
}

/** A tool in the form in which a folder or mirror of tools holds it. */
export interface Supply {
  readonly version: string;
  readonly archives: readonly SuppliedArchive[];
}

export interface SuppliedArchive extends Archive {
  /** File name, the publisher's. */
  readonly file: string;
  /** Names of lists with its sum, beside `<file>.sha256` and `SHA256SUMS`. */
  readonly sums?: readonly string[];
}

export interface GoBuild {
  /** Folder below `toolchain/` that holds go.mod and go.sum. */
  readonly module: string;
  /** Package to build; `.` by default. */
  readonly package?: string;
  /** `-X` assignments for the linker. */
  readonly variables?: Readonly<Record<string, string>>;
  /** If true the one binary built acts by the name it is called with, and each of `binaries` is a link to it. */
  readonly multiCall?: boolean;
  /** Minutes that it takes on two cores from nothing, to tell the user. */
  readonly minutes: number;
  /**
   * Makes the folder to build in, for modules whose package does not build as it is.
   * Gets a fresh scratch folder and returns the folder that `go build` runs in.
   */
  readonly prepare?: (context: BuildContext) => Promise<string>;
}

export interface BuildContext {
  /** The module's folder in the package; not to be written to. */
  readonly moduleFolder: string;
  /** Empty folder, removed after the build. */
  readonly scratchFolder: string;
  /** Path of the `go` command. */
  readonly go: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly signal?: AbortSignal;
}
