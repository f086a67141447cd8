import { Label, LabelValue, Name, WellKnownLabel } from "../../api/keys";
import type { WgGatewayClientTemplate, WgGatewayServerTemplate } from "../../api/networking";
import { MANAGED_BY, type ManifestOf } from "../manifest";
import type { InstallationData } from "../installation-settings";
import { livenessProbe } from "../component-deployment";
import type { NetworkingSettings } from "./settings";

type Settings = Pick<InstallationData, "image" | "imagePullPolicy" | "imagePullSecrets"> & {
  networking: NetworkingSettings;
};

const API_VERSION = "networking.liqo.io/v1beta1";

/** Ports of a gateway's container. */
const Port = { health: 8081, metrics: 8082 } as const;

/** What GatewayServers are made from unless they name another template (networking reference 9.2). */
export function serverTemplate(namespace: string, settings: Settings): ManifestOf<WgGatewayServerTemplate> {
  const { serviceAnnotations, healthPort } = settings.networking.gateway;
  return {
    apiVersion: API_VERSION,
    kind: "WgGatewayServerTemplate",
    metadata: { name: Name.serverTemplate, namespace, labels: ownLabels(Name.serverTemplate) },
    spec: {
      objectKind: { apiVersion: API_VERSION, kind: "WgGatewayServer" },
      template: {
        metadata,
        spec: {
          secretRef,
          service: {
            metadata: { labels: workloadLabels, annotations: serviceAnnotations },
            spec: {
              selector: { ...selector, [Label.gatewayActive]: LabelValue.true },
              type: "{{ .Spec.Endpoint.ServiceType }}",
              "?loadBalancerIP": "{{ .Spec.Endpoint.LoadBalancerIP }}",
              ports: [
                {
                  name: "tunnel",
                  port: "{{ .Spec.Endpoint.Port }}",
                  targetPort: "{{ .Spec.Endpoint.Port }}",
                  protocol: "UDP",
                  "?nodePort": "{{ .Spec.Endpoint.NodePort }}",
                },
                // After the tunnel's: peers are told the first.
                ...(healthPort === undefined
                  ? []
                  : [{ name: "health", port: healthPort, targetPort: Port.health, protocol: "TCP" }]),
              ],
            },
          },
          deployment: deployment(settings, "server", ["--listen-ports={{ .Spec.Endpoint.Port }}"]),
        },
      },
    },
  };
}

/** What GatewayClients are made from unless they name another template (networking reference 9.2). */
export function clientTemplate(namespace: string, settings: Settings): ManifestOf<WgGatewayClientTemplate> {
  const addresses = "{{ range $i, $a := .Spec.Endpoint.Addresses }}{{ if $i }},{{ end }}{{ $a }}{{ end }}";
  return {
    apiVersion: API_VERSION,
    kind: "WgGatewayClientTemplate",
    metadata: { name: Name.clientTemplate, namespace, labels: ownLabels(Name.clientTemplate) },
    spec: {
      objectKind: { apiVersion: API_VERSION, kind: "WgGatewayClient" },
      template: {
        metadata,
        spec: {
          secretRef,
          deployment: deployment(settings, "client", [
            `--endpoint-address=${addresses}`,
            "--endpoint-ports={{ .Spec.Endpoint.Port }}",
          ]),
        },
      },
    },
  };
}

function ownLabels(name: string): Record<string, string> {
  return {
    [WellKnownLabel.appName]: name,
    [WellKnownLabel.appComponent]: "networking",
    [WellKnownLabel.appPartOf]: "liqo",
    [WellKnownLabel.appManagedBy]: MANAGED_BY,
  };
}

const metadata = { name: "{{ .Name }}", namespace: "{{ .Namespace }}" };
const secretRef = { name: "{{ .Spec.SecretRef.Name }}" };

