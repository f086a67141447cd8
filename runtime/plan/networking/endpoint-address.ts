import { isIP } from "node:net";
import { z } from "zod";

const LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/i;

/** An address of the networks beneath the tunnel, which may be of either family. */
export const underlayAddressSchema = z
  .string()
  .refine((text) => isIP(text) !== 0, "is not an IP address; give one, such as 203.0.113.10");

/** Such an address, or a name of one. */
export const endpointAddressSchema = z
  .string()
  .min(1, "is empty; give an address or a name")
  .refine(
    (text) => text === "" || isIP(text) !== 0 || isHostName(text),
    "is neither an IP address nor a host name; give one alone, such as 203.0.113.10 or vpn.example, and its port as addressPort",
  );

/** A last label of digits alone is that of an address that was miswritten: no top-level domain has such a name (RFC 1123, 2.1). */
function isHostName(text: string): boolean {
  const labels = text.replace(/\.$/, "").split(".");
  return (
    text.length <= 254 && labels.every((label) => LABEL.test(label)) && !/^\d+$/.test(labels.at(-1) ?? "")
  );
}
