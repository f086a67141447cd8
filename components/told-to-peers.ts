import * as pulumi from "@pulumi/pulumi";

import { apiServerAddressUrl } from "../runtime/plan/installation-settings";
import type { InstallationArgs } from "./installation-args";
import type { ToldByInstallation } from "./installed-clusters";
import { digest } from "./triggers";

/**
 * What of an installation's arguments concerns its peers. Only these are looked at: a preview that does not know the image, say, knows them all the
 * same.
 */
export function toldToPeers({
  networking,
  apiServer,
  aws,
}: Pick<InstallationArgs, "networking" | "apiServer" | "aws">): pulumi.Output<ToldByInstallation> {
  return pulumi
    .output({
      networked: networking !== undefined,
      podCidrs: networking?.podCidrs ?? [],
      externalCidr: networking?.externalCidr,
      gateway: networking?.gateway,
      apiServer,
      aws,
    })
    .apply(({ networked, podCidrs, externalCidr, gateway, apiServer: access, aws: iam }) => ({
      ...(networked && { podCidrs }),
      networks: digest([podCidrs, externalCidr]),
      gatewayService: digest([gateway?.serviceAnnotations, gateway?.healthPort]),
      access: digest([access, iam]),
      ...(access?.address !== undefined &&
        iam === undefined && { apiServer: apiServerAddressUrl(access.address) }),
    }));
}
