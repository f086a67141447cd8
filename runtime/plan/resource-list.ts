import { z } from "zod";

import { quantityFault } from "../api/quantity";

/** Amounts by resource name, as strings. */
export const resourceListSchema = z.record(
  z.string().min(1),
  z
    .union([z.string(), z.number()])
    .superRefine((amount, context) => {
      const message = quantityFault(amount);
      if (message !== undefined) context.addIssue({ code: "custom", message });
    })
    .transform(String),
);
