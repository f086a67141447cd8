import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { parse } from "yaml";
import {
  ConfigMap,
  DataKey,
  type Desired,
  type KubeObject,
  Namespace,
  ResourceSlice,
  type Role,
  type RoleBinding,
  Secret,
  Tenant,
} from "../../runtime/api";
import { iamUserName } from "../../runtime/authentication/identity-provider/iam-provider";
import { startAuthentication } from "../../runtime/authentication/start";
import {
  controlPlaneSubject,
  createCertificateRequest,
  ed25519KeyPair,
  generateNonce,
  resourceSliceSubject,
  signNonce,
} from "../../runtime/identity";
import {
  nonceData,
  nonceSecret,
  type PeeringSides,
  tenant,
  tenantNamespace,
} from "../../runtime/plan/peering";
import { TestClock } from "../support/test-clock";
import { awsAuthRules } from "../../runtime/plan/rbac";
import { ProviderAccess } from "../../runtime/virtual-kubelet/peer/provider-access";
import { eventAbout } from "../support/events";
import { FakeAws } from "../support/fake-aws";
import { installDefinitions } from "../support/install-definitions";
import { installRoles, kubeconfigOf } from "../support/install-roles";
import { kindOf } from "../support/kind-of";
import { type TestContext, testContext } from "../support/runtime-context";
import { until } from "../support/until";
import { withControlPlanes } from "../support/with-control-planes";

const sides: PeeringSides = {
  consumer: { clusterId: "rome", tenantNamespace: "to-milan" },
  provider: { clusterId: "milan", tenantNamespace: "guests-from-rome" },
};
const rbac = "rbac.authorization.k8s.io";
const account = "liqo-controller-manager";
const base64 = (text: string) => Buffer.from(text).toString("base64");

