import { Annotation, isOn } from "../../api/keys";

/** Which objects of a kind are reflected: all but those marked, or only those marked (offloading reference 9.3). */
export type ReflectionPolicy = "DenyList" | "AllowList";

/** An object that asks for two things at once. */
export class ContradictoryAnnotations extends Error {
  override readonly name = "ContradictoryAnnotations";
}

/** Whether an object is to be reflected under the policy of its kind. */
export function isAllowed(
  policy: ReflectionPolicy,
  annotations: Record<string, string> | undefined,
): boolean {
  return policy === "DenyList"
    ? !isOn(annotations?.[Annotation.skipReflection])
    : isOn(annotations?.[Annotation.allowReflection]);
}

/**
 * What the object itself asks for, whatever the policy of its kind; undefined when it asks for nothing.
 *
 * @throws ContradictoryAnnotations when it asks for both
 */
export function explicitChoice(annotations: Record<string, string> | undefined): boolean | undefined {
  const skip = isOn(annotations?.[Annotation.skipReflection]);
  const allow = isOn(annotations?.[Annotation.allowReflection]);
  if (skip && allow) {
    throw new ContradictoryAnnotations(
      `carries both ${Annotation.skipReflection} and ${Annotation.allowReflection}; keep one of them`,
    );
  }
  return skip ? false : allow ? true : undefined;
}
