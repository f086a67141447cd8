import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";

import {
  CertificateSigningRequest,
  Renew,
  ResourceSlice,
  RoleBinding,
  Secret,
  Tenant,
  VirtualNode,
} from "../../runtime/api";
import { eventAbout } from "../support/events";
import type { ManagedCluster } from "../support/managed-cluster";
import {
  atMilan,
  atRome,
  conditionsAt,
  controlPlaneBinding,
  withPeeringOfRome,
} from "../support/peering-of-rome";
import { PeeringSteps } from "../support/peering-steps";
import { permutations } from "../support/permutations";
import { until } from "../support/until";

const sliceAtRome = atRome("pool");
const sliceAtMilan = atMilan("pool");

/** The end is the same, whatever comes first, is made by hand, or dies on the way. */
describe("authentication, of rome at milan", function () {
  this.timeout(180_000);
  const peering = withPeeringOfRome();
  const { controlPlane, assertPeered } = peering;
  let rome: ManagedCluster;
  let milan: ManagedCluster;
  let steps: PeeringSteps;
  before(() => {
    ({ rome, milan, steps } = peering);
  });

  describe("in whatever order the objects come", () => {
    const slice = () => steps.slice();
    const nonce = () => steps.nonceSecret();
    const tenant = () => steps.tenant();
    const identity = () => steps.identity();
    const orders: [string, (() => Promise<void>)[]][] = [
      ["the slice first", [slice, nonce, tenant, identity]],
      ["the Tenant before its nonce", [tenant, slice, nonce, identity]],
      ["the slice last", [nonce, tenant, identity, slice]],
    ];
    for (const [title, order] of orders) {
      it(`ends in the same peering: ${title}`, async () => {
        for (const step of order) await step();
        await assertPeered();
        await steps.remove();
      });
    }

    it("ends in the same peering: namespaces that get their labels last", async () => {
      const late = new PeeringSteps(
        rome,
        milan,
        {
          consumer: { clusterId: "rome", tenantNamespace: "late-to-milan" },
          provider: { clusterId: "milan", tenantNamespace: "late-from-rome" },
        },
        "pool",
      );
      await steps.setPeer(undefined);
      await late.bareNamespaces();
      await late.slice();
      await late.nonceSecret();
      await late.tenant();
      const missing = await eventAbout(
        milan.admin,
        { kind: "Tenant", name: "rome", namespace: "late-from-rome" },
        "TenantNamespaceNotFound",
      );
      assert.match(missing, /liqo\.io\/tenant-namespace=true and liqo\.io\/remote-cluster-id=rome/);
      await late.providerNamespace();
      await late.identity();
      await late.consumerNamespace();
      await until("slice accepted", async () => {
        const { Authentication, Resources } = await conditionsAt(rome.admin, {
          name: "pool",
          namespace: "late-to-milan",
        });
        return Authentication === "Accepted" && Resources === "Accepted";
      });
      await late.remove();
      await late.setPeer(undefined);
      await steps.namespaces();
    });
  });

  describe("without a handshake", () => {
    const user = "guest-of-milan";
    let kubeconfig: string;
    before(async () => {
      kubeconfig = await controlPlane("milan").kubeconfigFor({ name: user });
    });

    const actions: Record<string, () => Promise<void>> = {
      binding: () => steps.roleBinding(user),
      tenant: () => steps.tolerantTenant(),
      secret: () => steps.handmadeSecret(kubeconfig),
      slice: () => steps.slice(),
    };
    for (const order of permutations(Object.keys(actions))) {
      it(`ends in the same peering: ${order.join(", ")}`, async () => {
        for (const name of order) await actions[name]?.();
        await assertPeered();
        assert.equal((await rome.admin.list(Renew, { namespace: "to-milan" })).length, 0);
        assert.equal(
          await milan.admin.get(Secret, { name: "liqo-remote-certificate", namespace: "guests-from-rome" }),
          undefined,
        );
        await steps.remove();
      });
    }

    it("comes back after a drain, though the binding was an administrator's", async () => {
      for (const action of Object.values(actions)) await action();
      await assertPeered();
      const tenant = { name: "my-tenant", namespace: "guests-from-rome" };
      await milan.admin.patch(Tenant, tenant, { spec: { tenantCondition: "Drained" } }, { type: "merge" });
      await until("binding and copies gone", async () => {
        const binding = await milan.admin.get(RoleBinding, controlPlaneBinding);
        return binding === undefined && (await milan.admin.get(ResourceSlice, sliceAtMilan)) === undefined;
      });
      await milan.admin.patch(Tenant, tenant, { spec: { tenantCondition: "Active" } }, { type: "merge" });
      await until("binding back", async () => {
        const binding = await milan.admin.get(RoleBinding, controlPlaneBinding);
        return binding?.subjects?.[0]?.name === user;
      });
      await until("copy back", () => milan.admin.get(ResourceSlice, sliceAtMilan));
      await until("virtual node", () => rome.admin.get(VirtualNode, sliceAtRome));
      await steps.remove();
    });
  });

  describe("in processes that are killed", () => {
    before(() => Promise.all([rome.stop(), milan.stop()]));

    it("ends in the same peering, whenever they die", async () => {
      const clusters = [rome, milan];
      await Promise.all(clusters.map((cluster) => cluster.spawn()));
      const deaths = async () => {
        // Long enough to begin something, short enough to finish little.
        for (let death = 0; death < 8; death++) {
          await pause(400 + 150 * death);
          const cluster = clusters[death % 2];
          await cluster?.kill("SIGKILL");
          await cluster?.spawn();
        }
      };
      const dying = deaths();
      await steps.nonceSecret();
      await steps.tenant();
      await steps.identity();
      await steps.slice();
      await dying;
      await assertPeered();
      const requests = await milan.admin.list(CertificateSigningRequest, {
        labelSelector: "liqo.io/remote-tenant-csr=true",
      });
      const names = requests.map(({ metadata }) => metadata.name);
      assert.equal(
        names.length,
        2,
        `one for each identity, however often they were asked for: ${names.join(", ")}`,
      );
    });

    it("end in an orderly way when they are told to", async () => {
      await Promise.all([rome.untilStarted(), milan.untilStarted()]);
      assert.equal(await rome.kill("SIGTERM"), 0);
      assert.equal(await milan.kill("SIGTERM"), 0);
      await Promise.all([rome.start(), milan.start()]);
      await steps.remove();
    });
  });
});
