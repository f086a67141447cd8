/** What a provider grants: the parameters of an identity and the classes of a slice. */
import { CA } from "./manifest";

export const authParams = {
  ca: CA,
  signedCRT: CA,
  apiServer: "https://172.30.0.12:6443",
  proxyURL: "http://10.71.0.2:8118",
  awsConfig: {
    awsUserArn: "arn:aws:iam::111122223333:user/liqo-rome",
    awsAccessKeyID: "AKIAEXAMPLE",
    awsSecretAccessKey: "not-a-real-key",
    awsRegion: "eu-south-1",
    awsClusterName: "milan",
  },
};

export const classes = {
  storageClasses: [{ storageClassName: "fast", default: true }, { storageClassName: "slow" }],
  ingressClasses: [{ ingressClassName: "nginx", default: true }],
  loadBalancerClasses: [{ loadBalancerClassName: "metal", default: false }],
};
