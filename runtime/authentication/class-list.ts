/** A class that a provider offers, as named in `--ingress-classes` and `--load-balancer-classes`. */
export interface OfferedClass {
  name: string;
  default: boolean;
}

/**
 * Reads `nginx;default,traefik`: names separated by commas, the default one marked. The order is kept.
 *
 * @throws Error naming the faulty entry.
 */
export function parseClassList(text: string): OfferedClass[] {
  return text
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "")
    .map((entry) => {
      const [name = "", mark, ...rest] = entry.split(";").map((part) => part.trim());
      if (name === "" || rest.length > 0 || (mark !== undefined && mark !== "default")) {
        throw new Error(`class "${entry}" is not of the form NAME or NAME;default`);
      }
      return { name, default: mark === "default" };
    });
}
