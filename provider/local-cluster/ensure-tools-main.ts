/** `npm run tools [-- NAME…]`: fetches or builds all tools, or those named, ahead of their first use. */
import { ensureTools } from "./toolchain";
import { toolCatalogue, type ToolName } from "./toolchain/tool-catalogue";

function isToolName(name: string): name is ToolName {
  return Object.hasOwn(toolCatalogue, name);
}

async function main(args: string[]): Promise<void> {
  const known = Object.keys(toolCatalogue).filter(isToolName);
  const unknown = args.filter((name) => !isToolName(name));
  if (unknown.length > 0)
    throw new Error(`no tool named ${unknown.join(", ")}; there are ${known.join(", ")}`);
  const paths = await ensureTools(args.length === 0 ? known : args.filter(isToolName), {
    progress: (line) => console.log(line),
  });
  for (const folder of paths.folders()) console.log(folder);
}

main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
