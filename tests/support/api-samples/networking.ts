/** Makes the samples of networking.liqo.io. */
import { type Manifest, manifest } from "./manifest";

export const networking = (
  kind: string,
  name: string,
  fields: object,
  namespace: string | undefined = "liqo-tenant-milan",
): Manifest => manifest("networking.liqo.io", kind, name, fields, namespace);
