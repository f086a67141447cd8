import { defineKind, type KindObject } from "../define-kind";
import { Label, LabelValue } from "../keys/labels";
import { gatewayTemplateSpec } from "./wg-gateway";

/** Source: networking.md 4.2 and 9.1. */
export const WgGatewayServerTemplate = defineKind({
  group: "networking.liqo.io",
  version: "v1beta1",
  kind: "WgGatewayServerTemplate",
  plural: "wggatewayservertemplates",
  shortNames: ["wggst", "wgst"],
  namespaced: true,
  summary: "Pattern of a WgGatewayServer.",
  spec: gatewayTemplateSpec,
  labels: { [Label.gatewayTemplate]: LabelValue.true },
});
export type WgGatewayServerTemplate = KindObject<typeof WgGatewayServerTemplate>;

/** Source: networking.md 4.2 and 9.1. */
export const WgGatewayClientTemplate = defineKind({
  group: "networking.liqo.io",
  version: "v1beta1",
  kind: "WgGatewayClientTemplate",
  plural: "wggatewayclienttemplates",
  shortNames: ["wggct", "wgct"],
  namespaced: true,
  summary: "Pattern of a WgGatewayClient.",
  spec: gatewayTemplateSpec,
  labels: { [Label.gatewayTemplate]: LabelValue.true },
});
export type WgGatewayClientTemplate = KindObject<typeof WgGatewayClientTemplate>;
