/** Pods of the clusters whose networks are connected, and what they reach. */
import assert from "node:assert/strict";

import { Configuration, type Desired, Pod } from "../../runtime/api";
import { mapAddress } from "../../runtime/networking/address-mapping";
import type { NetworkedClusters } from "./networked-clusters";
import type { Side } from "./networked-program";
import { until } from "./until";

/** Answers with its own name and the address that it sees of the client. */
const SERVER = `mkdir -p /www/cgi-bin
printf '#!/bin/sh\\necho; echo "$(hostname) $REMOTE_ADDR"\\n' >/www/cgi-bin/who
chmod +x /www/cgi-bin/who
exec httpd -f -p 8080 -h /www`;

/** Asks the API server of its environment, as its own account, and says who answers. */
const ASK_HOME = `
const { readFileSync } = require("node:fs");
const { lookup } = require("node:dns").promises;
const { request } = require("node:https");
const account = (name) => readFileSync("/var/run/secrets/kubernetes.io/serviceaccount/" + name, "utf8");
const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = process.env;
const headers = { authorization: "Bearer " + account("token") };
lookup(host, 4).then(({ address }) =>
  request({ host, port, path: "/api/v1/nodes", ca: account("ca.crt"), headers, timeout: 5000 }, (response) => {
    let text = "";
    response.on("data", (part) => (text += part));
    response.on("end", () => console.log([host, address, response.statusCode, JSON.parse(text).message].join("\\n")));
  }).end(),
);`;

export class NetworkedPods {
  constructor(private readonly clusters: NetworkedClusters) {}

  /** A pod that says who it is, and who asks. */
  server(name: string, namespace: string, spec: Partial<Pod["spec"]>): Desired<Pod> {
    return {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, namespace, labels: { app: "web" } },
      spec: {
        terminationGracePeriodSeconds: 0,
        containers: [
          {
            name: "main",
            image: this.clusters.images.busybox.name,
            command: ["sh", "-c", SERVER],
            readinessProbe: { tcpSocket: { port: 8080 }, periodSeconds: 1 },
          },
        ],
        ...spec,
      },
    };
  }

  /** Makes a pod; returns when it is Ready. */
  async run(side: Side, pod: Desired<Pod>): Promise<void> {
    await this.clusters.clients[side].create(Pod, pod);
    const { name = "", namespace = "" } = pod.metadata;
    await until(`pod ${name} of ${side} is Ready`, async () => {
      const found = await this.clusters.clients[side].get(Pod, { name, namespace });
      return found?.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True");
    });
  }

  async addressOf(side: Side, name: string, namespace = "default"): Promise<string> {
    return (await this.clusters.clients[side].get(Pod, { name, namespace }))?.status?.podIP ?? "";
  }

  /** The address by which a cluster knows a pod of another. */
  async seenFrom(side: Side, address: string, peer: Side): Promise<string> {
    return mapAddress(address, await this.configurationFor(side, peer));
  }

  /** What the API server of its environment says to a pod: the name and address dialled, the status and the message. */
  async askHome(side: Side, pod: string, namespace: string): Promise<string[]> {
    return (await this.exec(side, pod, namespace, ["node", "-e", ASK_HOME])).trim().split("\n");
  }

  /** What a server answers to a pod: its name, and the client's address as it sees it. */
  async ask(side: Side, client: string, host: string, namespace = "default"): Promise<string> {
    const fetch = ["timeout", "3", "wget", "-qO-", `http://${host}/cgi-bin/who`];
    const answer = await this.exec(side, client, namespace, fetch);
    return answer.trim().replaceAll(/\[?(::ffff:)?([\d.]+)\]?$/g, "$2");
  }

  /** The same, however long the first packets take. */
  answer(side: Side, client: string, host: string, namespace?: string): Promise<string> {
    return until(`${host} answers ${client} of ${side}`, () => this.ask(side, client, host, namespace), {
      everyMs: 200,
      timeoutMs: 120_000,
    });
  }

  /** Asks until pods of both clusters have answered. */
  async both(side: Side, client: string, namespace: string, host: string): Promise<void> {
    const seen = new Set<string>();
    await until(
      `the Service answers ${client} of ${side} from both`,
      async () => {
        const [name = ""] = (await this.ask(side, client, host, namespace).catch(() => "")).split(" ");
        if (name !== "") seen.add(name);
        return seen.size === 2;
      },
      { timeoutMs: 120_000 },
    );
    assert.deepEqual([...seen].sort(), ["at-milan", "at-rome"]);
  }

  /** A pod of rome reaches one of the peer by the address that rome has for it. */
  async romeReaches(peer: "milan" | "turin", pod: string): Promise<void> {
    const address = await this.addressOf(peer, pod);
    await this.answer("rome", "rome-b", `${await this.seenFrom("rome", address, peer)}:8080`);
  }

  /** The pods of a cluster's gateway to a peer: the one with the label by which it is found, and the others. */
  async gatewayPods(side: Side, peer: Side): Promise<{ active: Pod[]; others: Pod[] }> {
    const { metadata } = await this.configurationFor(side, peer);
    const pods = await this.clusters.clients[side].list(Pod, {
      namespace: metadata.namespace ?? "",
      labelSelector: "networking.liqo.io/component=gateway",
    });
    const isActive = (pod: Pod) => pod.metadata.labels?.["networking.liqo.io/active"] === "true";
    return { active: pods.filter(isActive), others: pods.filter((pod) => !isActive(pod)) };
  }

  private async exec(side: Side, pod: string, namespace: string, command: string[]): Promise<string> {
    return await this.clusters.kubectl(side, ["exec", "-n", namespace, pod, "--", ...command], {
      timeoutMs: 30_000,
    });
  }

  /** What a cluster knows of the networks of a peer. */
  private async configurationFor(side: Side, peer: Side): Promise<Configuration> {
    const [configuration] = await this.clusters.clients[side].list(Configuration, {
      labelSelector: `liqo.io/remote-cluster-id=${peer}`,
    });
    assert.ok(configuration !== undefined, `${side} has a Configuration for ${peer}`);
    return configuration;
  }
}
