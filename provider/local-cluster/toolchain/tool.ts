/** A program that the local clusters or Pulumi need, with the ways to get it. */
export interface Tool {
  readonly name: string;
  readonly version: string;
  /** File names, as they are called. */
  readonly binaries: readonly string[];
  /** How a copy on the PATH tells its version; without it the PATH is not looked at. */
  readonly probe?: { readonly args: readonly string[]; readonly accepts: (output: string) => boolean };
  /** The publisher's own builds for a platform; undefined where there are none. */
  readonly download?: (platform: Platform) => readonly Download[] | undefined;
  readonly build: GoBuild;
}

/** In Go's words, which publishers use in file names: `linux`, `amd64`. */
export interface Platform {
  readonly os: string;
  readonly architecture: string;
}

export interface Download {
  readonly url: string;
  /** The publisher's list of SHA-256 sums (`<sum>  <file>` lines, or the sum alone). */
  readonly checksumUrl: string;
  /** For an archive (.tar.gz): the paths inside of the binaries wanted. Without it the file is the binary itself. */
  readonly members?: readonly string[];
  /** Name of the binary if the download is one. */
  readonly binary?: string;
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
