/** A fake of AWS's IAM and EKS in memory: users, at most two keys each, one cluster. It decides nothing that the real one decides by policy. */
import {
  type AccessKey,
  type AwsApi,
  AwsError,
} from "../../runtime/authentication/identity-provider/aws-api";

interface FakeUser {
  arn: string;
  tags: Readonly<Record<string, string>>;
  keys: AccessKey[];
}

export class FakeAws implements AwsApi {
  readonly users = new Map<string, FakeUser>();
  /** Names of the actions asked for, in order. */
  readonly actions: string[] = [];
  private serial = 0;

  constructor(private readonly cluster: { name: string; endpoint: string; certificateAuthority: string }) {}

  describeCluster(name: string): Promise<{ endpoint: string; certificateAuthority: string }> {
    this.actions.push("DescribeCluster");
    if (name !== this.cluster.name) {
      return Promise.reject(
        new AwsError(
          "eks:DescribeCluster",
          "ResourceNotFoundException",
          `No cluster found for name: ${name}.`,
        ),
      );
    }
    return Promise.resolve(this.cluster);
  }

  user(name: string): Promise<string | undefined> {
    this.actions.push("GetUser");
    return Promise.resolve(this.users.get(name)?.arn);
  }

  createUser(name: string, tags: Readonly<Record<string, string>>): Promise<string> {
    this.actions.push("CreateUser");
    const arn = `arn:aws:iam::123456789012:user/${name}`;
    this.users.set(name, { arn, tags, keys: [] });
    return Promise.resolve(arn);
  }

  createAccessKey(user: string): Promise<AccessKey | undefined> {
    this.actions.push("CreateAccessKey");
    const { keys } = this.existing(user);
    if (keys.length >= 2) return Promise.resolve(undefined);
    this.serial += 1;
    const key = { id: `AKIAFAKE${this.serial}`, secret: `fake-secret-${this.serial}` };
    keys.push(key);
    return Promise.resolve(key);
  }

  accessKeys(user: string): Promise<string[]> {
    this.actions.push("ListAccessKeys");
    return Promise.resolve(this.existing(user).keys.map(({ id }) => id));
  }

  deleteAccessKey(user: string, id: string): Promise<void> {
    this.actions.push("DeleteAccessKey");
    const found = this.existing(user);
    found.keys = found.keys.filter((key) => key.id !== id);
    return Promise.resolve();
  }

  private existing(user: string): FakeUser {
    const found = this.users.get(user);
    if (found === undefined) throw new AwsError("iam", "NoSuchEntity", `no user ${user}`);
    return found;
  }
}
