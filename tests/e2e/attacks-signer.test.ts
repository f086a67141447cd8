import assert from "node:assert/strict";

import { CertificateSigningRequest, Identity, ResourceSlice, Secret, Tenant } from "../../runtime/api";
import { parseCertificate } from "../../runtime/identity";
import { type Clock, systemClock } from "../../runtime/kube";
import { CertificateSigner } from "../support/certificate-signer";
import { eventWith } from "../support/events";
import type { ManagedCluster } from "../support/managed-cluster";
import { installPair } from "../support/managed-pair";
import { atMilan, atRome, sides, tenantOfRome } from "../support/peering-of-rome";
import { PeeringSteps } from "../support/peering-steps";
import { until } from "../support/until";
import { withControlPlanes } from "../support/with-control-planes";

const MINUTE = 60_000;
const LIFETIME_MS = 60 * MINUTE;
const ANOTHER = "O=system:masters, CN=kubernetes-admin";
const NOT_HANDED_OUT =
  /issued for CertificateSigningRequest liqo-identity-\w+ is not handed out: common name of the certificate is "kubernetes-admin", expected "[^"]+"; see who signs in this cluster, and delete/;

describe("a signer of milan that certifies somebody else than rome asked for", function () {
  this.timeout(180_000);
  let rome: ManagedCluster;
  let milan: ManagedCluster;
  let signer: CertificateSigner;
  let steps: PeeringSteps;
  after(async () => {
    await Promise.all([rome?.end(), signer?.stop()]);
    await milan?.end();
  });
  const controlPlane = withControlPlanes({
    rome: { serviceCidr: "10.97.0.0/16" },
    // Without kube-controller-manager: the test signs in its place.
    milan: { serviceCidr: "10.98.0.0/16" },
  });
  before(async () => {
    [rome, milan] = await installPair(controlPlane);
    signer = await CertificateSigner.start(controlPlane("milan"), milan.admin, LIFETIME_MS);
    await Promise.all([rome.start(), milan.start()]);
    steps = new PeeringSteps(rome, milan, sides, "pool");
    await steps.namespaces();
  });
  beforeEach(() => {
    signer.certifiesInstead = ANOTHER;
  });

  const tenant = () => until("the Tenant", () => milan.admin.get(Tenant, tenantOfRome));
  const authentication = async (name: string) =>
    (await rome.admin.get(ResourceSlice, atRome(name)))?.status?.conditions?.find(
      ({ type }) => type === "Authentication",
    );

  /** What an administrator does who has found out who signs. */
  async function mendSigner(): Promise<void> {
    signer.certifiesInstead = undefined;
    for (const { metadata, status } of await milan.admin.list(CertificateSigningRequest)) {
      const { commonName } = parseCertificate(Buffer.from(status?.certificate ?? "", "base64"));
      if (commonName === "kubernetes-admin") await milan.admin.delete(CertificateSigningRequest, metadata);
    }
  }

  it("gives the control plane nothing, until its request is deleted and it is honest again", async () => {
    await steps.nonceSecret();
    await steps.tenant();
    await eventWith(milan.admin, await tenant(), "AuthParamsFailed", NOT_HANDED_OUT);
    assert.equal((await tenant()).status?.authParams, undefined);
    assert.equal(await milan.admin.get(Secret, atMilan("liqo-remote-certificate")), undefined);
    await mendSigner();
    await steps.identity();
  });

  it("gives a slice nothing, and the slice says why at the consumer", async () => {
    await steps.slice();
    const { status, message = "" } = await until("an answer", () => authentication("pool"));
    assert.equal(status, "Denied");
    assert.match(message, /^ResourceSlice authentication denied: /);
    assert.match(message, NOT_HANDED_OUT);
    assert.equal((await rome.admin.get(ResourceSlice, atRome("pool")))?.status?.authParams, undefined);
    assert.equal(await rome.admin.get(Identity, atRome("resourceslice-pool")), undefined);
    assert.equal(await milan.admin.get(Secret, atMilan("liqo-remote-certificate-pool")), undefined);
    await mendSigner();
    await until("accepted", async () => (await authentication("pool"))?.status === "Accepted");
  });

  it("does not get its certificate in by a renewal: rome keeps what it has", async () => {
    const { authParams } = (await tenant()).status ?? {};
    assert.ok(authParams?.signedCRT);
    await milan.stop();
    // By this clock every certificate is in its last third.
    const ahead: Clock = { ...systemClock, now: () => Date.now() + (LIFETIME_MS * 5) / 6 };
    await milan.start([], ahead);
    await eventWith(milan.admin, await tenant(), "AuthParamsFailed", NOT_HANDED_OUT);
    const slice = await until("the copy", () => milan.admin.get(ResourceSlice, atMilan("pool")));
    await eventWith(milan.admin, slice, "AuthParamsFailed", NOT_HANDED_OUT);
    assert.deepEqual((await tenant()).status?.authParams, authParams);
    assert.equal((await authentication("pool"))?.status, "Accepted");
    await milan.stop();
    await milan.start();
    await until("accepted still", async () => (await authentication("pool"))?.status === "Accepted");
    assert.deepEqual((await tenant()).status?.authParams, authParams);
  });
});
