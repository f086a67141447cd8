import { readFileSync } from "node:fs";

import type { LabHost, LabProcess } from "./network-lab";
import { until } from "./until";

/** A pod that runs; also names its object. */
export interface LabPod {
  host: LabHost;
  address: string;
  name: string;
  namespace: string;
  node: string;
}

/** An agent in a process of its own, which can be killed and started again. */
export class LabAgent {
  private process: LabProcess;

  constructor(
    private readonly host: LabHost,
    private readonly starts: () => LabProcess,
    private readonly logFile: string,
  ) {
    this.process = starts();
  }

  log(): string {
    return readFileSync(this.logFile, "utf8");
  }

  async kill(): Promise<void> {
    await this.process.end("SIGKILL");
  }

  async terminate(): Promise<void> {
    await this.process.end("SIGTERM");
  }

  restart(): void {
    this.process = this.starts();
  }

  async untilReady(): Promise<void> {
    await until(`${this.logFile} says that it is ready`, async () => {
      if (this.process.ended) throw new Error(this.log().slice(-4_000));
      await this.get("8081/readyz");
      return true;
    });
  }

  /** A metric's value, all its labels added up; 0 where it is not there. */
  async metric(name: string): Promise<number> {
    const text = await this.get("8082/metrics");
    const lines = text
      .split("\n")
      .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`));
    return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
  }

  async metrics(): Promise<string> {
    return await this.get("8082/metrics");
  }

  private async get(path: string): Promise<string> {
    const script = `fetch("http://127.0.0.1:${path}").then(async (answer) => {
      process.stdout.write(await answer.text());
      process.exitCode = answer.ok ? 0 : 1;
    });`;
    return await this.host.run(`'${process.execPath}' -e '${script}'`);
  }
}
