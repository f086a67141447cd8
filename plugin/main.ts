#!/usr/bin/env node
/** The plugin `pulumi-resource-pulumi-liqo`: resources and components for Python, Go, C#, Java and YAML programs. */
import { readFileSync } from "node:fs";

import * as pulumi from "@pulumi/pulumi";

import { serveResourcesFromPlugin } from "../provider/core/liqo-resource";
import { packageManifest, PluginProvider, schemaFile } from "./plugin-provider";

const { version } = packageManifest();
serveResourcesFromPlugin(version);
const provider = new PluginProvider(version, readFileSync(schemaFile(), "utf8"));
pulumi.provider.main(provider, process.argv.slice(2)).catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
