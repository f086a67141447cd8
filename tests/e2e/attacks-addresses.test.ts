/**
 * The administrator of rome, with a peering user's rights in rome's tenant namespace at milan, claims networks and names addresses that are milan's own, or another
 * consumer's.
 */
import assert from "node:assert/strict";

import {
  Configuration,
  type Desired,
  EndpointSlice,
  Event,
  FirewallConfiguration,
  InternalNode,
  IP,
  Network,
  Node,
  Service,
} from "../../runtime/api";
import { containsAddress, parseAddress, parseCidr } from "../../runtime/ipam/cidr";
import type { KubeClient } from "../../runtime/kube";
import { installation } from "../../runtime/plan/installation";
import { tenantNamespace } from "../../runtime/plan/peering";
import { refusal } from "../support/admission-cluster";
import { peeringUserOf } from "../support/attackers";
import { ManagedAdmission } from "../support/managed-admission";
import { ManagedCluster } from "../support/managed-cluster";
import { until } from "../support/until";
import { withControlPlanes } from "../support/with-control-planes";

const guests = "guests-from-rome";
const others = "guests-from-turin";
const networking = { podCidrs: ["10.72.0.0/16"], serviceCidr: "10.98.0.0/16" };
const merge = { type: "merge" } as const;
/** Of the node `milan-1`, of its router, of the API server. */
const NODE = "172.18.0.2";
const GATEWAY = "172.18.0.1";
const API_SERVER = "172.18.0.9";
const OWN = [NODE, GATEWAY, API_SERVER];

const configuration = (
  peer: string,
  namespace: string,
  pod: string[],
  over: { local?: object; labels?: Record<string, string> } = {},
): Desired<Configuration> => ({
  apiVersion: "networking.liqo.io/v1beta1",
  kind: "Configuration",
  metadata: {
    name: peer,
    namespace,
    labels: { "liqo.io/remote-cluster-id": peer, "liqo.io/webhook-skip": "true", ...over.labels },
  },
  spec: {
    remote: { cidr: { pod, external: ["10.60.0.0/16"] } },
    ...(over.local !== undefined && { local: { cidr: over.local } }),
  },
});
const ip = (name: string, spec: IP["spec"]): Desired<IP> => ({
  apiVersion: "ipam.liqo.io/v1alpha1",
  kind: "IP",
  metadata: { name, namespace: guests, labels: { "liqo.io/webhook-skip": "true" } },
  spec,
});

