import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";

import {
  CertificateSigningRequest,
  DataKey,
  type Desired,
  Name,
  Renew,
  ResourceSlice,
  RoleBinding,
  Secret,
  Tenant,
} from "../../runtime/api";
import {
  controlPlaneSubject,
  createCertificateRequest,
  generateKeyPair,
  type KeyPair,
  parseCertificate,
  peeringUserSubject,
  resourceSliceSubject,
  signNonce,
  type Subject,
} from "../../runtime/identity";
import { KubeClient } from "../../runtime/kube";
import { tenant } from "../../runtime/plan/peering";
import { peeringUserBindings } from "../../runtime/plan/peering-user";
import { base64 } from "../support/base64";
import { eventWith } from "../support/events";
import {
  asksFor,
  CN,
  extensions,
  hostileRequest,
  O,
  subjectOf,
  twoReadings,
} from "../support/hostile-identities";
import {
  ACCEPTED,
  atMilan,
  atRome,
  sides,
  tenantOfRome,
  withPeeringOfRome,
} from "../support/peering-of-rome";
import { until } from "../support/until";
import { userKubeconfig } from "../support/user-kubeconfig";

const CONTROLLER_MANAGER = "system:kube-controller-manager";
const ADMINISTRATORS = "kubeadm:cluster-admins";
/** So long nothing is approved that is not refused: a signer answers in a fraction of it. */
const QUIET_MS = 2_000;

/** What an attacker may write into a request that begins as it should, and what is said of it. */
const attacks: [title: string, make: (subject: Subject, keys: KeyPair) => string, words: RegExp][] = [
  [
    "a second common name",
    ({ commonName, organization }, { privateKey }) =>
      hostileRequest(privateKey, {
        subject: subjectOf([O, organization], [CN, commonName], [CN, CONTROLLER_MANAGER]),
      }),
    /common name of the certificate request is "[^"]*" and "system:kube-controller-manager", expected "[^"]*" alone/,
  ],
  [
    "a second organization",
    ({ commonName, organization }, { privateKey }) =>
      hostileRequest(privateKey, {
        subject: subjectOf([O, organization], [O, ADMINISTRATORS], [CN, commonName]),
      }),
    /organization of the certificate request is "[^"]*" and "kubeadm:cluster-admins", expected "[^"]*" alone/,
  ],
  [
    "two common names in one relative distinguished name",
    ({ commonName, organization }, { privateKey }) =>
      hostileRequest(privateKey, {
        subject: subjectOf(
          [O, organization],
          [
            [CN, commonName],
            [CN, CONTROLLER_MANAGER],
          ],
        ),
      }),
    /"system:kube-controller-manager", expected "[^"]*" alone/,
  ],
  [
    "both names in one relative distinguished name",
    ({ commonName, organization }, { privateKey }) =>
      hostileRequest(privateKey, {
        subject: subjectOf([
          [O, organization],
          [CN, commonName],
        ]),
      }),
    /2 attributes in one relative distinguished name/,
  ],
  [
    "the unique ID of a user",
    ({ commonName, organization }, { privateKey }) =>
      hostileRequest(privateKey, {
        subject: subjectOf([O, organization], [CN, commonName], ["1.3.6.1.4.1.57683.2", "0"]),
      }),
    /attribute 1\.3\.6\.1\.4\.1\.57683\.2, expected common name and organization alone/,
  ],
  ...(
    [
      ["a URI as alternative name", extensions.uri, /extension subjectAltName/],
      ["the DNS name of the API server", extensions.dns, /extension subjectAltName/],
      ["the rights of a certificate authority", extensions.authority, /extension basicConstraints/],
      ["the usage of a certificate authority", extensions.signsCertificates, /extension keyUsage/],
    ] as const
  ).map(([title, extension, words]): (typeof attacks)[number] => [
    title,
    ({ commonName, organization }, { privateKey }) =>
      hostileRequest(privateKey, {
        subject: subjectOf([O, organization], [CN, commonName]),
        attributes: [asksFor(extension)],
      }),
    words,
  ]),
  [
    "another request before it, which only the API server reads",
    (subject, { privateKey }) =>
      twoReadings(
        createCertificateRequest(
          { commonName: CONTROLLER_MANAGER, organization: ADMINISTRATORS },
          privateKey,
        ),
        createCertificateRequest(subject, privateKey),
      ),
    /characters before its PEM block/,
  ],
];

