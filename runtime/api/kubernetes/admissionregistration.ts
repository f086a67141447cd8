import type * as schema from "kubernetes-types/admissionregistration/v1";

import { builtIn, type BuiltIn } from "./built-in";

export type MutatingWebhookConfiguration = BuiltIn<
  schema.MutatingWebhookConfiguration,
  "admissionregistration.k8s.io/v1",
  "MutatingWebhookConfiguration"
>;
export const MutatingWebhookConfiguration = builtIn<MutatingWebhookConfiguration>({
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "MutatingWebhookConfiguration",
  plural: "mutatingwebhookconfigurations",
  namespaced: false,
});

export type ValidatingWebhookConfiguration = BuiltIn<
  schema.ValidatingWebhookConfiguration,
  "admissionregistration.k8s.io/v1",
  "ValidatingWebhookConfiguration"
>;
export const ValidatingWebhookConfiguration = builtIn<ValidatingWebhookConfiguration>({
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "ValidatingWebhookConfiguration",
  plural: "validatingwebhookconfigurations",
  namespaced: false,
});
