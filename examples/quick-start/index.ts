/**
 * Two clusters on this machine, rome and milan. Rome, the consumer, may use resources of milan, the provider; an application of rome's runs
 * at milan, with its configuration and its secret, and answers a pod of rome through its Service.
 */
import * as liqo from "pulumi-liqo";
import { LocalCluster, localImages } from "pulumi-liqo/provider";

import { clusterArgs } from "./clusters";
import { shop } from "./shop";

export = async () => {
  const images = await localImages();
  const archives = [images.runtime.file, images.busybox.file];

  const clusters = {
    rome: new LocalCluster("rome", { ...clusterArgs.rome, images: archives }),
    milan: new LocalCluster("milan", { ...clusterArgs.milan, images: archives }),
  };

  const providers = {
    rome: liqo.clusterProvider("rome", { kubeconfig: clusters.rome.kubeconfig, clusterIdentifier: "rome" }),
    milan: liqo.clusterProvider("milan", {
      kubeconfig: clusters.milan.kubeconfig,
      clusterIdentifier: "milan",
    }),
  };

  const rome = new liqo.Installation("rome", {
    cluster: { kubeconfig: clusters.rome.kubeconfig, provider: providers.rome },
    clusterId: "rome",
    image: images.runtime.name,
    networking: { podCidrs: [clusters.rome.podCidr], serviceCidr: clusters.rome.serviceCidr },
    apiServer: { address: clusters.rome.peerApiServerUrl },
  });
  const milan = new liqo.Installation("milan", {
    cluster: { kubeconfig: clusters.milan.kubeconfig, provider: providers.milan },
    clusterId: "milan",
    namespace: "liqo-system",
    image: images.runtime.name,
    networking: { podCidrs: [clusters.milan.podCidr], serviceCidr: clusters.milan.serviceCidr },
    apiServer: { address: clusters.milan.peerApiServerUrl },
    clusterLabels: { "topology.kubernetes.io/region": "lombardy" },
  });

  const consumer = {
    kubeconfig: clusters.rome.kubeconfig,
    provider: providers.rome,
    clusterId: rome.clusterId,
    liqoNamespace: rome.namespace,
  };
  const provider = {
    kubeconfig: clusters.milan.kubeconfig,
    provider: providers.milan,
    clusterId: milan.clusterId,
    liqoNamespace: milan.namespace,
  };
  const peering = new liqo.Peering("rome-milan", {
    consumer,
    provider,
    resources: { cpu: "2", memory: "2Gi", pods: "50" },
  });

  const application = shop(consumer, peering, images.busybox.name);

  return {
    romeKubeconfig: clusters.rome.kubeconfig,
    milanKubeconfig: clusters.milan.kubeconfig,
    virtualNode: peering.nodeName,
    namespace: application.namespace,
    remoteNamespace: application.remoteNamespace,
    visitors: application.visitors,
  };
};
