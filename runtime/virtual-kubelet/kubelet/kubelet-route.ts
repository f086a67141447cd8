/** What a request to the kubelet endpoint asks for. */
export type KubeletRoute =
  | PodRoute
  | { about: "node"; what: "pods" | "runningpods" | "summary" }
  | { about: "node"; what: "metrics"; path: MetricsPath }
  | { about: "process"; what: "healthz" };

/** A request about one pod: which subresource of the remote pod answers it, with which query. */
export interface PodRoute {
  about: "pod";
  subresource: "exec" | "attach" | "portforward" | "log";
  namespace: string;
  pod: string;
  query: URLSearchParams;
}

export type MetricsPath = "metrics" | "metrics/cadvisor" | "metrics/resource" | "metrics/probes";

const METRICS_PATHS: readonly string[] = [
  "metrics",
  "metrics/cadvisor",
  "metrics/resource",
  "metrics/probes",
];

/** Query parameters that mean the same to a kubelet and to an API server. */
const LOG_PARAMETERS = [
  "follow",
  "limitBytes",
  "previous",
  "sinceSeconds",
  "sinceTime",
  "stream",
  "tailLines",
  "timestamps",
];
/** Streams of a session, as a kubelet and as an API server call them. */
const STREAMS = [
  ["input", "stdin"],
  ["output", "stdout"],
  ["error", "stderr"],
  ["tty", "tty"],
] as const;

/** Reads the path and query of a request; undefined for a route that there is none of (offloading reference 8.2). */
export function kubeletRoute(target: string): KubeletRoute | undefined {
  if (!URL.canParse(target, "https://kubelet")) return undefined;
  const { pathname, searchParams } = new URL(target, "https://kubelet");
  const path = pathname.replace(/^\/+|\/+$/g, "");
  if (path === "healthz") return { about: "process", what: "healthz" };
  if (path === "pods" || path === "runningpods") return { about: "node", what: path };
  if (path === "stats/summary") return { about: "node", what: "summary" };
  if (isMetricsPath(path)) return { about: "node", what: "metrics", path };

  let segments: string[];
  try {
    segments = path.split("/").map(decodeURIComponent);
  } catch {
    return undefined; // a broken escape
  }
  return podRoute(segments, searchParams);
}

function isMetricsPath(path: string): path is MetricsPath {
  return METRICS_PATHS.includes(path);
}

function podRoute([action, namespace, pod, ...rest]: string[], given: URLSearchParams): PodRoute | undefined {
  if (!isName(namespace) || !isName(pod)) return undefined;
  const about = { about: "pod", namespace, pod } as const;
  // A UID may stand before the container; the pod is known by its name.
  const container = rest.at(-1);
  switch (action) {
    case "containerLogs":
      if (!isName(container) || rest.length !== 1) return undefined;
      return { ...about, subresource: "log", query: logQuery(container, given) };
    case "exec":
    case "attach":
      if (!isName(container) || rest.length > 2) return undefined;
      return { ...about, subresource: action, query: sessionQuery(container, given) };
    case "portForward":
      return rest.length > 1 ? undefined : { ...about, subresource: "portforward", query: portQuery(given) };
    default:
      return undefined;
  }
}

/** Names of objects and containers; nothing that would change the path it is put into. */
function isName(text: string | undefined): text is string {
  return text !== undefined && /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(text);
}

function logQuery(container: string, given: URLSearchParams): URLSearchParams {
  const query = new URLSearchParams({ container });
  for (const name of LOG_PARAMETERS) {
    const value = given.get(name);
    if (value !== null && value !== "") query.set(name, value);
  }
  return query;
}

function sessionQuery(container: string, given: URLSearchParams): URLSearchParams {
  const query = new URLSearchParams({ container });
  for (const word of given.getAll("command")) query.append("command", word);
  for (const [here, there] of STREAMS)
    if (/^(1|true)$/i.test(given.get(here) ?? "")) query.set(there, "true");
  return query;
}

function portQuery(given: URLSearchParams): URLSearchParams {
  const query = new URLSearchParams();
  for (const port of [...given.getAll("port"), ...given.getAll("ports")]) query.append("ports", port);
  return query;
}

/** Where the remote API server serves the same. */
export function remotePath(route: PodRoute, remoteNamespace: string): string {
  const query = route.query.toString();
  const path = `/api/v1/namespaces/${remoteNamespace}/pods/${route.pod}/${route.subresource}`;
  return query === "" ? path : `${path}?${query}`;
}

/** What a client must be allowed to do with the node for a route, in the words of a SubjectAccessReview. */
export function requiredAccess(
  route: KubeletRoute,
): { verb: "get" | "create"; subresource: string } | undefined {
  switch (route.about) {
    case "process":
      return undefined;
    case "pod":
      // Sessions run code, whatever the method of their request.
      return { verb: route.subresource === "log" ? "get" : "create", subresource: "proxy" };
    case "node":
      if (route.what === "metrics") return { verb: "get", subresource: "metrics" };
      return { verb: "get", subresource: route.what === "summary" ? "stats" : "proxy" };
  }
}
