// The package's `main`: what Pulumi loads when this folder is used as a plugin (PulumiPlugin.yaml). Programs that import the package by
// its name get the components instead, by `exports`. A plugin folder fetched from a repository is not built yet.
"use strict";
const { spawnSync } = require("node:child_process");
const { existsSync } = require("node:fs");
const { join } = require("node:path");

const root = join(__dirname, "..", "..");
const main = join(root, "dist", "plugin", "main.js");
if (!existsSync(main)) {
  // Standard output belongs to the protocol.
  const build = spawnSync("npm", ["run", "build"], { cwd: root, stdio: ["ignore", 2, 2] });
  if (build.status !== 0)
    throw new Error(`the package in ${root} is not built, and "npm run build" failed there`);
}
require(main);
