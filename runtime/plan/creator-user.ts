import { createHash } from "node:crypto";

const LABEL_VALUE = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

/**
 * A user's name as the value of the label `liqo.io/creator-user`: whatever a label can't hold becomes a dash. A name that is too long for a
 * label, or begins or ends as none may, keeps its first characters and gets a hash of the whole, so that two users never share one label
 * by being cut.
 *
 * @returns undefined for an empty name
 * @see offloading reference 16.4, vector in 23
 */
export function creatorUserLabel(username: string): string | undefined {
  if (username === "") return undefined;
  const escaped = username.replace(/[^\w\-.]/g, "-");
  if (LABEL_VALUE.test(escaped)) return escaped;
  const hash = createHash("sha256").update(username).digest("hex").slice(0, 12);
  return `${escaped.replace(/^[^A-Za-z0-9]+/, "").slice(0, 50)}-${hash}`.replace(/^-/, "");
}
