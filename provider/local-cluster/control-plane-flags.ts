/** Command lines of the control plane's programs, the same for clusters with nodes and without. */

export interface EtcdFlags {
  dataFolder: string;
  clientUrl: string;
  peerUrl: string;
}

/** A single member that does not wait for the disk: a local cluster may lose its last second in a power cut. */
export function etcdFlags({ dataFolder, clientUrl, peerUrl }: EtcdFlags): string[] {
  return [
    `--data-dir=${dataFolder}`,
    "--unsafe-no-fsync",
    "--quota-backend-bytes=8589934592",
    "--auto-compaction-mode=periodic",
    "--auto-compaction-retention=10m",
    `--listen-client-urls=${clientUrl}`,
    `--advertise-client-urls=${clientUrl}`,
    `--listen-peer-urls=${peerUrl}`,
    `--initial-advertise-peer-urls=${peerUrl}`,
    `--initial-cluster=default=${peerUrl}`,
    "--log-level=warn",
  ];
}

export interface ApiServerFlags {
  /** Path of a file of the cluster's PKI. */
  pki: (name: string) => string;
  etcdUrl: string;
  bindAddress: string;
  port: number;
  /** Address in the endpoints of the Service `kubernetes`; without it that Service has none. */
  advertiseAddress?: string;
  serviceCidr: string;
  audit?: { policyFile: string; logFile: string };
}

export function apiServerFlags(flags: ApiServerFlags): string[] {
  const { pki } = flags;
  return [
    `--etcd-servers=${flags.etcdUrl}`,
    `--bind-address=${flags.bindAddress}`,
    `--secure-port=${flags.port}`,
    ...(flags.advertiseAddress === undefined
      ? ["--endpoint-reconciler-type=none", `--advertise-address=${flags.bindAddress}`]
      : [`--advertise-address=${flags.advertiseAddress}`]),
    `--service-cluster-ip-range=${flags.serviceCidr}`,
    `--tls-cert-file=${pki("apiserver.crt")}`,
    `--tls-private-key-file=${pki("apiserver.key")}`,
    `--client-ca-file=${pki("ca.crt")}`,
    `--service-account-key-file=${pki("service-account.pub")}`,
    `--service-account-signing-key-file=${pki("service-account.key")}`,
    "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
    "--authorization-mode=Node,RBAC",
    "--enable-admission-plugins=NodeRestriction",
    "--allow-privileged",
    // Node names do not resolve.
    "--kubelet-preferred-address-types=InternalIP",
    `--kubelet-client-certificate=${pki("apiserver-kubelet-client.crt")}`,
    `--kubelet-client-key=${pki("apiserver-kubelet-client.key")}`,
    `--requestheader-client-ca-file=${pki("front-proxy-ca.crt")}`,
    "--requestheader-allowed-names=front-proxy-client",
    "--requestheader-extra-headers-prefix=X-Remote-Extra-",
    "--requestheader-group-headers=X-Remote-Group",
    "--requestheader-username-headers=X-Remote-User",
    `--proxy-client-cert-file=${pki("front-proxy-client.crt")}`,
    `--proxy-client-key-file=${pki("front-proxy-client.key")}`,
    "--enable-aggregator-routing",
    ...(flags.audit === undefined
      ? []
      : [
          `--audit-policy-file=${flags.audit.policyFile}`,
          `--audit-log-path=${flags.audit.logFile}`,
          "--audit-log-mode=batch",
          "--audit-log-maxsize=4000",
        ]),
  ];
}

/** One line a request, when it is answered. */
export const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules: [{ level: Metadata }]
`;

export interface ControllerManagerFlags {
  pki: (name: string) => string;
  serviceCidr: string;
  /** With it, nodes get their pod ranges of this size from it. */
  podCidr?: { range: string; nodeMaskSize: number };
  /** 0 turns the secure port off. */
  port: number;
  /** How long the certificates that it signs are valid, as in `3m`; a year by default. */
  signingDuration?: string;
}

export function controllerManagerFlags(flags: ControllerManagerFlags): string[] {
  const { pki } = flags;
  return [
    `--kubeconfig=${pki("controller-manager.kubeconfig")}`,
    `--authentication-kubeconfig=${pki("controller-manager.kubeconfig")}`,
    `--authorization-kubeconfig=${pki("controller-manager.kubeconfig")}`,
    `--service-account-private-key-file=${pki("service-account.key")}`,
    `--root-ca-file=${pki("ca.crt")}`,
    `--cluster-signing-cert-file=${pki("ca.crt")}`,
    `--cluster-signing-key-file=${pki("ca.key")}`,
    ...(flags.signingDuration === undefined ? [] : [`--cluster-signing-duration=${flags.signingDuration}`]),
    "--use-service-account-credentials",
    `--service-cluster-ip-range=${flags.serviceCidr}`,
    ...(flags.podCidr === undefined
      ? []
      : [
          "--allocate-node-cidrs",
          `--cluster-cidr=${flags.podCidr.range}`,
          `--node-cidr-mask-size=${flags.podCidr.nodeMaskSize}`,
        ]),
    "--leader-elect=false",
    "--kube-api-qps=1000",
    "--kube-api-burst=2000",
    ...servingFlags(flags.port),
  ];
}

export function schedulerFlags(flags: { pki: (name: string) => string; port: number }): string[] {
  const kubeconfig = flags.pki("scheduler.kubeconfig");
  return [
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    "--leader-elect=false",
    "--kube-api-qps=1000",
    "--kube-api-burst=2000",
    ...servingFlags(flags.port),
  ];
}

function servingFlags(port: number): string[] {
  return ["--bind-address=127.0.0.1", `--secure-port=${port}`];
}
