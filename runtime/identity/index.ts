/** Keys, nonce signatures, certificate requests, certificates and kubeconfigs of the peering handshake: pure functions. */
export {
  ed25519KeyPair,
  generateKeyPair,
  generateWireGuardKeyPair,
  KeyError,
  publicKeyDer,
  publicKeyFingerprint,
  publicKeyOf,
  readPrivateKey,
  readPublicKey,
  samePublicKey,
  wireGuardKeyPair,
  wireGuardPublicKey,
} from "./keys";
export type { KeyPair, KeyType, WireGuardKeyPair } from "./keys";
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
export type { AlternativeNames } from "./extensions";
export { authParamsFaults, knownAuthParams } from "./auth-params";
export { CertificateError, parseCertificate, renewal } from "./certificate";
export type { Certificate, Renewal } from "./certificate";
export { buildKubeconfig, KubeconfigError, parseKubeconfig, usableKubeconfig } from "./kubeconfig";
export type { IdentityKubeconfig, KubeconfigContext, UsableKubeconfig } from "./kubeconfig";
export { decodePem, encodePem } from "./der";
export { awsDomain, eksToken, presignAwsUrl, signAwsRequest } from "./aws-signature";
export type { AwsKeys, AwsRequest, AwsScope } from "./aws-signature";
