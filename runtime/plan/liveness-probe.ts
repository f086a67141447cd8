/**
 * Ends a process that hangs. Patient, since a node under load answers late, and a gateway or controller that is ended for it makes the load worse:
 * within a minute of silence, with five seconds for each answer.
 */
export function livenessProbe(port: string | number) {
  return {
    httpGet: { path: "/healthz", port },
    initialDelaySeconds: 10,
    periodSeconds: 10,
    timeoutSeconds: 5,
    failureThreshold: 6,
  };
}
