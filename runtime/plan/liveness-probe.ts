/**
 * Ends a process that hangs. Patient, since a node under load answers late, and a gateway or controller that is ended for it makes the load worse:
 * more than a minute of silence, with fifteen seconds for each answer, as kubeadm has it for the control plane's own pods.
 */
export function livenessProbe(port: string | number) {
  return {
    httpGet: { path: "/healthz", port },
    initialDelaySeconds: 10,
    periodSeconds: 10,
    timeoutSeconds: 15,
    failureThreshold: 8,
  };
}
