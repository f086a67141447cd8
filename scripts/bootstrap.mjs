// First step of the npm commands. Plain JavaScript without dependencies, because a clean clone has none and the machine's own Node may be
// old: installs the packages, compiles, and hands over to dist/scripts/<command>.js under the Node 24 that came with the packages.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, lstatSync, readFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const bin = join(root, "node_modules", ".bin");
const environment = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH ?? ""}` };

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"];

const [command, ...parameters] = process.argv.slice(2);
if (!command) fail("usage: node scripts/bootstrap.mjs <command> [arguments]");

if (!packagesInstalled()) installPackages();
await compile();
handOver();

/** Whether node_modules holds the versions of package-lock.json (packages for other platforms aside). */
function packagesInstalled() {
  const installed = readPackages(join(root, "node_modules", ".package-lock.json"));
  const wanted = readPackages(join(root, "package-lock.json"));
  if (wanted === undefined)
    fail("package-lock.json is missing; restore it with: git checkout package-lock.json");
  if (installed === undefined) return false;
  return Object.entries(wanted).every(([path, entry]) => {
    if (path === "" || entry.link) return true;
    const found = installed[path];
    return found === undefined ? entry.optional === true : found.version === entry.version;
  });
}

function readPackages(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8")).packages;
  } catch {
    return undefined; // absent, or cut short by an interrupted installation
  }
}

function installPackages() {
  console.log("Installing the npm packages of package-lock.json …");
  const npm = process.env.npm_execpath;
  const [program, first] = npm?.endsWith(".js") ? [process.execPath, [npm]] : ["npm", []];
  run(
    program,
    [...first, "ci", "--no-fund", "--no-audit", "--loglevel=error"],
    "npm ci failed; see its lines above",
  );
}

/** Says so where it takes longer than a moment; ends with this process when that is interrupted. */
async function compile() {
  const compiler = join(root, "node_modules", "typescript7", "bin", "tsc");
  const notice = setTimeout(() => console.error("Compiling the TypeScript sources …"), 2000);
  const child = spawn(nodeBinary(), [compiler, "-p", join(root, "tsconfig.json")], {
    cwd: root,
    stdio: "inherit",
    env: environment,
  });
  const stop = (signal) => {
    child.kill(signal);
    process.exit(1);
  };
  for (const signal of SIGNALS) process.on(signal, stop);
  const explanation = "the TypeScript sources do not compile; see the lines above";
  const status = await new Promise((done) => {
    child.on("error", (error) => fail(`${explanation} (${error.message})`));
    child.on("exit", done);
  });
  clearTimeout(notice);
  for (const signal of SIGNALS) process.off(signal, stop);
  if (status !== 0) fail(explanation);
}

function handOver() {
  const script = join(root, "dist", "scripts", `${command}.js`);
  if (!existsSync(script)) fail(`there is no command ${command}: ${script} is missing`);
  const child = spawn(nodeBinary(), ["--enable-source-maps", script, ...parameters], {
    stdio: "inherit",
    env: environment,
  });
  for (const signal of SIGNALS) process.on(signal, () => child.kill(signal));
  child.on("error", (error) => fail(`${script} does not start: ${error.message}`));
  child.on("exit", (code, signal) => process.exit(signal === null ? (code ?? 1) : 1));
}

/** Node 24 as the package node-linux-<architecture> brings it; the running Node where that one is missing and new enough. */
function nodeBinary() {
  const packaged = join(bin, "node");
  try {
    lstatSync(packaged);
    return packaged;
  } catch {
    if (Number(process.versions.node.split(".")[0]) >= 22) return process.execPath;
    return fail(
      `Node ${process.versions.node} is too old and no packaged Node exists for ${process.platform}-${process.arch}; install Node 24 or later`,
    );
  }
}

function run(program, parameters_, explanation) {
  const { status, error } = spawnSync(program, parameters_, {
    cwd: root,
    stdio: "inherit",
    env: environment,
  });
  if (error !== undefined) fail(`${explanation} (${error.message})`);
  if (status !== 0) fail(explanation);
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
