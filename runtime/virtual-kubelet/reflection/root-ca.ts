import { Name } from "../../api/keys";

/**
 * Name that the consumer's root CA ConfigMap has at the provider, where the plain name holds the provider's own CA
 * (offloading reference 10.3): the plain name with the first five characters of the consumer's ID, made to end in an alphanumeric.
 */
export function remoteRootCaName(consumerId: string): string {
  const suffix = consumerId.slice(0, 5);
  return `${Name.kubeRootCA}.${suffix}${/[a-z0-9]$/i.test(suffix) ? "" : "a"}`;
}
