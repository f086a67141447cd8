import type { IngressSpec } from "kubernetes-types/networking/v1";

import type { Ingress } from "../../api/kubernetes";
import { defined } from "../pods/defined";

/** What the remote Ingresses of a virtual node differ by. */
export interface IngressContext {
  /** Class of the provider's ingresses; absent where ingresses are not offered, so that its default applies. */
  ingressClass?: string;
}

/** The spec of an Ingress at the provider (offloading reference 10.2). */
export function remoteIngressSpec({ spec }: Ingress, { ingressClass }: IngressContext): IngressSpec {
  return defined({
    ingressClassName: ingressClass,
    defaultBackend: spec?.defaultBackend,
    rules: spec?.rules,
    tls: spec?.tls,
  });
}
