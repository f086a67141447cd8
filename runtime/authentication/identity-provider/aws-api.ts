/** A credential of an IAM user. */
export interface AccessKey {
  id: string;
  secret: string;
}

/** The calls of AWS that cloud identities need, and no more (the policy of control plane reference 17.4 allows just these). */
export interface AwsApi {
  /** Endpoint of an EKS cluster, and its CA as the base64 text that EKS gives. */
  describeCluster(name: string): Promise<{ endpoint: string; certificateAuthority: string }>;
  /** ARN of a user; undefined where there is none. */
  user(name: string): Promise<string | undefined>;
  /** @returns its ARN */
  createUser(name: string, tags: Readonly<Record<string, string>>): Promise<string>;
  /** @returns undefined where the user has as many keys as it may have */
  createAccessKey(user: string): Promise<AccessKey | undefined>;
  /** IDs of a user's keys. */
  accessKeys(user: string): Promise<string[]>;
  deleteAccessKey(user: string, id: string): Promise<void>;
}

/** AWS refused. The message names the action and AWS's own code and words; never a key. */
export class AwsError extends Error {
  override readonly name = "AwsError";

  constructor(
    readonly action: string,
    readonly code: string,
    message: string,
  ) {
    super(`${action}: ${code}: ${message}`);
  }
}
