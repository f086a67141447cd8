import assert from "node:assert/strict";

import { GatewayClient, GatewayServer } from "../../../runtime/api";
import { TUNNEL_MTU } from "../../../runtime/api/networking/gateway";
import { networkLinkSchema } from "../../../runtime/plan/networking/peering";

const server = (spec: object, status?: object) => ({
  apiVersion: "networking.liqo.io/v1beta1",
  kind: "GatewayServer",
  metadata: { name: "rome", namespace: "liqo-tenant-rome" },
  spec,
  ...(status !== undefined && { status }),
});

const client = (spec: object) => ({
  apiVersion: "networking.liqo.io/v1beta1",
  kind: "GatewayClient",
  metadata: { name: "milan", namespace: "liqo-tenant-milan" },
  spec,
});

describe("ports and MTUs of gateways", () => {
  it("are taken up to their bounds, and no node port is written as 0", () => {
    for (const spec of [
      { mtu: TUNNEL_MTU.min, endpoint: { port: 1, nodePort: 0 } },
      { mtu: TUNNEL_MTU.max, endpoint: { port: 65_535, nodePort: 65_535 } },
      { endpoint: { ports: [51840, 51841], nodePorts: [30742, 0] } },
    ]) {
      assert.doesNotThrow(() => GatewayServer.parse(server(spec)), JSON.stringify(spec));
    }
    assert.doesNotThrow(() => GatewayClient.parse(client({ mtu: 1280, endpoint: { port: 65_535 } })));
  });

  it("are refused beyond them, with a way out", () => {
    assert.throws(() => GatewayServer.parse(server({ mtu: 100 })), {
      message:
        'GatewayServer "liqo-tenant-rome/rome": spec.mtu: 100 is no MTU of a tunnel; write bytes from 576 to 65535',
    });
    assert.throws(() => GatewayServer.parse(server({ endpoint: { port: 51840, nodePort: 70_000 } })), {
      message:
        'GatewayServer "liqo-tenant-rome/rome": spec.endpoint.nodePort: 70000 is no port; write one of the cluster\'s node port range, or leave it out to have one drawn',
    });
    assert.throws(() => GatewayClient.parse(client({ endpoint: { port: 99_999 } })), {
      message:
        'GatewayClient "liqo-tenant-milan/milan": spec.endpoint.port: 99999 is no port; write one from 1 to 65535',
    });
  });

  it("that an earlier definition let in are still read, and so is a status that somebody else wrote", () => {
    const old = server({ mtu: 100, endpoint: { port: 0 } }, { endpoint: { addresses: [""], port: 0 } });
    assert.equal(GatewayServer.fromApiServer(old).spec.mtu, 100);
    const told = server({ endpoint: { port: 51840 } }, { endpoint: { addresses: [""], port: 0 } });
    assert.equal(GatewayServer.parse(told).status?.endpoint?.port, 0);
  });

  it("of components lie within those of plain manifests", () => {
    for (const mtu of [1280, 9000]) {
      const link = networkLinkSchema.parse({ mtu });
      assert.doesNotThrow(() => GatewayServer.parse(server({ mtu: link.mtu })));
    }
  });
});
