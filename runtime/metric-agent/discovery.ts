/** What an API server must say about its API so that the aggregator passes requests on (control plane reference 16.2). */

export const GROUP = "metrics.liqo.io";
export const VERSION = "v1beta1";
const groupVersion = `${GROUP}/${VERSION}`;

const version = { groupVersion, version: VERSION };
const group = { name: GROUP, versions: [version], preferredVersion: version };

const resourceList = {
  kind: "APIResourceList",
  apiVersion: "v1",
  groupVersion,
  resources: [
    { name: "scrape/metrics", singularName: "", namespaced: false, kind: "Scrape", verbs: ["get"] },
  ],
};

/** Documents by path. */
export const DISCOVERY: Readonly<Record<string, unknown>> = {
  "/": resourceList,
  "/apis": { kind: "APIGroupList", apiVersion: "v1", groups: [group] },
  [`/apis/${GROUP}`]: { kind: "APIGroup", apiVersion: "v1", ...group },
  [`/apis/${groupVersion}`]: resourceList,
  "/openapi/v2": { swagger: "2.0", info: { title: "Liqo metrics", version: VERSION }, paths: {} },
  "/openapi/v3": { paths: {} },
};
