import type * as schema from "kubernetes-types/certificates/v1";

import { builtIn, type BuiltIn } from "./built-in";

export type CertificateSigningRequest = BuiltIn<
  schema.CertificateSigningRequest,
  "certificates.k8s.io/v1",
  "CertificateSigningRequest",
  "spec"
>;
export const CertificateSigningRequest = builtIn<CertificateSigningRequest>({
  apiVersion: "certificates.k8s.io/v1",
  kind: "CertificateSigningRequest",
  plural: "certificatesigningrequests",
  namespaced: false,
  always: ["spec"],
});
