/**
 * The runtime as one file of JavaScript for Node 24.
 *
 * @param entryPoint compiled or TypeScript source of `runtime/main`
 */
export async function bundleRuntime(entryPoint: string): Promise<Uint8Array> {
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
