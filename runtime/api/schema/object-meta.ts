import { z } from "zod";

import type { ObjectMeta } from "../meta";
import { stringMap } from "./fields";

const ownerReference = () =>
  z.object({
    apiVersion: z.string().min(1),
    kind: z.string().min(1),
    name: z.string().min(1),
    uid: z.string().min(1),
    controller: z.boolean().optional(),
    blockOwnerDeletion: z.boolean().optional(),
  });

/** Metadata of an object that has a name. */
export const objectMeta = (): z.ZodType<ObjectMeta> =>
  z.object({
    name: z.string().min(1),
    namespace: z.string().optional(),
    generateName: z.string().optional(),
    uid: z.string().optional(),
    resourceVersion: z.string().optional(),
    generation: z.number().int().optional(),
    creationTimestamp: z.string().nullish(),
    deletionTimestamp: z.string().nullish(),
    deletionGracePeriodSeconds: z.number().int().nullish(),
    labels: stringMap().optional(),
    annotations: stringMap().optional(),
    finalizers: z.array(z.string()).optional(),
    ownerReferences: z.array(ownerReference()).optional(),
    managedFields: z.array(z.record(z.string(), z.unknown())).optional(),
  });
