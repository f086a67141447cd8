import assert from "node:assert/strict";

import { createLogger, type LogLevel } from "../../../runtime/kube";

function capture(level?: LogLevel): {
  log: ReturnType<typeof createLogger>;
  lines: () => Record<string, unknown>[];
  text: () => string;
} {
  let text = "";
  const log = createLogger({
    level,
    fields: { component: "test" },
    destination: { write: (line: string) => (text += line) },
  });
  const lines = () =>
    text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { log, lines, text: () => text };
}

describe("log", () => {
  it("writes a line of JSON with the message, the level and all fields", () => {
    const { log, lines } = capture();
    log.child({ controller: "tenant" }).warn("reconcile failed", { key: "liqo/rome", retryInMs: 5 });
    const { time, ...rest } = lines()[0] ?? {};
    assert.match(String(time), /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    assert.deepEqual(rest, {
      level: "warn",
      component: "test",
      controller: "tenant",
      key: "liqo/rome",
      retryInMs: 5,
      message: "reconcile failed",
    });
  });

  it("prints no secret on the levels where objects have them", () => {
    const { log, text } = capture();
    const secret = "s3cr3t";
    log.info("one", {
      kubeconfig: secret,
      token: secret,
      privateKey: secret,
      data: { a: secret },
      stringData: { a: secret },
    });
    log.info("two", { object: { data: { k: secret }, kubeconfig: secret, "client-key-data": secret } });
    log.info("three", {
      request: { headers: { authorization: `Bearer ${secret}` } },
      spec: { authParams: { token: secret } },
    });
    assert.equal(text().split("\n").length, 4);
    assert.doesNotMatch(text(), /s3cr3t/);
  });

  it("shows an error's sentence and its causes, and a stack only for faults of the program", () => {
    const { log, lines } = capture();
    log.error("x", { error: new Error("outer", { cause: new Error("inner") }) });
    log.error("y", { error: new TypeError("undefined is not a function") });
    assert.deepEqual(lines()[0]?.error, { type: "Error", message: "outer", causes: ["inner"] });
    assert.match(JSON.stringify(lines()[1]?.error), /"stack":"TypeError: undefined is not a function/);
  });

  it("leaves out what is below its level", () => {
    const { log, text } = capture("warn");
    log.info("quiet");
    log.debug("quieter");
    assert.equal(text(), "");
  });
});
