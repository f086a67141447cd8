import assert from "node:assert/strict";
import {
  type GatewayClient,
  type GatewayServer,
  WgGatewayServer,
  type WgGatewayServerTemplate,
} from "../../../runtime/api";
import { renderGateway } from "../../../runtime/networking/template/gateway-template";
import { renderValue } from "../../../runtime/networking/template/render-object";

const server = (spec: GatewayServer["spec"] = {}, name = "rome"): GatewayServer => ({
  apiVersion: "networking.liqo.io/v1beta1",
  kind: "GatewayServer",
  metadata: {
    name,
    namespace: "liqo-tenant-rome",
    uid: "0b5f",
    labels: { "liqo.io/remote-cluster-id": "rome" },
  },
  spec: { mtu: 1340, endpoint: { port: 51840, serviceType: "NodePort" }, ...spec },
});
const client: GatewayClient = {
  apiVersion: "networking.liqo.io/v1beta1",
  kind: "GatewayClient",
  metadata: {
    name: "milan",
    namespace: "liqo-tenant-milan",
    labels: { "liqo.io/remote-cluster-id": "milan" },
  },
  spec: {
    mtu: 1300,
    endpoint: { addresses: ["172.30.0.12"], port: 31840, protocol: "UDP" },
    secretRef: { name: "keys" },
  },
};

/** The shape of upstream's default template (networking reference 9.2), shortened. */
const template = (spec?: WgGatewayServerTemplate["spec"]): WgGatewayServerTemplate => ({
  apiVersion: "networking.liqo.io/v1beta1",
  kind: "WgGatewayServerTemplate",
  metadata: { name: "wireguard-server", namespace: "liqo-system" },
  spec: spec ?? {
    objectKind: { apiVersion: "networking.liqo.io/v1beta1", kind: "WgGatewayServer" },
    template: {
      metadata: { name: "{{ .Name }}", namespace: "{{ .Namespace }}", labels: { mtu: "{{ .Spec.MTU }}" } },
      spec: {
        service: {
          metadata: { labels: { port: "{{ .Spec.Endpoint.Port }}", tier: "net" } },
          spec: {
            selector: { "app.kubernetes.io/name": "{{ .Name }}" },
            type: "{{ .Spec.Endpoint.ServiceType }}",
            "?loadBalancerIP": "{{ .Spec.Endpoint.LoadBalancerIP }}",
            ports: [
              {
                port: "{{ .Spec.Endpoint.Port }}",
                protocol: "UDP",
                targetPort: "{{ .Spec.Endpoint.Port }}",
                "?nodePort": "{{ .Spec.Endpoint.NodePort }}",
              },
            ],
          },
        },
        deployment: {
          metadata: { name: "{{ .Name }}" },
          spec: {
            replicas: 1,
            selector: { matchLabels: { "app.kubernetes.io/name": "{{ .Name }}" } },
            template: {
              metadata: { labels: { "app.kubernetes.io/name": "{{ .Name }}" } },
              spec: {
                hostNetwork: "{{ eq .Name `host` }}",
                containers: [
                  {
                    name: "wireguard",
                    args: ["--mtu={{ .Spec.MTU }}", "{{ .Spec.MTU }}", "--gateway-uid={{ .GatewayUID }}"],
                    ports: [{ containerPort: "{{ .Spec.Endpoint.Port }}" }],
                  },
                ],
                volumes: [{ name: "wireguard-config", secret: { secretName: "{{ .SecretName }}" } }],
              },
            },
          },
        },
        secretRef: { name: "{{ .Spec.SecretRef.Name }}" },
      },
    },
  },
});

