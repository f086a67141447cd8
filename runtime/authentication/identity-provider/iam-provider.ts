import { createHash } from "node:crypto";
import { parseDocument, stringify } from "yaml";
import { z } from "zod";
import { ConfigMap, DataKey, type Desired, Label, remoteCertificateName, Secret } from "../../api";
import type { Subject } from "../../identity";
import {
  type GlobalMetadata,
  type Informer,
  type KubeClient,
  withGlobalMetadata,
  writeIfChanged,
} from "../../kube";
import type { AccessKey, AwsApi } from "./aws-api";
import type { CredentialRequest, Credentials, IdentityProvider } from "./identity-provider";

export interface IamProviderDependencies {
  client: KubeClient;
  aws: AwsApi;
  /** This cluster's ID. */
  clusterId: string;
  /** Of this cluster. */
  region: string;
  /** Name of this cluster at EKS. */
  clusterName: string;
  /** Secrets labelled `liqo.io/remote-cluster-id`, the issued keys among them. */
  secrets: Informer<Secret>;
  global: GlobalMetadata;
}

interface IamIdentity {
  arn: string;
  key: AccessKey;
}

/** Where EKS looks up which Kubernetes user an IAM user is. */
const mapping = { name: "aws-auth", namespace: "kube-system" };
const mappedUsers = z.array(
  z.object({ userarn: z.string(), username: z.string(), groups: z.array(z.string()).optional() }),
);

/**
 * Identities of IAM users, for EKS, which signs no client certificates (control plane reference 7.3). They do not expire, so there is nothing
 * to renew.
 */
export class IamProvider implements IdentityProvider {
  private cluster: Promise<{ endpoint: string; certificateAuthority: string }> | undefined;

  constructor(private readonly own: IamProviderDependencies) {}

  async credentials(request: CredentialRequest): Promise<Credentials> {
    const { endpoint, certificateAuthority } = await this.describe();
    const kept = this.kept(request);
    const arn = kept?.arn ?? (await this.user(request));
    await this.mapUser(arn, request.subject);
    const identity = kept ?? { arn, key: await this.accessKey(this.nameOf(request)) };
    if (kept === undefined) await this.remember(request, identity);
    return {
      outcome: "issued",
      renewed: false,
      authParams: {
        // The base64 text that EKS gives is what peers expect inside, so that it is encoded twice.
        ca: Buffer.from(certificateAuthority).toString("base64"),
        apiServer: endpoint,
        awsConfig: {
          awsUserArn: identity.arn,
          awsAccessKeyID: identity.key.id,
          awsSecretAccessKey: identity.key.secret,
          awsRegion: this.own.region,
          awsClusterName: this.own.clusterName,
        },
      },
    };
  }

  private describe(): Promise<{ endpoint: string; certificateAuthority: string }> {
    this.cluster ??= this.own.aws.describeCluster(this.own.clusterName).catch((error: unknown) => {
      this.cluster = undefined;
      throw error;
    });
    return this.cluster;
  }

  private kept({ tenantNamespace, sliceName }: CredentialRequest): IamIdentity | undefined {
    const data = this.own.secrets.get(remoteCertificateName(sliceName), tenantNamespace)?.data;
    const read = (key: string) => Buffer.from(data?.[key] ?? "", "base64").toString("utf8");
    const identity = {
      arn: read(DataKey.awsIamUserArn),
      key: { id: read(DataKey.awsAccessKeyID), secret: read(DataKey.awsSecretAccessKey) },
    };
    return identity.arn && identity.key.id && identity.key.secret ? identity : undefined;
  }

  private nameOf({ subject }: CredentialRequest): string {
    return iamUserName(subject, this.own.clusterId);
  }

