import { parse, stringify } from "yaml";
import { z } from "zod";

const Kubeconfig = z.looseObject({
  clusters: z.tuple([z.looseObject({ cluster: z.record(z.string(), z.unknown()) })]),
  users: z.tuple([z.looseObject({ user: z.record(z.string(), z.unknown()) })]),
});

/** A kubeconfig of one cluster and one user with some fields of its cluster replaced and, if given, another user. */
export function editKubeconfig(
  kubeconfig: string,
  cluster: Record<string, unknown>,
  user?: Record<string, unknown>,
): string {
  const parsed = Kubeconfig.parse(parse(kubeconfig));
  Object.assign(parsed.clusters[0].cluster, cluster);
  if (user !== undefined) parsed.users[0].user = user;
  return stringify(parsed);
}

/** The PEM text of a field of the user, such as `client-key-data`. */
export function userPem(kubeconfig: string, field: string): string {
  const { users } = Kubeconfig.parse(parse(kubeconfig));
  return Buffer.from(z.string().parse(users[0].user[field]), "base64").toString();
}
