import type { Quota } from "../api";
import type { DefaultClassOptions } from "./default-class";
import type { GlobalMetadata } from "../kube";
import type { AwsApi } from "./identity-provider/aws-api";
import type { EndpointOptions } from "./identity-provider/api-server-endpoint";

/** What the authentication controllers are told by the flags of their process. */
export interface AuthenticationOptions {
  /** This cluster's ID. */
  clusterId: string;
  /** Where the installation and the cluster's key pair are. */
  liqoNamespace: string;
  /** Makes an RSA key pair, for TLS stacks without Ed25519. An existing pair is used as it is. */
  tlsCompatibilityMode: boolean;
  endpoint: EndpointOptions;
  defaultClass: DefaultClassOptions;
  /** For the quotas of slices. */
  limitsEnforcement: NonNullable<Quota["spec"]["limitsEnforcement"]>;
  global: GlobalMetadata;
  /** On EKS, which signs no client certificates: consumers become IAM users. */
  aws?: { api: AwsApi; region: string; clusterName: string };
  /** Whether slices become virtual nodes and quotas. */
  offloadingEnabled: boolean;
}
