import assert from "node:assert/strict";

import fc from "fast-check";

import { consumerView } from "../../../runtime/metric-agent/consumer-view";
import { parseFamilies, parseSample, printFamilies } from "../../../runtime/metric-agent/prometheus-text";

const ROWS = `# HELP container_memory_working_set_bytes [STABLE] Current working set
# TYPE container_memory_working_set_bytes gauge
container_memory_working_set_bytes{container="web",namespace="shop-rome",pod="web-1"} 1.5e+07 1790000000123
container_memory_working_set_bytes{container="web",namespace="shop-rome",pod="web-2"} 7 1790000000123
container_memory_working_set_bytes{container="web",namespace="shop-turin",pod="web-1"} 9 1790000000123
container_memory_working_set_bytes{container="web",namespace="kube-system",pod="dns"} 8
# HELP node_cpu_usage_seconds_total [STABLE] Cumulative cpu time consumed by the node in core-seconds
# TYPE node_cpu_usage_seconds_total counter
node_cpu_usage_seconds_total 100.5 1790000000123
# HELP scrape_error [ALPHA] 1 if there was an error while getting container metrics, 0 otherwise
# TYPE scrape_error gauge
scrape_error 0
`;
const SECOND = ROWS.replaceAll("100.5 1790000000123", "20 1790000000456").replaceAll("web-1", "web-3");

const pods = {
  originalNamespaces: new Map([["shop-rome", "shop"]]),
  isOn: (node: string, namespace: string, pod: string) =>
    namespace === "shop-rome" && pod === (node === "milan-1" ? "web-1" : "web-3"),
};

describe("what a consumer sees of the nodes' metrics", () => {
  it("are its own pods, in the consumer's namespaces, and the nodes as one", () => {
    const text = printFamilies(
      consumerView(
        new Map([
          ["milan-1", ROWS],
          ["milan-2", SECOND],
        ]),
        pods,
      ),
    );
    assert.equal(
      text,
      `# HELP container_memory_working_set_bytes [STABLE] Current working set
# TYPE container_memory_working_set_bytes gauge
container_memory_working_set_bytes{container="web",namespace="shop",pod="web-1"} 1.5e+07 1790000000123
container_memory_working_set_bytes{container="web",namespace="shop",pod="web-3"} 1.5e+07 1790000000123
# HELP node_cpu_usage_seconds_total [STABLE] Cumulative cpu time consumed by the node in core-seconds
# TYPE node_cpu_usage_seconds_total counter
node_cpu_usage_seconds_total 120.5 1790000000456
`,
    );
  });

  it("is nothing of others, where it has nothing", () => {
    const nobody = { originalNamespaces: new Map<string, string>(), isOn: () => false };
    const text = printFamilies(consumerView(new Map([["milan-1", ROWS]]), nobody));
    assert.doesNotMatch(text, /namespace=/);
  });
});

describe("the Prometheus text format", () => {
  const label = fc.tuple(
    fc.stringMatching(/^[a-z_][a-z0-9_]{0,8}$/),
    fc.string({ unit: "grapheme", maxLength: 12 }),
  );

  it("is written as it is read, whatever stands in a label", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(label, { selector: ([key]) => key, maxLength: 5 }),
        fc.float(),
        (labels, value) => {
          const family = {
            name: "m",
            help: "# HELP m text",
            type: "# TYPE m gauge",
            samples: [{ name: "m", labels: new Map(labels), value: String(value), timestamp: 7 }],
          };
          assert.deepEqual(parseFamilies(printFamilies([family])), [family]);
        },
      ),
      { numRuns: 300 },
    );
  });

  it("knows no end of a line but its own", () => {
    for (const separator of ["\u2028", "\u2029", "\r", "\u0085"])
      assert.equal(parseSample(`m{a="x${separator}y"} 1`)?.labels.get("a"), `x${separator}y`);
  });

  it("keeps the samples of a histogram together", () => {
    const text = `# HELP h text\n# TYPE h histogram\nh_bucket{le="+Inf"} 3\nh_sum 7\nh_count 3\n`;
    assert.deepEqual(
      parseFamilies(text).map(({ name, samples }) => [name, samples.length]),
      [["h", 3]],
    );
  });

  it("takes nothing for a sample that is none", () => {
    for (const line of ["", "x", '{a="b"} 1', 'm{a="b"}', "1m 2", "m 1 2 3"])
      assert.equal(parseSample(line), undefined, line);
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (line) => void parseSample(line)),
      { numRuns: 300 },
    );
  });
});
