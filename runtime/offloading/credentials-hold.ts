/** What is known of the Secret with a slice's credentials. */
export interface CredentialsFacts {
  deleting: boolean;
  /** Whether it has our finalizer. */
  held: boolean;
  /** Names of the virtual nodes that use it. */
  users: readonly string[];
  /** Whether its Identity is there to stay, and would have it made again. */
  madeAgain: boolean;
}

/** `tell`: it is held though somebody wants it gone. */
export type CredentialsStep = "hold" | "release" | "tell" | "nothing";

/**
 * Credentials outlive their slice for as long as a virtual node uses them: without them nobody could take its pods from the provider. A Secret that
 * its Identity makes again is not held, or it would never come back.
 */
export function decideCredentials({ deleting, held, users, madeAgain }: CredentialsFacts): CredentialsStep {
  const used = users.length > 0;
  if (!deleting) return used === held ? "nothing" : used ? "hold" : "release";
  if (!held) return "nothing";
  return used && !madeAgain ? "tell" : "release";
}
