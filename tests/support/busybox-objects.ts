/** Pods of the busybox image, and Services for them. */
import { busyboxImageName } from "../../runtime/image";

export function busyboxPod(name: string, command: string, container: object = {}, spec: object = {}): object {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, labels: { name, app: name.split("-")[0] } },
    spec: {
      terminationGracePeriodSeconds: 0,
      containers: [{ name: "main", image: busyboxImageName, command: ["sh", "-c", command], ...container }],
      ...spec,
    },
  };
}

export function webPod(name: string, nodeName: string): object {
  const command = `mkdir /www; echo ${name} >/www/index.html; echo serving ${name}; exec httpd -f -p 8080 -h /www`;
  return busyboxPod(
    name,
    command,
    { readinessProbe: { tcpSocket: { port: 8080 }, periodSeconds: 1 } },
    { nodeName },
  );
}

export function service(
  name: string,
  spec: { type: string; externalTrafficPolicy?: string; selector?: object },
): object {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name },
    spec: { selector: { app: "web" }, ports: [{ port: 80, targetPort: 8080 }], ...spec },
  };
}