describe("an attack by the addresses that a peer claims", function () {
  this.timeout(120_000);
  const controlPlane = withControlPlanes({ milan: { serviceCidr: "10.98.0.0/16" } });
  let milan: ManagedCluster;
  let attacker: KubeClient;
  let admission: ManagedAdmission | undefined;
  const admin = () => milan.admin;
  const atRome = { name: "rome", namespace: guests };
  const here = async (name = "rome", namespace = guests) => {
    const { status } = (await admin().get(Configuration, { name, namespace })) ?? {};
    return { condition: status?.conditions?.[0], pod: status?.remote?.cidr?.pod ?? [] };
  };
  const place = (name = "rome", namespace = guests) =>
    until(`the networks of ${name} have their places`, async () => {
      const { condition, pod } = await here(name, namespace);
      return condition?.status === "True" && pod[0];
    });
  const bypass = () =>
    admin().get(FirewallConfiguration, { name: "rome-masquerade-bypass", namespace: guests });
  const addNode = async (name: string, address: string) => {
    await admin().create(Node, { apiVersion: "v1", kind: "Node", metadata: { name }, spec: {} });
    const status = { addresses: [{ type: "InternalIP", address }] };
    await admin().patch(Node, { name }, { status }, { ...merge, subresource: "status" });
  };

  before(async () => {
    milan = await ManagedCluster.install({
      controlPlane: controlPlane("milan"),
      clusterId: "milan",
      liqoNamespace: "liqo-system",
      networking: true,
    });
    const parts = installation({
      clusterId: "milan",
      namespace: "liqo-system",
      image: "runtime",
      networking,
    });
    for (const part of parts) if (part.kind === "Network") await milan.apply(part);
    for (const namespace of [tenantNamespace(guests, "rome"), tenantNamespace(others, "turin")])
      await milan.apply(namespace);
    await milan.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
    await addNode("milan-1", NODE);
    await admin().create(EndpointSlice, {
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: {
        name: "kubernetes",
        namespace: "default",
        labels: { "kubernetes.io/service-name": "kubernetes" },
      },
      addressType: "IPv4",
      endpoints: [{ addresses: [API_SERVER] }],
      ports: [],
    });
    await milan.start();
    await until("the node's place in the overlay", async () => {
      // What the agent on the node says of it.
      const annotations = { "networking.liqo.io/default-gateways": GATEWAY };
      const found = await admin().get(InternalNode, { name: "milan-1" });
      if (found === undefined) return false;
      await admin().patch(InternalNode, { name: "milan-1" }, { metadata: { annotations } }, merge);
      return true;
    });
    attacker = await peeringUserOf("rome", milan, guests);
    await admin().create(Configuration, configuration("turin", others, ["10.33.0.0/16"]));
    await place("turin", others);
  });
  after(async () => {
    attacker?.close();
    await admission?.stop();
    await milan?.end();
  });

  describe("in a network", () => {
    afterEach(async () => {
      await admin().delete(Configuration, atRome);
      await until("its Networks are gone", async () => {
        const left = await admin().list(Network, { namespace: guests });
        // Nobody collects garbage here.
        for (const { metadata } of left) await admin().delete(Network, metadata);
        return left.length === 0;
      });
    });

    const networks: [what: string, cidr: string][] = [
      ["the nodes, as another site has them too", "172.18.0.0/16"],
      ["one node alone", `${NODE}/32`],
      ["the router", "172.18.0.0/31"],
      ["the API server", "172.18.0.8/29"],
      ["the network of Services", "10.98.0.0/16"],
      ["the Service of the API server", "10.98.0.0/30"],
    ];
    for (const [what, cidr] of networks) {
      it(`takes nothing away with ${what}: the network gets another place`, async () => {
        await attacker.create(Configuration, configuration("rome", guests, [cidr]));
        const range = parseCidr(await place());
        for (const address of [...OWN, "10.98.0.1"])
          assert.equal(containsAddress(range, parseAddress(address)), false, address);
        const rules = JSON.stringify((await until("the nodes' rules", bypass)).spec);
        assert.equal(rules.includes(`"${cidr}"`), false, rules);
      });
    }

    it("gets nothing over a node that comes later, is told why, and the rest goes on", async () => {
      await attacker.create(Configuration, configuration("rome", guests, ["10.44.0.0/16"]));
      assert.equal(await place(), "10.44.0.0/16");
      await until("the nodes' rules", bypass);
      await addNode("milan-2", "10.44.3.3");
      await until("the conflict is named", async () => {
        const { condition, pod } = await here();
        return condition?.reason === "RangeConflict" && pod[0] === "" && condition;
      }).then(({ message = "" }) =>
        assert.match(
          message,
          /^10\.44\.0\.0\/16 holds 10\.44\.3\.3, the InternalIP of Node milan-2, .*; delete Network guests-from-rome\/rome-pod-10-44-0-0-16/,
        ),
      );
      await until("no rule is over it", async () => (await bypass()) === undefined);
      assert.equal((await here("turin", others)).condition?.status, "True");
      await admin().delete(Network, { name: "rome-pod-10-44-0-0-16", namespace: guests });
      assert.notEqual(await place(), "10.44.0.0/16");
      await admin().delete(Node, { name: "milan-2" });
    });
  });

  const refused: [what: string, spec: IP["spec"], why: RegExp][] = [
    ["a node", { ip: NODE }, /172\.18\.0\.2 is the InternalIP of Node milan-1/],
    ["the router", { ip: GATEWAY }, /is the default gateway of Node milan-1/],
    ["the API server", { ip: API_SERVER }, /is an address of the API server/],
    ["its Service", { ip: "10.98.0.1" }, /is the address of the API server's Service/],
    ["the metadata service", { ip: "169.254.169.254" }, /link-local/],
    ["a loopback address", { ip: "127.0.0.1" }, /loopback/],
    ["no address", { ip: "0.0.0.0" }, /unspecified/],
    ["many", { ip: "224.0.0.5" }, /multicast/],
    ["a pod", { ip: "10.72.0.9" }, /is in the network of pods/],
    ["the overlay", { ip: "10.80.0.1" }, /is in the network between nodes and gateways/],
    ["a pod of another consumer", { ip: "10.33.4.4" }, /is in a network of cluster "turin"/],
    [
      "an address of the overlay for itself",
      { ip: "172.18.0.77", networkRef: { namespace: "liqo-system", name: "internal-cidr" } },
      /spec\.networkRef: is liqo-system\/internal-cidr/,
    ],
    [
      "a Service that takes an address of the cluster",
      { ip: "172.18.0.77", serviceTemplate: { spec: { externalIPs: [API_SERVER], ports: [{ port: 443 }] } } },
      /spec\.serviceTemplate\.spec\.externalIPs/,
    ],
    [
      "a Service for the world",
      { ip: "172.18.0.77", serviceTemplate: { spec: { type: "LoadBalancer", ports: [{ port: 443 }] } } },
      /spec\.serviceTemplate\.spec\.type/,
    ],
  ];
  const nameOf = (index: number) => `named-${index}`;

  describe("by an IP where no webhook is asked", () => {
    it("gets an address for none of what is not its own, and no Service", async () => {
      for (const [index, [, spec]] of refused.entries()) await attacker.create(IP, ip(nameOf(index), spec));
      await attacker.create(IP, ip("printer", { ip: "172.18.0.77" }));
      await until(
        "the printer has one",
        async () => (await admin().get(IP, { name: "printer", namespace: guests }))?.status?.ip,
      );
      for (const [index, [what, , why]] of refused.entries()) {
        const told = await until(`${what} is told of`, async () =>
          (await admin().list(Event, { namespace: guests })).find(
            ({ reason, involvedObject }) =>
              reason === "AddressRefused" && involvedObject.name === nameOf(index),
          ),
        );
        assert.match(told.message ?? "", why, what);
        const made = await admin().get(IP, { name: nameOf(index), namespace: guests });
        assert.equal(made?.status?.ip, undefined, what);
      }
      assert.deepEqual(await admin().list(Service, { namespace: guests }), []);
    });

    it("loses the address when the machine becomes a node", async () => {
      await addNode("milan-3", "172.18.0.77");
      const printer = { name: "printer", namespace: guests };
      await until("it is taken back", async () => {
        const found = await admin().get(IP, printer);
        return found !== undefined && found.status?.ip === undefined;
      });
      const rules = { name: "printer-remap-ipmapping-gw", namespace: guests };
      await until(
        "gateways do not lead there",
        async () => (await admin().get(FirewallConfiguration, rules)) === undefined,
      );
      await admin().delete(Node, { name: "milan-3" });
      await until("it comes back", async () => (await admin().get(IP, printer))?.status?.ip);
    });
  });

  describe("with the webhooks", () => {
    before(async () => {
      admission = await ManagedAdmission.start(milan);
    });

    for (const [what, spec, why] of refused) {
      it(`makes no IP for ${what}`, async () =>
        assert.match(await refusal(attacker.create(IP, ip("asked", spec))), why));
    }

    it("makes one for what no cluster has of its own, and changes it into no other", async () => {
      const template = { metadata: { labels: { app: "till" } }, spec: { ports: [{ port: 443 }] } };
      await attacker.create(IP, ip("till", { ip: "172.18.0.78", serviceTemplate: template }));
      await until("its Service", () => admin().get(Service, { name: "till", namespace: guests }));
      const worse = { spec: { serviceTemplate: { spec: { type: "NodePort" } } } };
      assert.match(
        await refusal(attacker.patch(IP, { name: "till", namespace: guests }, worse, merge)),
        /spec\.serviceTemplate\.spec\.type: is "NodePort"/,
      );
      // The proxy of the API server is a Service, too.
      assert.equal(await refusal(attacker.create(IP, ip("proxy", { ip: "10.98.7.7" }))), "allowed");
    });

    it("does not keep milan's administrator from an IP for a node", async () => {
      const own = { ...ip("node", { ip: NODE }), metadata: { name: "node", namespace: "shop" } };
      await admin().create(IP, own);
      await until(
        "its address",
        async () => (await admin().get(IP, { name: "node", namespace: "shop" }))?.status?.ip,
      );
    });

    for (const cidr of ["0.0.0.0/0", "127.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4", "240.0.0.0/5"]) {
      it(`claims no ${cidr}, and neither does an administrator`, async () => {
        for (const user of [attacker, admin()])
          assert.match(
            await refusal(user.create(Configuration, configuration("rome", guests, [cidr]))),
            new RegExp(
              `spec\\.remote\\.cidr\\.pod: ${cidr.replaceAll(".", "\\.")} overlaps .*; give the networks`,
            ),
          );
      });
    }

    it("speaks for no other cluster, and not of milan's networks", async () => {
      const cases: [Desired<Configuration>, RegExp][] = [
        [configuration("turin", guests, ["10.44.0.0/16"]), /that of cluster "rome"/],
        [
          configuration("rome", guests, ["10.44.0.0/16"], {
            local: { pod: ["0.0.0.0/0"], external: [`${NODE}/32`] },
          }),
          /spec\.local/,
        ],
      ];
      for (const [object, why] of cases)
        assert.match(await refusal(attacker.create(Configuration, object)), why);
    });

    it("connects as ever, and adds a network later", async () => {
      await attacker.create(Configuration, configuration("rome", guests, ["172.18.0.0/16"]));
      await place();
      const more = { spec: { remote: { cidr: { pod: ["172.18.0.0/16", "10.45.0.0/16"] } } } };
      await attacker.patch(Configuration, atRome, more, merge);
      await until("both have their places", async () => {
        const { condition, pod } = await here();
        return condition?.status === "True" && pod.length === 2;
      });
    });

    it("writes nothing when no webhook answers, while the controllers go on", async () => {
      await admission?.stop();
      admission = undefined;
      assert.match(
        await refusal(attacker.create(IP, ip("late", { ip: "172.18.0.79" }))),
        /failed calling webhook/,
      );
      const two = { spec: { remote: { cidr: { pod: ["10.45.0.0/16"] } } } };
      assert.match(
        await refusal(attacker.patch(Configuration, atRome, two, merge)),
        /failed calling webhook/,
      );
      await addNode("milan-4", "10.45.9.9");
      await until("the conflict is named", async () => (await here()).condition?.reason === "RangeConflict");
    });
  });
});
