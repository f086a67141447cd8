import assert from "node:assert/strict";

import { ConfigMap } from "../../../runtime/api/kubernetes";
import { InformerSet } from "../../../runtime/kube";
import { HostileApiServer } from "../../support/hostile-api-server";
import { until } from "../../support/until";

const event = (type: string, metadata: object) =>
  `${JSON.stringify({ type, object: { apiVersion: "v1", kind: "ConfigMap", metadata } })}\n`;
const added = (name: string) => event("ADDED", { name, namespace: "rome", uid: name, resourceVersion: "7" });
const listEnd = event("BOOKMARK", {
  resourceVersion: "7",
  annotations: { "k8s.io/initial-events-end": "true" },
});
const expired = JSON.stringify({ kind: "Status", code: 410, reason: "Expired", message: "too old" });

describe("handlers of a watch", function () {
  this.timeout(60_000);

  it("are told after each whole list, whose changes they know by then", async () => {
    const milan = await HostileApiServer.start();
    const lists = [added("first") + listEnd, added("second") + listEnd];
    milan.answer = (url, response) => {
      if (!url.searchParams.has("sendInitialEvents")) return void response.writeHead(410).end(expired);
      const list = lists.shift();
      // The last one stays open.
      if (lists.length > 0) response.end(list ?? "");
      else response.write(list ?? listEnd);
    };
    const informers = new InformerSet(milan.client());
    try {
      const told: string[] = [];
      const informer = informers.informer(ConfigMap);
      informer.on({
        added: ({ metadata }) => told.push(`added ${metadata.name}`),
        deleted: ({ metadata }) => told.push(`deleted ${metadata.name}`),
        listed: () => told.push("listed"),
      });
      await until("both lists", () => told.length === 5);
      assert.deepEqual(
        ["6", "7", "8", "", "seven"].map((version) => informer.hasReached(version)),
        [true, true, false, false, false],
      );
      assert.deepEqual(told, ["added first", "listed", "deleted first", "added second", "listed"]);
      const late: string[] = [];
      informer.on({ added: () => late.push("added"), listed: () => late.push("listed") });
      assert.deepEqual(late, ["added", "listed"]);
    } finally {
      await informers.stop();
      await milan.close();
    }
  });
});
