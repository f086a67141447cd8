import { Quota, StorageClass, VirtualNode } from "../api";
import type { RuntimeContext } from "../kube";
import { AuthenticationCaches, type AuthenticationOptions } from "./context";
import { runCertificateCollector } from "./certificate-collector";
import { ensureClusterKeys, runKeyRotation } from "./cluster-keys";
import { runIdentityController } from "./identity-controller";
import { runIdentityCreator } from "./identity-creator-controller";
import { ApiServerLocation } from "./identity-provider/api-server-endpoint";
import { IamProvider } from "./identity-provider/iam-provider";
import { X509Provider } from "./identity-provider/x509-provider";
import { runNonceCreator, runNonceSigner } from "./nonce-controllers";
import { runQuotaCreator } from "./quota-creator-controller";
import { runLocalRenewer } from "./renew-local-controller";
import { runRemoteRenewer } from "./renew-remote-controller";
import { runResourceSliceLocal } from "./resource-slice-local-controller";
import { runResourceSliceRemote } from "./resource-slice-remote-controller";
import { runTenantController } from "./tenant-controller";
import { runVirtualNodeCreator } from "./virtual-node-creator-controller";

/** Starts the authentication controllers of both roles, after making the cluster's key pair where there is none. */
export async function startAuthentication(
  runtime: RuntimeContext,
  options: AuthenticationOptions,
): Promise<void> {
  const { client, clock, informers } = runtime;
  const caches = new AuthenticationCaches(informers, options.liqoNamespace);
  await ensureClusterKeys(client, options.liqoNamespace, options.tlsCompatibilityMode);
  const authentication = { runtime, options, caches };
  const location = new ApiServerLocation(runtime, options.endpoint);
  const endpointChanges = (keys: () => string[]) => location.changes(keys);
  const { aws, global, clusterId } = options;
  const secrets = caches.peerSecrets;
  const provider =
    aws === undefined
      ? new X509Provider({
          client,
          clock,
          requests: caches.certificateRequests,
          secrets,
          endpoint: () => location.current(),
          global,
        })
      : new IamProvider({
          client,
          aws: aws.api,
          clusterId,
          region: aws.region,
          clusterName: aws.clusterName,
          secrets,
          global,
        });

  // As a provider.
  runNonceCreator(authentication);
  runTenantController(authentication, provider, endpointChanges);
  const storageClasses = options.defaultClass.storageEnabled ? informers.informer(StorageClass) : undefined;
  runResourceSliceRemote(authentication, provider, endpointChanges, storageClasses);
  runRemoteRenewer(authentication);
  runCertificateCollector(authentication);

  // As a consumer.
  runNonceSigner(authentication);
  runIdentityController(authentication);
  runResourceSliceLocal(authentication);
  runIdentityCreator(authentication);
  runLocalRenewer(authentication);
  runKeyRotation(authentication);

  if (!options.offloadingEnabled) return;
  runQuotaCreator(authentication, informers.informer(Quota));
  runVirtualNodeCreator(authentication, informers.informer(VirtualNode));
}
