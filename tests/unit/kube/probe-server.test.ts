import assert from "node:assert/strict";

import { createRegistry, Health, startProbeServer } from "../../../runtime/kube";
import { parseAddress } from "../../../runtime/kube/manager/probe-server";

describe("probe server", () => {
  it("answers for health as the sum of the checks, and serves metrics", async () => {
    const health = new Health();
    const metrics = createRegistry();
    const server = await startProbeServer({ address: "127.0.0.1:0", health, metrics });
    const get = async (path: string) => {
      const response = await fetch(`http://127.0.0.1:${server.port}${path}`);
      return { status: response.status, text: await response.text() };
    };
    try {
      assert.deepEqual(await get("/livez"), { status: 200, text: "ok\n" });
      let problem: string | undefined = "not synced";
      const takeBack = health.addReadiness("caches", () => problem);
      health.addReadiness("peer", () => Promise.reject(new Error("no answer")));
      assert.deepEqual(await get("/readyz?verbose"), {
        status: 503,
        text: "[-] caches: not synced\n[-] peer: no answer\nnot ok\n",
      });
      assert.equal((await get("/healthz")).status, 200);
      health.addReadiness("peer", () => undefined);
      problem = undefined;
      assert.deepEqual(await get("/readyz"), { status: 200, text: "[+] caches\n[+] peer\nok\n" });
      problem = "gone again";
      takeBack();
      assert.equal((await get("/readyz")).status, 200);
      const { text } = await get("/metrics");
      assert.match(text, /^process_resident_memory_bytes \d{7,}$/m);
      assert.match(text, /^process_cpu_seconds_total [\d.e-]+$/m);
      assert.equal((await get("/")).status, 404);
    } finally {
      await server.close();
    }
  });

  it("names the address that it cannot have", async () => {
    const taken = await startProbeServer({ address: "127.0.0.1:0" });
    const address = `127.0.0.1:${taken.port}`;
    await assert.rejects(startProbeServer({ address }), new RegExp(`on ${address}: .*EADDRINUSE`));
    await taken.close();
  });

  it("reads addresses as people write them", () => {
    assert.deepEqual(parseAddress(":8081"), { host: undefined, port: 8081 });
    assert.deepEqual(parseAddress("0.0.0.0:0"), { host: "0.0.0.0", port: 0 });
    assert.deepEqual(parseAddress("[::1]:8080"), { host: "::1", port: 8080 });
    for (const wrong of ["8080", "host:", ":99999", "::1:80"])
      assert.throws(() => parseAddress(wrong), /is not an address/);
  });
});
