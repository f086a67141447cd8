import type { APIService, Service, ServiceAccount } from "../api/kubernetes";
import { type Component, deployment, type ImageSettings } from "./component-deployment";
import { componentLabels, type Manifest, type ManifestOf, type Module, selectorLabels } from "./manifest";
import { metricAgentRules } from "./rbac";
import { accountsOf, clusterRole, clusterRoleBinding, roleBinding } from "./rbac/manifests";

/** Components that an installation has on request: the API server proxy and the metric agent (control plane reference 16). */

/** Port of the proxy, the same as upstream's; peers read it from its Service. */
const PROXY_PORT = 8118;
export const PROXY_SERVICE = "liqo-proxy";
const METRIC_AGENT_PORT = 8443;

const small = { replicas: 1, heapMib: 96, mayOverlap: true } as const;

/** The proxy by which peers reach the API server through the tunnel. Its account has no rights: the connections that it forwards are encrypted end to end. */
export function proxyManifests(settings: ImageSettings): Manifest[] {
  const component: Component = {
    ...small,
    component: "proxy",
    module: "core",
    flags: [`--port=${PROXY_PORT}`, "--force-host=kubernetes.default.svc:443"],
    resources: { requests: { cpu: "5m", memory: "48Mi" } },
    ports: [{ name: "proxy", containerPort: PROXY_PORT }],
  };
  return [
    account(settings.namespace, "proxy", "core"),
    service(settings.namespace, "proxy", "core", { port: PROXY_PORT, targetPort: "proxy" }),
    deployment(settings, component),
  ];
}

/** The aggregated API by which consumers read the metrics of their pods here. */
export function metricAgentManifests(settings: ImageSettings): Manifest[] {
  const { namespace } = settings;
  const component: Component = {
    ...small,
    component: "metric-agent",
    module: "offloading",
    flags: [`--port=${METRIC_AGENT_PORT}`],
    resources: { requests: { cpu: "5m", memory: "64Mi" } },
    ports: [{ name: "api", containerPort: METRIC_AGENT_PORT }],
  };
  const name = "liqo-metric-agent";
  const labels = componentLabels("metric-agent", "offloading");
  const accounts = accountsOf(namespace, [name]);
  // It learns there who the aggregator is.
  const authentication = roleBinding({ name, namespace: "kube-system", labels }, accounts, {
    kind: "Role",
    name: "extension-apiserver-authentication-reader",
  });
  const api: ManifestOf<APIService> = {
    apiVersion: "apiregistration.k8s.io/v1",
    kind: "APIService",
    metadata: { name: "v1beta1.metrics.liqo.io", labels },
    spec: {
      group: "metrics.liqo.io",
      version: "v1beta1",
      groupPriorityMinimum: 100,
      versionPriority: 100,
      // The agent signs its certificate itself: here the aggregator proves who it is, not the agent.
      insecureSkipTLSVerify: true,
      service: { name, namespace, port: 443 },
    },
  };
  return [
    account(namespace, "metric-agent", "offloading"),
    clusterRole(name, labels, metricAgentRules),
    clusterRoleBinding(name, labels, accounts),
    authentication,
    service(namespace, "metric-agent", "offloading", { port: 443, targetPort: "api" }),
    deployment(settings, component),
    api,
  ];
}

function account(namespace: string, name: string, module: Module): ManifestOf<ServiceAccount> {
  const labels = componentLabels(name, module);
  return { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: `liqo-${name}`, namespace, labels } };
}

function service(
  namespace: string,
  name: string,
  module: Module,
  port: { port: number; targetPort: string },
): ManifestOf<Service> {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: `liqo-${name}`, namespace, labels: componentLabels(name, module) },
    spec: {
      type: "ClusterIP",
      selector: selectorLabels(name),
      ports: [{ name: port.targetPort, protocol: "TCP", ...port }],
    },
  };
}