  /** ARN of the request's user. */
  private async user(request: CredentialRequest): Promise<string> {
    const { aws, clusterId } = this.own;
    const name = this.nameOf(request);
    return (
      (await aws.user(name)) ??
      (await aws.createUser(name, {
        "liqo.io/local-cluster-id": clusterId,
        [Label.remoteClusterID]: request.consumerClusterId,
        "liqo.io/managed-by": "liqo",
        [Label.identityType]: request.sliceName === undefined ? "ControlPlane" : "ResourceSlice",
        ...(request.sliceName === undefined ? {} : { [Label.resourceSliceName]: request.sliceName }),
      }))
    );
  }

  /** The secret half of an old key is lost, so a user that may have no more loses its old ones. */
  private async accessKey(user: string): Promise<AccessKey> {
    const { aws } = this.own;
    const first = await aws.createAccessKey(user);
    if (first !== undefined) return first;
    for (const id of await aws.accessKeys(user)) await aws.deleteAccessKey(user, id);
    const second = await aws.createAccessKey(user);
    if (second !== undefined) return second;
    throw new Error(`IAM user ${user} may have no further access key though its old ones were deleted`);
  }

  private async mapUser(arn: string, subject: Subject): Promise<void> {
    const { client } = this.own;
    const present = await client.get(ConfigMap, mapping);
    if (present === undefined) {
      throw new Error(
        `ConfigMap ${mapping.namespace}/${mapping.name} is not there; create it, so that EKS knows the users of peers`,
      );
    }
    const text = withMappedUser(present.data?.mapUsers, {
      userarn: arn,
      username: subject.commonName,
      groups: [subject.organization],
    });
    if (text === undefined) return;
    await writeIfChanged(
      client,
      ConfigMap,
      { apiVersion: "v1", kind: "ConfigMap", metadata: mapping, data: { mapUsers: text } },
      present,
      { lock: "always" },
    );
  }

  private async remember(request: CredentialRequest, { arn, key }: IamIdentity): Promise<void> {
    const encode = (text: string) => Buffer.from(text).toString("base64");
    const secret: Desired<Secret> = {
      apiVersion: "v1",
      kind: "Secret",
      metadata: {
        name: remoteCertificateName(request.sliceName),
        namespace: request.tenantNamespace,
        labels: { [Label.remoteClusterID]: request.consumerClusterId },
      },
      type: "Opaque",
      data: {
        [DataKey.csr]: request.csr.toString("base64"),
        [DataKey.awsAccessKeyID]: encode(key.id),
        [DataKey.awsSecretAccessKey]: encode(key.secret),
        [DataKey.awsIamUserArn]: encode(arn),
      },
    };
    await writeIfChanged(
      this.own.client,
      Secret,
      withGlobalMetadata(secret, this.own.global),
      this.own.secrets.get(remoteCertificateName(request.sliceName), request.tenantNamespace),
    );
  }
}

/** Name of the IAM user for a subject, within the 63 characters that upstream keeps to. */
export function iamUserName({ commonName, organization }: Subject, clusterId: string): string {
  const digest = createHash("sha256").update(`${commonName}-${organization}-${clusterId}`).digest("base64");
  return `liqo-${digest.replace(/[^A-Za-z0-9 ]/g, "")}`.slice(0, 63);
}

/**
 * The list of mapped users with one more; undefined where its ARN is there already. Comments and the other users stay.
 *
 * @throws Error where the list is not one
 */
export function withMappedUser(
  text: string | undefined,
  user: z.infer<typeof mappedUsers>[number],
): string | undefined {
  const document = parseDocument(text ?? "");
  const present = mappedUsers.safeParse(document.toJS() ?? []);
  if (!present.success || document.errors.length > 0) {
    throw new Error(
      `ConfigMap ${mapping.namespace}/${mapping.name}: data.mapUsers is not a YAML list of {userarn, username, groups}; correct it`,
    );
  }
  if (present.data.some(({ userarn }) => userarn === user.userarn)) return undefined;
  if (present.data.length === 0) return stringify([user]);
  document.addIn([], document.createNode(user));
  return document.toString();
}
