import assert from "node:assert/strict";

import { forwardingFault, kernelFault } from "../../../runtime/networking/kernel/host-settings";

describe("what a host must be like", () => {
  it("is a kernel of some age", () => {
    assert.equal(kernelFault("5.10.0", "6.1.0-18-amd64"), undefined);
    assert.equal(kernelFault("5.10.0", "5.10.0"), undefined);
    assert.match(
      kernelFault("5.10.0", "5.9.16-generic") ?? "",
      /^the kernel is 5\.9\.16-generic, older than 5\.10\.0/,
    );
    assert.match(kernelFault("5.10.0", "4.18.0") ?? "", /4\.18\.0/);
  });

  it("is a namespace that forwards, and takes packets by whatever way they come", () => {
    const settings =
      (values: Record<string, string>) =>
      (path: string): string =>
        values[path] ?? "0";
    assert.equal(forwardingFault(settings({ "net/ipv4/ip_forward": "1" })), undefined);
    assert.match(forwardingFault(settings({})) ?? "", /^net\.ipv4\.ip_forward is 0/);
    const strict = { "net/ipv4/ip_forward": "1", "net/ipv4/conf/default/rp_filter": "1" };
    assert.match(forwardingFault(settings(strict)) ?? "", /rp_filter is 1/);
  });
});
