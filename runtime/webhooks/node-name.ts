/** What a label may hold: a node carries its name in `kubernetes.io/hostname`, and what belongs to a slice or a virtual node carries theirs. */
const LONGEST = 63;

/**
 * Why a name can't become a virtual node's, which a slice gives to its VirtualNode and Node. All other names that are made of it (of the
 * Identity, its Secret, the Quota) may have 253 characters.
 */
export function nodeNameFaults(name = ""): string[] {
  if (name.length <= LONGEST) return [];
  return [
    `metadata.name: "${name}" has ${name.length} characters, and the labels that carry the name of a virtual node hold ${LONGEST}; choose a shorter name`,
  ];
}