describe("a provider on EKS, with a fake of AWS", function () {
  this.timeout(60_000);
  const keys = ed25519KeyPair(Buffer.alloc(32, 9));
  const aws = new FakeAws({
    name: "milan-eks",
    endpoint: "https://eks.example",
    certificateAuthority: "Q0E=",
  });
  let admin: TestContext;
  let context: TestContext;

  after(async () => {
    await Promise.all([context?.end(), admin?.end()]);
  });
  const controlPlane = withControlPlanes({ milan: {} });
  const apply = (object: Desired<KubeObject>) =>
    admin.client.apply(kindOf(object), object, { fieldManager: "test-administrator", force: true });

  before(async () => {
    admin = testContext(controlPlane("milan").kubeconfig, "test");
    await installDefinitions(admin.client);
    await admin.client.create(Namespace, {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: "liqo-system" },
    });
    await installRoles(admin.client, "liqo-system");
    const role: Desired<Role> = {
      apiVersion: `${rbac}/v1`,
      kind: "Role",
      metadata: { name: account, namespace: "kube-system" },
      rules: awsAuthRules,
    };
    const binding: Desired<RoleBinding> = {
      apiVersion: `${rbac}/v1`,
      kind: "RoleBinding",
      metadata: { name: account, namespace: "kube-system" },
      roleRef: { apiGroup: rbac, kind: "Role", name: account },
      subjects: [{ kind: "ServiceAccount", name: account, namespace: "liqo-system" }],
    };
    await apply(role);
    await apply(binding);
    await apply(tenantNamespace("guests-from-rome", "rome"));
    const kubeconfig = await kubeconfigOf(controlPlane("milan"), "liqo-system", account);
    context = testContext(kubeconfig, "controller-manager");
    await startAuthentication(context, {
      clusterId: "milan",
      liqoNamespace: "liqo-system",
      tlsCompatibilityMode: false,
      endpoint: { addressOverride: "unused", caOverride: "", trustedCa: false },
      defaultClass: {
        enabled: true,
        defaultResources: { cpu: "4" },
        clusterLabels: {},
        ingressClasses: [],
        loadBalancerClasses: [],
        storageEnabled: false,
        realStorageClassName: "",
      },
      limitsEnforcement: "None",
      global: { labels: {}, annotations: {} },
      offloadingEnabled: true,
      aws: { api: aws, region: "eu-south-1", clusterName: "milan-eks" },
    });
    const nonce = generateNonce();
    await apply({ ...nonceSecret(sides), data: nonceData(nonce) } as Desired<Secret>);
    await apply(
      tenant(sides, {
        publicKey: base64(keys.publicKey),
        csr: base64(createCertificateRequest(controlPlaneSubject("rome"), keys.privateKey)),
        signature: signNonce(nonce, keys.privateKey).toString("base64"),
      }),
    );
  });

  const authParams = async () =>
    (await admin.client.get(Tenant, { name: "rome", namespace: "guests-from-rome" }))?.status?.authParams;
  const mapped = async () =>
    parse(
      (await admin.client.get(ConfigMap, { name: "aws-auth", namespace: "kube-system" }))?.data?.mapUsers ??
        "[]",
    ) as unknown;

  it("says that the map of users is missing, and goes on when it is there", async () => {
    const about = { kind: "Tenant", name: "rome", namespace: "guests-from-rome" };
    assert.match(
      await eventAbout(admin.client, about, "AuthParamsFailed"),
      /kube-system\/aws-auth is not there; create it/,
    );
    await admin.client.create(ConfigMap, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "aws-auth", namespace: "kube-system" },
    });
    await until("credentials", authParams);
  });

  it("makes the consumer an IAM user with a key, known to the cluster", async () => {
    const name = iamUserName(controlPlaneSubject("rome"), "milan");
    const user = aws.users.get(name);
    assert.deepEqual(user?.tags, {
      "liqo.io/local-cluster-id": "milan",
      "liqo.io/remote-cluster-id": "rome",
      "liqo.io/managed-by": "liqo",
      "liqo.io/identity-type": "ControlPlane",
    });
    assert.deepEqual(await authParams(), {
      apiServer: "https://eks.example",
      // The base64 text of EKS, encoded once more.
      ca: base64("Q0E="),
      awsConfig: {
        awsUserArn: user.arn,
        awsAccessKeyID: user.keys.at(-1)?.id,
        awsSecretAccessKey: user.keys.at(-1)?.secret,
        awsRegion: "eu-south-1",
        awsClusterName: "milan-eks",
      },
    });
    assert.deepEqual(await mapped(), [{ userarn: user.arn, username: "rome", groups: ["liqo.io"] }]);
  });

  it("makes each slice a user of its own", async () => {
    const slice: Desired<ResourceSlice> = {
      apiVersion: "authentication.liqo.io/v1beta1",
      kind: "ResourceSlice",
      metadata: {
        name: "pool",
        namespace: "guests-from-rome",
        labels: {
          "liqo.io/replication": "false",
          "liqo.io/replicated": "true",
          "liqo.io/originID": "rome",
          "liqo.io/remote-cluster-id": "rome",
          "liqo.io/remoteID": "milan",
        },
      },
      spec: {
        consumerClusterID: "rome",
        providerClusterID: "milan",
        csr: base64(createCertificateRequest(resourceSliceSubject("pool", "rome"), keys.privateKey)),
      },
    };
    await apply(slice);
    const answered = await until("slice accepted", async () => {
      const seen = await admin.client.get(ResourceSlice, { name: "pool", namespace: "guests-from-rome" });
      return seen?.status?.conditions?.every(({ status }) => status === "Accepted") && seen;
    });
    const user = aws.users.get(iamUserName(resourceSliceSubject("pool", "rome"), "milan"));
    assert.equal(user?.tags["liqo.io/resourceslice-name"], "pool");
    assert.equal(answered.status?.authParams?.awsConfig?.awsUserArn, user.arn);
    assert.deepEqual(await mapped(), [
      {
        userarn: aws.users.get(iamUserName(controlPlaneSubject("rome"), "milan"))?.arn,
        username: "rome",
        groups: ["liqo.io"],
      },
      { userarn: user.arn, username: "pool-a8a4c692b93b", groups: ["rome"] },
    ]);
  });

  it("is reached by a virtual kubelet with a token, which is renewed before it expires", async () => {
    const tokens: (string | undefined)[] = [];
    const eks = createServer((request, response) => {
      tokens.push(request.headers.authorization);
      response.end(JSON.stringify({ apiVersion: "v1", kind: "Namespace", metadata: { name: "pizzeria" } }));
    }).listen(0, "127.0.0.1");
    await once(eks, "listening");
    const { port } = eks.address() as AddressInfo;
    const kubeconfig = {
      "current-context": "milan",
      clusters: [{ name: "milan", cluster: { server: `http://127.0.0.1:${port}` } }],
      contexts: [{ name: "milan", context: { cluster: "milan", user: "rome" } }],
      users: [{ name: "rome", user: {} }],
    };
    const ref = { name: "resourceslice-pool", namespace: "guests-from-rome" };
    await admin.client.create(Secret, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: ref,
      data: {
        [DataKey.kubeconfig]: base64(JSON.stringify(kubeconfig)),
        [DataKey.awsAccessKeyID]: base64("AKIAROME"),
        [DataKey.awsSecretAccessKey]: base64("fake"),
        [DataKey.awsRegion]: base64("eu-south-1"),
        [DataKey.awsEksClusterID]: base64("milan-eks"),
        [DataKey.awsIamUserArn]: base64("arn:aws:iam::1:user/rome"),
      },
    });
    const clock = new TestClock();
    const { informers, log, metrics } = admin;
    const access = new ProviderAccess({ clock, informers, log, metrics }, ref);
    const { client } = await until("the way to milan", () =>
      access.client === undefined ? undefined : access,
    );
    const ask = () => client?.get(Namespace, { name: "pizzeria" });
    await ask();
    await clock.advance(5 * 60_000);
    await ask();
    await clock.advance(6 * 60_000);
    await ask();
    const [first, second, third] = tokens;
    assert.match(first ?? "", /^Bearer k8s-aws-v1\./);
    assert.equal(second, first);
    assert.match(third ?? "", /^Bearer k8s-aws-v1\./);
    assert.notEqual(third, first);
    access.close();
    assert.equal(clock.waiting, 0);
    eks.close();
  });

  it("asks AWS for nothing more while all is there", async () => {
    const before = aws.actions.length;
    await admin.client.patch(
      Tenant,
      { name: "rome", namespace: "guests-from-rome" },
      { metadata: { labels: { touched: "yes" } } },
      { type: "merge" },
    );
    await new Promise((resolve) => setTimeout(resolve, 500));
    assert.equal(aws.actions.length, before);
  });

  it("makes a new key where the kept one is lost, at the cost of the old ones where need be", async () => {
    const user = aws.users.get(iamUserName(controlPlaneSubject("rome"), "milan"));
    user?.keys.push({ id: "AKIAOTHER", secret: "fake" });
    assert.equal(user?.keys.length, 2);
    await admin.client.delete(Secret, { name: "liqo-remote-certificate", namespace: "guests-from-rome" });
    await admin.client.patch(
      Tenant,
      { name: "rome", namespace: "guests-from-rome" },
      { metadata: { labels: { touched: "again" } } },
      { type: "merge" },
    );
    await until("new key", async () => {
      const id = (await authParams())?.awsConfig?.awsAccessKeyID;
      return user.keys.length === 1 && id === user.keys[0]?.id;
    });
    const kept = await admin.client.get(Secret, {
      name: "liqo-remote-certificate",
      namespace: "guests-from-rome",
    });
    assert.equal(
      Buffer.from(kept?.data?.[DataKey.awsAccessKeyID] ?? "", "base64").toString(),
      user.keys[0]?.id,
    );
  });
});
