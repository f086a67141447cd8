import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";

import { ConfigMap } from "../../../runtime/api/kubernetes";
import { InformerSet } from "../../../runtime/kube";
import { type HostileAnswer, HostileApiServer } from "../../support/hostile-api-server";
import { until } from "../../support/until";

const event = (type: string, object: unknown) => `${JSON.stringify({ type, object })}\n`;
const configMap = (name: string, resourceVersion: string) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "rome", uid: name, resourceVersion },
});
const listEnd = event("BOOKMARK", {
  kind: "ConfigMap",
  apiVersion: "v1",
  metadata: { resourceVersion: "7", annotations: { "k8s.io/initial-events-end": "true" } },
});
const list = event("ADDED", configMap("there", "7")) + listEnd;
const expired = JSON.stringify({ kind: "Status", code: 410, reason: "Expired", message: "too old" });
const isList = (url: URL) => url.searchParams.has("sendInitialEvents");

describe("watches that do not last", function () {
  this.timeout(60_000);
  let milan: HostileApiServer;
  let informers: InformerSet;

  beforeEach(async () => {
    milan = await HostileApiServer.start();
    informers = new InformerSet(milan.client());
  });
  afterEach(async () => {
    await informers.stop();
    await milan.close();
  });

  let version = 7;
  const cases: [string, HostileAnswer, RegExp][] = [
    [
      "because the server ends them at once",
      (url, response) => void response.end(isList(url) ? list : ""),
      /the server ended it within 5 s of its beginning, \d+ times in a row/,
    ],
    [
      "because the server ends them after each event",
      (url, response) =>
        void response.end(isList(url) ? list : event("MODIFIED", configMap("there", String((version += 1))))),
      /the server ended it within 5 s/,
    ],
    [
      "because the server ends its list at once",
      (_url, response) => void response.end(event("ADDED", configMap("there", "7"))),
      /the list ended before it was complete/,
    ],
    [
      "because their history is gone, ever again",
      (url, response) => {
        if (isList(url)) response.writeHead(422).end("{}");
        else if (url.searchParams.has("watch")) response.writeHead(410).end(expired);
        else response.end(JSON.stringify({ metadata: { resourceVersion: "7" }, items: [] }));
      },
      /the server has no history of its own list \(410\) within 5 s/,
    ],
    [
      "because their history is gone in the middle, ever again",
      (_url, response) => void response.end(list + event("ERROR", JSON.parse(expired))),
      /the server has no history of its own list \(410\) within 5 s/,
    ],
    [
      "because the list itself is gone, ever again",
      (_url, response) => void response.writeHead(410).end(expired),
      /410 Expired: too old/,
    ],
    [
      "because each sends what is no event",
      (_url, response) => {
        response.write(`${list}nonsense\n`);
      },
      /a line of the stream is not JSON/,
    ],
  ];
  for (const [name, answer, problem] of cases) {
    it(`are waited for longer and longer, ${name}`, async () => {
      milan.answer = answer;
      const watch = informers.informer(ConfigMap);
      await until("a problem", () => watch.problem, { everyMs: 1 });
      await pause(2_000);
      // At once, then after 200, 400, 800 and 1,600 ms, each time with another list at the most.
      assert.ok(milan.requests.length <= 13, `${milan.requests.length} requests`);
      assert.match(watch.problem ?? "", problem);
      assert.match(watch.problem ?? "", /^watch configmaps: /);
    });
  }

  it("are waited for, because each is cut after an event", async () => {
    let told = 7;
    milan.answer = (url, response, request) => {
      response.write(isList(url) ? list : event("MODIFIED", configMap("there", String((told += 1)))));
      setTimeout(() => request.stream.session?.destroy(), 10);
    };
    const watch = informers.informer(ConfigMap);
    await until("a problem", () => watch.problem, { everyMs: 1 });
    assert.match(watch.problem ?? "", /times in a row$/);
    const before = milan.requests.length;
    await pause(2_000);
    assert.ok(milan.requests.length - before < 30, `${milan.requests.length - before} requests`);
  });

  it("are forgotten once one lasts, and one that lasted begins anew at once", async () => {
    let ending = true;
    const open = new Set<() => void>();
    milan.answer = (url, response) => {
      response.write(isList(url) ? list : event("BOOKMARK", configMap("", "8")));
      if (ending) response.end();
      else open.add(() => response.end());
    };
    const watch = informers.informer(ConfigMap);
    await until("a problem", () => watch.problem !== undefined && milan.requests.length > 4);
    ending = false;
    await until("a watch", () => open.size === 1);
    assert.notEqual(watch.problem, undefined);
    await until("the end of the problem", () => watch.problem === undefined, { timeoutMs: 8_000 });
    const before = performance.now();
    for (const end of open) end();
    await until("the next watch", () => open.size === 2, { everyMs: 1 });
    assert.ok(performance.now() - before < 150);
    assert.equal(watch.problem, undefined);
  });
});
