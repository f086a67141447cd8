import { z } from "zod";

/** Classes that a provider offers and a virtual node maps to. Source: control-plane.md 2.1. */

export const storageClasses = () =>
  z.array(z.object({ storageClassName: z.string(), default: z.boolean().optional() }));

export const ingressClasses = () =>
  z.array(z.object({ ingressClassName: z.string(), default: z.boolean().optional() }));

export const loadBalancerClasses = () =>
  z.array(z.object({ loadBalancerClassName: z.string(), default: z.boolean().optional() }));
