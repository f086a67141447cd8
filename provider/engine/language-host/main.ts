/** The executable `pulumi-language-nodejs`: the engine starts it, reads the port from its first line of output, and calls it. */
import { Server, ServerCredentials } from "@grpc/grpc-js";
import { LanguageRuntimeService } from "@pulumi/pulumi/proto/language_grpc_pb";
import { version } from "@pulumi/pulumi/version";

import { endAll } from "./child-streams";
import { languageRuntime } from "./runtime-service";

function main(args: readonly string[]): void {
  const engineAddress = args.filter((argument) => !argument.startsWith("-")).at(-1) ?? "";
  // Configuration may be large; the engine sets no limit either.
  const server = new Server({ "grpc.max_receive_message_length": -1 });
  server.addService(LanguageRuntimeService, { ...languageRuntime(version, engineAddress) });
  server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, port) => {
    if (error) throw error;
    process.stdout.write(`${port}\n`);
  });
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      endAll(signal);
      process.exit(0);
    });
  }
  process.on("exit", () => endAll("SIGKILL"));
}

main(process.argv.slice(2));
