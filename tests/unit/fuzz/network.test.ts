import assert from "node:assert/strict";

import fc from "fast-check";

import { parseClassList } from "../../../runtime/authentication/slice-class";
import {
  decodeMessage,
  encodeMessage,
  LONGEST_MESSAGE,
  messageTime,
  nanoseconds,
  pongTo,
} from "../../../runtime/gateway/ping-session";
import { renderTemplate } from "../../../runtime/networking/template/evaluate";
import { TemplateError } from "../../../runtime/networking/template/tokens";
import { kubeletRoute } from "../../../runtime/virtual-kubelet/kubelet/kubelet-route";
import { anyText, mutated, mutation, runs, timed } from "./mutation";

describe("ping messages, given anything", () => {
  const ping = { clusterID: "milan", msgType: "PING" as const, timeStamp: messageTime(1_790_000_000_000) };

  it("are read as they were written, or not at all", () => {
    fc.assert(
      fc.property(fc.array(mutation, { maxLength: 3 }), (mutations) => {
        const read = decodeMessage(mutated(encodeMessage(ping), mutations));
        if (read === undefined) return;
        assert.ok(["PING", "PONG"].includes(read.msgType));
        assert.equal(typeof nanoseconds(read.timeStamp), "bigint");
        assert.deepEqual(decodeMessage(encodeMessage(pongTo(read))), { ...read, msgType: "PONG" });
      }),
      runs(500),
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2 * LONGEST_MESSAGE }), (bytes) => {
        assert.equal(decodeMessage(bytes), undefined);
      }),
      runs(200),
    );
    fc.assert(
      fc.property(fc.json(), (json) => void decodeMessage(Buffer.from(json))),
      runs(200),
    );
  });

  it("carry a time that there is", () => {
    for (const time of [
      "2026-02-30T00:00:00Z",
      "2026-02-28T24:00:00Z",
      "2026-13-01T00:00:00Z",
      "2026-02-28T00:00:00+99:00",
    ])
      assert.equal(nanoseconds(time), undefined, time);
    assert.equal(nanoseconds("1970-01-01T01:00:00.000000001+01:00"), 1n);
    fc.assert(
      fc.property(fc.date({ min: new Date(0), max: new Date("9000-01-01"), noInvalidDate: true }), (date) => {
        assert.equal(nanoseconds(messageTime(date.getTime())), BigInt(date.getTime()) * 1_000_000n);
      }),
      runs(200),
    );
  });

  it("are too long above a limit, whatever is in them", () => {
    const long = encodeMessage({ ...ping, clusterID: "m".repeat(LONGEST_MESSAGE) });
    assert.equal(decodeMessage(long), undefined);
  });
});

describe("templates, given anything", function () {
  this.timeout(180_000);
  const data = {
    Name: "gw-milan",
    Spec: { Port: 51_840, Nodes: ["a", "b"], Labels: new Map([["a", "1"]]) },
  };
  const render = (template: string) => {
    try {
      assert.equal(typeof renderTemplate(template, data), "string");
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
    }
  };
  const words = fc.constantFrom(
    "{{",
    "}}",
    "{{-",
    "-}}",
    "if",
    "else",
    "end",
    "range",
    "with",
    "$",
    "$x",
    ":=",
    "=",
    ".",
    ".Name",
    ".Spec",
    ".Spec.Port",
    ".Spec.Labels",
    "|",
    "(",
    ")",
    ",",
    "eq",
    "and",
    "or",
    "index",
    "printf",
    "len",
    "not",
    '"%d"',
    '"',
    "`",
    "/*",
    "*/",
    "1",
    "-7",
    "x",
    " ",
    "\n",
    "999999999999",
    "nil",
    "true",
  );

  it("are rendered, or refused in their own words", () => {
    fc.assert(fc.property(anyText, render), runs(200));
    fc.assert(
      fc.property(fc.array(words, { maxLength: 25 }), (parts) => render(parts.join(" "))),
      runs(1_500),
    );
    fc.assert(
      fc.property(fc.array(fc.array(words, { maxLength: 5 }), { maxLength: 6 }), (actions) =>
        render(actions.map((action) => `{{${action.join(" ")}}}`).join("text")),
      ),
      runs(1_500),
    );
  });

  it("take neither all time nor all memory", () => {
    for (const template of [
      "{{range 2000000000}}x{{end}}",
      "{{range 1000}}{{range 1000}}{{range 1000}}x{{end}}{{end}}{{end}}",
      `a${" ".repeat(200_000)}b{{- .Name}}`,
      "{{if .Name}}".repeat(20_000),
      `{{${"(".repeat(20_000)}}}`,
      `{{${"not (".repeat(20_000)}.Name${")".repeat(20_000)}}}`,
      `{{"${"\\\\".repeat(100_000)}`,
      "{{/*".repeat(20_000),
    ]) {
      const took = timed(() => render(template));
      assert.ok(took < 2_000, `${template.slice(0, 30)}… took ${took} ms`);
    }
  });
});

describe("what peers and users write in one line, given anything", () => {
  it("class lists name their classes, or the entry that is wrong", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("nginx", ";", ",", "default", " ", "traefik")), (parts) => {
        let classes;
        try {
          classes = parseClassList(parts.join(""));
        } catch (error) {
          assert.match(String(error), /is not of the form NAME or NAME;default/);
          return;
        }
        for (const { name } of classes) assert.ok(name !== "" && !/[;,]/.test(name), name);
      }),
      runs(300),
    );
  });

  it("requests to a kubelet lead to a pod or nowhere", () => {
    fc.assert(
      fc.property(fc.oneof(anyText, fc.webPath({ size: "small" })), (target) => {
        for (const prefix of ["", "/exec/", "/containerLogs/shop/web/", "/../portForward/"]) {
          const route = kubeletRoute(prefix + target);
          if (route?.about !== "pod") continue;
          for (const segment of [route.namespace, route.pod]) {
            assert.ok(!segment.includes("/") && segment !== ".." && segment !== "", prefix + target);
          }
        }
      }),
      runs(400),
    );
  });
});
