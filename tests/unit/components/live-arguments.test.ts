/** No argument of a component may be forgotten where changes on a live stack are tried. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";

import { z } from "zod";

import { fleetShape } from "../../../components/fleet/fleet";
import { installationShape, networkingShape } from "../../../components/installation/installation-args";
import { namespaceOffloadingShape } from "../../../components/offloading/namespace-offloading";
import { resourceSliceShape } from "../../../components/offloading/resource-slice";
import { virtualNodeShape } from "../../../components/offloading/virtual-node";
import { authenticationPeeringShape } from "../../../components/peering/authentication-peering";
import { networkPeeringShape } from "../../../components/peering/network-peering";
import { peeringShape } from "../../../components/peering/peering";
import { networkLinkSchema } from "../../../runtime/plan/networking/peering";
import { LIVE_ARGUMENTS } from "../../support/live-arguments";

const components: Record<string, z.ZodType> = {
  Installation: installationShape,
  AuthenticationPeering: authenticationPeeringShape,
  NetworkPeering: networkPeeringShape,
  Peering: peeringShape,
  ResourceSlice: resourceSliceShape,
  VirtualNode: virtualNodeShape,
  NamespaceOffloading: namespaceOffloadingShape,
  Fleet: fleetShape,
};
/** Arguments whose own are looked at one by one. */
const parts: Record<string, z.ZodType> = {
  "NetworkPeering.link": networkLinkSchema,
  "Installation.networking": networkingShape,
};

function keysOf(schema: z.ZodType): string[] {
  assert.ok(schema instanceof z.ZodObject);
  return Object.keys(schema.shape);
}

describe("the arguments that are changed on a live stack", () => {
  const all = [...Object.entries(components), ...Object.entries(parts)].flatMap(([of, schema]) =>
    keysOf(schema).map((key) => `${of}.${key}`),
  );

  it("are all that the components have", () => {
    assert.deepEqual(Object.keys(LIVE_ARGUMENTS).sort(), all.sort());
  });

  it("are changed in tests that exist", () => {
    const folder = join(__dirname, "..", "..", "e2e");
    const missing = Object.values(LIVE_ARGUMENTS).filter(
      ([, test]) => test !== "" && !existsSync(join(folder, `${test}.test.js`)),
    );
    assert.deepEqual(missing, []);
  });
});
