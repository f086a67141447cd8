import { z } from "zod";

const NAME = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;
const DOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/i;

/** Annotations, whose keys an API server would take: a name, which may have a DNS domain and a slash before it. */
export const annotationsSchema = z.record(z.string(), z.string()).superRefine((annotations, context) => {
  for (const key of Object.keys(annotations)) {
    if (isAnnotationKey(key)) continue;
    context.addIssue({
      code: "custom",
      message: `have the key ${JSON.stringify(key)}, which is no annotation key; use up to 63 letters, digits and inner - _ . , with a domain and a slash before them where there is one, such as example.com/internal`,
    });
  }
});

function isAnnotationKey(key: string): boolean {
  const [name = "", domain, ...more] = key.split("/").reverse();
  if (more.length > 0 || name.length > 63 || !NAME.test(name)) return false;
  return domain === undefined || (domain.length <= 253 && DOMAIN.test(domain));
}
