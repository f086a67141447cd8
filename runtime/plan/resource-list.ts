import { z } from "zod";

import { isQuantity } from "./quantity";

/** Amounts by resource name, as strings. */
export const resourceListSchema = z.record(
  z.string().min(1),
  z
    .union([z.string(), z.number()])
    .refine(isQuantity, "is not a quantity; give a number with an optional suffix, such as 500m, 2 or 1.5Gi")
    .refine(isNotNegative, "is negative; give an amount of zero or more")
    .transform(String),
);

/** What is no quantity is told of already. */
function isNotNegative(value: string | number): boolean {
  return !String(value).startsWith("-") || !isQuantity(value);
}
