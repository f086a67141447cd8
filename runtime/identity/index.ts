/** Keys, nonce signatures, certificate requests, certificates and kubeconfigs of the peering handshake: pure functions. */
export {
  ed25519KeyPair,
  generateKeyPair,
  KeyError,
  publicKeyDer,
  publicKeyFingerprint,
  publicKeyOf,
  readPrivateKey,
  readPublicKey,
  samePublicKey,
} from "./key-pair";
export type { KeyPair, KeyType } from "./key-pair";
export { generateNonce, signNonce, verifyNonce } from "./nonce";
export { controlPlaneSubject, peeringUserSubject, resourceSliceSubject, resourceSliceUser } from "./subject";
export type { Subject } from "./subject";
export {
  certificateRequestDer,
  certificateRequestPem,
  createCertificateRequest,
  InvalidCertificateRequest,
  parseCertificateRequest,
} from "./certificate-request";
export type { CertificateRequest } from "./certificate-request";
export { checkCertificate, checkCertificateRequest } from "./identity-check";
export type { CertificateExpectation, RequestExpectation } from "./identity-check";
export type { AlternativeNames } from "./x509-encoding";
export { authParamsFaults, knownAuthParams } from "./auth-params-faults";
export { CertificateError, parseCertificate, renewal } from "./certificate";
export type { Certificate, Renewal } from "./certificate";
export { buildKubeconfig, KubeconfigError, parseKubeconfig } from "./kubeconfig";
export type { IdentityKubeconfig, KubeconfigContext } from "./kubeconfig";
export { generateWireGuardKeyPair, wireGuardKeyPair, wireGuardPublicKey } from "./wireguard-key";
export type { WireGuardKeyPair } from "./wireguard-key";
export { decodePem, encodePem } from "./pem";
export { presignAwsUrl, signAwsRequest } from "./aws-signature";
export type { AwsKeys, AwsRequest, AwsScope } from "./aws-signature";
export { eksToken } from "./eks-token";
export { usableKubeconfig } from "./identity-secret";
export type { UsableKubeconfig } from "./identity-secret";