describe("the object of a gateway", () => {
  it("is what its template says, with numbers where the API has them", () => {
    const rendered = renderGateway(server(), template());
    assert.deepEqual(
      { ...rendered, spec: undefined },
      {
        apiVersion: "networking.liqo.io/v1beta1",
        kind: "WgGatewayServer",
        metadata: { name: "rome", namespace: "liqo-tenant-rome", labels: { mtu: "1340" }, annotations: {} },
        spec: undefined,
      },
    );
    const { spec } = WgGatewayServer.parse(rendered);
    assert.deepEqual(spec.service.spec, {
      selector: { "app.kubernetes.io/name": "rome" },
      type: "NodePort",
      ports: [{ port: 51840, protocol: "UDP", targetPort: 51840 }],
    });
    assert.deepEqual(spec.service.metadata?.labels, { port: "51840", tier: "net" });
    assert.deepEqual(spec.deployment.spec?.template.spec, {
      hostNetwork: false,
      containers: [
        {
          name: "wireguard",
          args: ["--mtu=1340", "1340", "--gateway-uid=0b5f"],
          ports: [{ containerPort: 51840 }],
        },
      ],
      volumes: [{ name: "wireguard-config", secret: { secretName: "gw-rome" } }],
    });
    assert.deepEqual(spec.secretRef, { name: "" });
  });

  it("has the optional fields that the gateway gives", () => {
    const endpoint = {
      port: 51840,
      serviceType: "LoadBalancer",
      nodePort: 31840,
      loadBalancerIP: "203.0.113.9",
    } as const;
    const { spec } = WgGatewayServer.parse(renderGateway(server({ endpoint }), template()));
    assert.equal(spec.service.spec?.loadBalancerIP, "203.0.113.9");
    assert.equal(spec.service.spec?.ports?.[0]?.nodePort, 31840);
  });

  it("keeps names that look like numbers as text", () => {
    const { spec } = WgGatewayServer.parse(renderGateway(server({}, "123"), template()));
    assert.deepEqual(spec.deployment.spec?.selector, { matchLabels: { "app.kubernetes.io/name": "123" } });
    assert.deepEqual(spec.service.spec?.selector, { "app.kubernetes.io/name": "123" });
    assert.equal(spec.deployment.metadata?.name, "123");
  });

  it("has the labels and annotations that the gateway has for its Service", () => {
    const extra = { serviceLabels: { tier: "edge" }, serviceAnnotations: { "cloud/lb": "internal" } };
    const { spec } = WgGatewayServer.parse(renderGateway(server(extra), template()));
    assert.deepEqual(spec.service.metadata, {
      labels: { port: "51840", tier: "edge" },
      annotations: { "cloud/lb": "internal" },
    });
  });

  it("may be of any kind, where whole numbers are numbers outside of labels", () => {
    const { objectKind, template: pattern } = {
      objectKind: { apiVersion: "example.com/v1", kind: "Tunnel" },
      template: {
        metadata: { name: "t-{{ .Name }}" },
        spec: {
          port: "{{ .Spec.Endpoint.Port }}",
          to: "{{ index .Spec.Endpoint.Addresses 0 }}",
          labels: { port: "{{ .Spec.Endpoint.Port }}", n: 3 },
        },
      },
    };
    const rendered = renderGateway(client, template({ objectKind, template: pattern }));
    assert.equal(rendered.metadata.name, "t-milan");
    assert.equal(rendered.metadata.namespace, "liqo-tenant-milan");
    assert.deepEqual(rendered.spec, { port: 31840, to: "172.30.0.12", labels: { port: "31840", n: "3" } });
  });

  const faulty: [string, () => unknown, RegExp | string][] = [
    [
      "no label",
      () => renderGateway({ ...client, metadata: { name: "milan", namespace: "t" } }, template()),
      "GatewayClient t/milan has no label liqo.io/remote-cluster-id; set it to the peer's cluster ID",
    ],
    [
      "no kind",
      () => renderGateway(server(), template({ template: { metadata: {}, spec: {} } })),
      "WgGatewayServerTemplate liqo-system/wireguard-server: spec.objectKind with apiVersion and kind is missing",
    ],
    [
      "no spec",
      () =>
        renderGateway(
          server(),
          template({ objectKind: { apiVersion: "v1", kind: "X" }, template: { metadata: {} } }),
        ),
      /spec\.template\.spec is missing$/,
    ],
    [
      "a field that there is not",
      () => renderGateway(client, template()),
      "WgGatewayServerTemplate liqo-system/wireguard-server: spec.template.spec.service.spec.type: {{ .Spec.Endpoint.ServiceType }}: there is no field ServiceType; there are Addresses, Port, Ports, Protocol",
    ],
  ];
  for (const [what, render, message] of faulty) {
    it(`is refused with ${what}`, () => assert.throws(render, { message }));
  }
});

describe("optional keys", () => {
  const data = { A: 0, B: "b", C: [1] };
  const cases: [Record<string, unknown>, Record<string, unknown>][] = [
    [{ "?a": "{{ .A }}", b: "{{ .A }}" }, { b: 0 }],
    [{ "?a": "x{{ .B }}" }, { a: "xb" }],
    [{ "?a": "x{{ .A }}" }, {}],
    [{ "?a": "{{ index .C 0 }}" }, { a: 1 }],
    [{ "?a": "{{ $.B }}" }, { a: "b" }],
    [
      { "?a": "text", "?b": 3, "?": {} },
      { "?a": "text", "?b": 3, "?": {} },
    ],
    [{ "?a": '{{ "literal" }}' }, { "?a": "literal" }],
  ];
  for (const [value, expected] of cases) {
    it(`of ${JSON.stringify(value)} give ${JSON.stringify(expected)}`, () =>
      assert.deepEqual(renderValue(value, data, undefined, "spec"), expected));
  }
});
