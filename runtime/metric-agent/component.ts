import { readFileSync } from "node:fs";
import { z } from "zod";

import { Annotation, ConfigMap, Label, LabelValue, Namespace, Node, Pod } from "../api";
import { defineComponent } from "../component/component";
import { ignored, integer, text } from "../component/flags";
import { createCertificateAuthority } from "../identity/serving-certificate";
import type { RuntimeContext } from "../kube";
import type { ConsumerPods } from "./consumer-view";
import { readFrontProxy } from "./front-proxy";
import { NodeMetrics } from "./node-metrics";
import { MetricServer } from "./server";

const flags = z.object({
  port: integer(8443, 0, 65_535),
  /** PEM files; without them it makes a certificate by itself, which the aggregator does not verify. */
  keyPath: text(),
  certPath: text(),
  readTimeout: ignored(),
  writeTimeout: ignored(),
});

const YEAR_MS = 365 * 24 * 3600 * 1000;

/** Gives consumers the metrics of their pods here (control plane reference 16.2). */
export const metricAgent = defineComponent({
  name: "metric-agent",
  flags,
  start: async (context, { port, keyPath, certPath }) => {
    const { client, clock, log, signal, shutdown } = context;
    const configuration = await client.get(ConfigMap, {
      name: "extension-apiserver-authentication",
      namespace: "kube-system",
    });
    const nodes = context.informers.informer(Node);
    const podsOf = consumers(context);
    const server = await MetricServer.start({
      port,
      ...(keyPath !== "" && certPath !== ""
        ? { certificate: readFileSync(certPath, "utf8"), privateKey: readFileSync(keyPath, "utf8") }
        : selfSigned(clock.now())),
      frontProxy: readFrontProxy(configuration?.data),
      metrics: new NodeMetrics({
        client,
        clock,
        nodes: () =>
          nodes
            .list()
            .filter(
              (node) => isReady(node) && node.metadata.labels?.[Label.nodeType] !== LabelValue.virtualNode,
            )
            .map(({ metadata }) => metadata.name),
      }),
      podsOf,
      log,
    });
    log.info("metrics are served", { port: server.port });
    signal.addEventListener("abort", () => shutdown.add(server.stop()), { once: true });
  },
});

/** What each consumer runs here: its namespaces by their labels, its pods by the origin that they carry. */
function consumers({ informers }: Pick<RuntimeContext, "informers">): (clusterId: string) => ConsumerPods {
  const namespaces = informers.informer(Namespace, { labelSelector: Label.remoteClusterID });
  const pods = informers.informer(Pod, { labelSelector: Label.reflectionOrigin, project: whereabouts });
  return (clusterId) => ({
    originalNamespaces: new Map(
      namespaces.list().flatMap(({ metadata }): [string, string][] => {
        const original = metadata.annotations?.[Annotation.originalName];
        return metadata.labels?.[Label.remoteClusterID] === clusterId && original !== undefined
          ? [[metadata.name, original]]
          : [];
      }),
    ),
    isOn: (node, namespace, name) => {
      const pod = pods.get(name, namespace);
      return pod?.metadata.labels?.[Label.reflectionOrigin] === clusterId && pod.spec.nodeName === node;
    },
  });
}

/** Of a pod, what is looked at. */
function whereabouts(pod: Pod): Pod {
  const { name, namespace, uid, resourceVersion, labels } = pod.metadata;
  return {
    apiVersion: pod.apiVersion,
    kind: pod.kind,
    metadata: { name, namespace, uid, resourceVersion, labels },
    spec: { containers: [], nodeName: pod.spec.nodeName },
  };
}

function isReady({ status }: Node): boolean {
  return status?.conditions?.some(({ type, status: state }) => type === "Ready" && state === "True") === true;
}

function selfSigned(now: number): { certificate: string; privateKey: string } {
  return createCertificateAuthority(
    { commonName: "liqo-metric-agent", organization: "liqo.io" },
    { notBefore: new Date(now - 3_600_000), notAfter: new Date(now + 10 * YEAR_MS) },
  );
}