/** Never changes, so that selectors may use it. */
const selector = {
  [WellKnownLabel.appName]: "{{ .Name }}",
  [WellKnownLabel.appInstance]: "liqo-{{ .Name }}",
  [WellKnownLabel.appComponent]: "networking",
  [Label.networkingComponent]: LabelValue.gateway,
};
const workloadLabels = {
  ...selector,
  [WellKnownLabel.appPartOf]: "liqo",
  [WellKnownLabel.appManagedBy]: MANAGED_BY,
};

function deployment(settings: Settings, mode: "server" | "client", flags: string[]) {
  const { image, imagePullPolicy, imagePullSecrets, networking } = settings;
  const { gateway, fabric } = networking;
  const { replicas, ping, implementation } = gateway;
  // Of several, the one that leads labels itself.
  const podLabels =
    replicas > 1 ? workloadLabels : { ...workloadLabels, [Label.gatewayActive]: LabelValue.true };
  const fromPod = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { fieldPath } } });
  return {
    metadata: { labels: workloadLabels },
    spec: {
      replicas,
      strategy: { type: "Recreate" },
      selector: { matchLabels: selector },
      template: {
        metadata: { labels: podLabels },
        spec: {
          serviceAccountName: "{{ .Name }}",
          // Of the namespace that the gateway is in: the peering's.
          ...(imagePullSecrets.length > 0 && {
            imagePullSecrets: imagePullSecrets.map((name) => ({ name })),
          }),
          terminationGracePeriodSeconds: 10,
          nodeSelector: gateway.nodeSelector,
          affinity: OFF_VIRTUAL_NODES,
          tolerations: gateway.tolerations,
          containers: [
            {
              name: "gateway",
              image,
              imagePullPolicy,
              args: [
                "gateway",
                "--name={{ .Name }}",
                "--namespace={{ .Namespace }}",
                "--gateway-uid={{ .GatewayUID }}",
                "--remote-cluster-id={{ .ClusterID }}",
                `--mode=${mode}`,
                "--mtu={{ .Spec.MTU }}",
                ...flags,
                `--implementation=${implementation}`,
                `--geneve-port=${fabric.overlayPort}`,
                `--leader-election=${replicas > 1}`,
                `--ping-interval=${ping.intervalSeconds}s`,
                `--ping-loss-threshold=${ping.lossThreshold}`,
                `--ping-update-status-interval=${ping.updateStatusIntervalSeconds}s`,
                `--health-probe-address=:${Port.health}`,
                `--metrics-address=:${Port.metrics}`,
              ],
              env: [
                fromPod("NODE_NAME", "spec.nodeName"),
                fromPod("POD_NAME", "metadata.name"),
                { name: "NODE_OPTIONS", value: "--max-old-space-size=160 --max-semi-space-size=4" },
              ],
              ports: [
                { name: "healthz", containerPort: Port.health },
                { name: "metrics", containerPort: Port.metrics },
              ],
              readinessProbe: { httpGet: { path: "/readyz", port: Port.health }, periodSeconds: 1 },
              livenessProbe: livenessProbe(Port.health),
              resources: gateway.resources,
              securityContext: NETWORK_ADMINISTRATOR,
              volumeMounts: [
                { name: "wireguard-config", mountPath: "/etc/wireguard/keys", readOnly: true },
                { name: "tun", mountPath: "/dev/net/tun" },
                { name: "run", mountPath: "/var/run/wireguard" },
              ],
            },
          ],
          volumes: [
            { name: "wireguard-config", secret: { secretName: "{{ .SecretName }}" } },
            { name: "tun", hostPath: { path: "/dev/net/tun", type: "CharDevice" } },
            { name: "run", emptyDir: { medium: "Memory" } },
          ],
        },
      },
    },
  };
}

/** May set up interfaces, routes and rules, and nothing else. */
export const NETWORK_ADMINISTRATOR = {
  runAsUser: 0,
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ["ALL"], add: ["NET_ADMIN", "NET_RAW"] },
};

/** What belongs to this cluster's network runs on its own nodes. */
export const OFF_VIRTUAL_NODES = {
  nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [
        {
          matchExpressions: [
            { key: Label.nodeType, operator: "NotIn" as const, values: [LabelValue.virtualNode] },
          ],
        },
      ],
    },
  },
};
