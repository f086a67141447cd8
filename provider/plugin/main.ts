#!/usr/bin/env node
/** The plugin `pulumi-resource-pulumi-liqo`: resources and components for Python, Go, C#, Java and YAML programs. */
import { readFileSync } from "node:fs";

import * as pulumi from "@pulumi/pulumi";

import { serveResourcesFromPlugin } from "../core/liqo-resource";
import { PluginProvider } from "./plugin-provider";
import { packageManifest, schemaFile } from "./schema-file";

const { version } = packageManifest();
serveResourcesFromPlugin(version);
const provider = new PluginProvider(version, readFileSync(schemaFile(), "utf8"));
pulumi.provider.main(provider, process.argv.slice(2)).catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
