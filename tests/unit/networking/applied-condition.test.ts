import assert from "node:assert/strict";
import { RefusedNamespaces } from "../../../runtime/networking/agent/applied-condition";

describe("the namespaces in which a gateway may not report", () => {
  type Step = [at: number, what: "refuse" | "accept" | "ask", namespace: string, answer?: boolean];
  const rows: [title: string, steps: Step[]][] = [
    ["are none at first", [[0, "ask", "shop", false]]],
    [
      "are left alone for a minute each",
      [
        [1_000, "refuse", "shop", true],
        [1_000, "ask", "shop", true],
        [1_000, "ask", "liqo-system", false],
        [60_999, "ask", "shop", true],
        [61_000, "ask", "shop", false],
      ],
    ],
    [
      "are told of once, however often they are tried again",
      [
        [0, "refuse", "shop", true],
        [61_000, "refuse", "shop", false],
        [61_000, "ask", "shop", true],
        [62_000, "refuse", "bank", true],
      ],
    ],
    [
      "are told of again where rights were given and taken away",
      [
        [0, "refuse", "shop", true],
        [61_000, "accept", "shop"],
        [61_000, "ask", "shop", false],
        [62_000, "refuse", "shop", true],
      ],
    ],
  ];
  for (const [title, steps] of rows) {
    it(title, () => {
      let now = 0;
      const refused = new RefusedNamespaces(() => now);
      for (const [at, what, namespace, answer] of steps) {
        now = at;
        const given =
          what === "ask"
            ? refused.isRefused(namespace)
            : what === "refuse"
              ? refused.refuse(namespace)
              : refused.accept(namespace);
        assert.equal(given, answer, `${what} ${namespace} at ${at}`);
      }
    });
  }
});