describe("the consumer rome attacks the certificates of milan", function () {
  this.timeout(180_000);
  const peering = withPeeringOfRome();
  const { controlPlane } = peering;
  let keys: KeyPair;
  const clients: KubeClient[] = [];
  after(() => clients.forEach((client) => client.close()));
  before(async () => {
    keys = await peering.steps.consumerKeys();
  });

  function clientOf(kubeconfig: string): KubeClient {
    const client = KubeClient.fromKubeconfig(kubeconfig, { userAgent: "attacker" });
    clients.push(client);
    return client;
  }

  /** What the signer of milan was asked for. */
  const requests = async () =>
    (await peering.milan.admin.list(CertificateSigningRequest)).map(({ metadata }) => metadata.name).sort();

  describe("by the Tenant, as the peering user that milan made for it", () => {
    let user: KubeClient;
    let signature: string;
    before(async () => {
      const subject = peeringUserSubject("rome");
      const { tenantNamespace } = sides.provider;
      const { liqoNamespace } = peering.milan;
      const names = {
        consumerClusterId: "rome",
        userName: subject.commonName,
        liqoNamespace,
        tenantNamespace,
      };
      for (const binding of peeringUserBindings(names))
        await peering.milan.admin.create(RoleBinding, binding);
      user = clientOf(
        await userKubeconfig(peering.milan.admin, controlPlane("milan").kubeconfig, {
          name: subject.commonName,
          group: subject.organization,
        }),
      );
      await peering.steps.nonceSecret();
      const secret = await user.get(Secret, atMilan(Name.nonceSecret));
      const nonce = Buffer.from(secret?.data?.[DataKey.nonce] ?? "", "base64").toString();
      signature = signNonce(nonce, keys.privateKey).toString("base64");
    });

    const apply = (csr: string) =>
      user.apply(Tenant, tenant(sides, { publicKey: base64(keys.publicKey), csr: base64(csr), signature }), {
        fieldManager: "attacker",
        force: true,
      });

    for (const [title, make, words] of attacks) {
      it(`with ${title}: is told so, and milan signs nothing`, async () => {
        const before = await requests();
        const applied = await apply(make(controlPlaneSubject("rome"), keys));
        await eventWith(peering.milan.admin, applied, "InvalidCSR", words);
        await pause(QUIET_MS);
        assert.deepEqual(await requests(), before);
        const found = await user.get(Tenant, tenantOfRome);
        assert.equal(found?.status?.authParams, undefined);
        assert.equal(await peering.milan.admin.get(Secret, atMilan("liqo-remote-certificate")), undefined);
      });
    }

    it("with what upstream's consumer sends: is let in", async () => {
      await apply(createCertificateRequest(controlPlaneSubject("rome"), keys.privateKey));
      await peering.steps.identity();
      await peering.steps.slice();
      await peering.says("pool", ACCEPTED);
    });
  });

  describe("by its slices and its Renew, as the control plane that milan gave credentials", () => {
    let attacker: KubeClient;
    before(async () => {
      const secret = await until("rome's credentials", () =>
        peering.rome.admin.get(Secret, atRome("kubeconfig-controlplane-milan")),
      );
      attacker = clientOf(Buffer.from(secret.data?.[DataKey.kubeconfig] ?? "", "base64").toString());
      await until("the copy of the Renew", () => attacker.get(Renew, atMilan("controlplane-milan")));
      await peering.rome.stop(); // the attacker has no use for controllers that tidy up after it
    });

    const copy = (name: string, csr: string): Desired<ResourceSlice> => ({
      apiVersion: "authentication.liqo.io/v1beta1",
      kind: "ResourceSlice",
      metadata: {
        ...atMilan(name),
        labels: {
          "liqo.io/replication": "false",
          "liqo.io/replicated": "true",
          "liqo.io/originID": "rome",
          "liqo.io/remote-cluster-id": "rome",
          "liqo.io/remoteID": "milan",
        },
      },
      spec: { consumerClusterID: "rome", providerClusterID: "milan", class: "default", csr: base64(csr) },
    });

    attacks.forEach(([title, make, words], index) => {
      it(`with ${title} for a slice: its condition says so, and milan signs nothing`, async () => {
        const before = await requests();
        const name = `attack-${index}`;
        await attacker.create(ResourceSlice, copy(name, make(resourceSliceSubject(name, "rome"), keys)));
        const status = await until("an answer", async () => {
          const found = await attacker.get(ResourceSlice, atMilan(name));
          return found?.status?.conditions?.length === 2 && found.status;
        });
        const { status: verdict, message } =
          status.conditions?.find(({ type }) => type === "Authentication") ?? {};
        assert.equal(verdict, "Denied");
        assert.match(message ?? "", /^ResourceSlice authentication denied: spec\.csr: /);
        assert.match(message ?? "", words);
        await pause(QUIET_MS);
        assert.deepEqual(await requests(), before);
        assert.equal((await attacker.get(ResourceSlice, atMilan(name)))?.status?.authParams, undefined);
        const kept = await peering.milan.admin.get(Secret, atMilan(`liqo-remote-certificate-${name}`));
        assert.equal(kept, undefined);
      });
    });

    for (const [title, make, words] of attacks.slice(0, 2)) {
      it(`with ${title} for a new key: the Tenant keeps the present one`, async () => {
        const before = [await requests(), (await peering.tenantAtMilan()).spec];
        const pair = generateKeyPair();
        const csr = make(controlPlaneSubject("rome"), pair);
        const renew = await attacker.patch(
          Renew,
          atMilan("controlplane-milan"),
          { spec: { publicKey: base64(pair.publicKey), csr: base64(csr) } },
          { type: "merge" },
        );
        await eventWith(peering.milan.admin, renew, "InvalidCSR", words);
        await pause(QUIET_MS);
        assert.deepEqual([await requests(), (await peering.tenantAtMilan()).spec], before);
      });
    }

    it("with what upstream's consumer sends: gets a slice", async () => {
      const csr = createCertificateRequest(resourceSliceSubject("honest", "rome"), keys.privateKey);
      await attacker.create(ResourceSlice, copy("honest", csr));
      const signed = await until("a certificate", async () => {
        const found = await attacker.get(ResourceSlice, atMilan("honest"));
        return found?.status?.authParams?.signedCRT;
      });
      const { commonName, organizations } = parseCertificate(Buffer.from(signed, "base64"));
      const subject = resourceSliceSubject("honest", "rome");
      assert.deepEqual([commonName, organizations], [subject.commonName, [subject.organization]]);
    });
  });
});
