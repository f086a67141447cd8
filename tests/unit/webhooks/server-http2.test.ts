import assert from "node:assert/strict";
import { once } from "node:events";
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from "node:http2";
import { Agent, request as httpsRequest } from "node:https";
import { connect as connectTcp } from "node:net";
import { connect as connectTls } from "node:tls";

import { ALLOWED, errored } from "../../../runtime/webhooks/admission-review";
import { decideCertificates } from "../../../runtime/webhooks/certificates";
import { AdmissionServer } from "../../../runtime/webhooks/server";
import { until } from "../../support/until";

function certificates() {
  const decision = decideCertificates({}, ["127.0.0.1"], new Date());
  assert.equal(decision.do, "replace");
  return decision.data;
}

const review = reviewOf("");
function reviewOf(padding: string): string {
  return JSON.stringify({
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    request: { uid: "u1", operation: "CREATE", object: { metadata: { annotations: { padding } } } },
  });
}

/** A webhook that answers when it is told to. */
class Gate {
  asked = 0;
  private open: () => void = () => undefined;
  private opened = new Promise<void>((resolve) => (this.open = resolve));

  async pass() {
    this.asked += 1;
    await this.opened;
    return ALLOWED;
  }

  let(): void {
    this.open();
  }
}

describe("the admission server over HTTP/2", () => {
  const first = certificates();
  let server: AdmissionServer;
  let gate: Gate;
  let sessions: ClientHttp2Session[];
  let stopped: Promise<void> | undefined;

  beforeEach(async () => {
    gate = new Gate();
    sessions = [];
    stopped = undefined;
    server = await AdmissionServer.start({
      port: 0,
      host: "127.0.0.1",
      certificates: first,
      routes: {
        "/validate/yes": () => ALLOWED,
        "/validate/gate": () => gate.pass(),
        "/validate/elsewhere": () => errored(503, "does not lead"),
      },
    });
  });
  afterEach(async () => {
    gate.let();
    await (stopped ?? server.stop());
    for (const session of sessions) session.destroy();
  });

  async function open(ca = first.ca): Promise<ClientHttp2Session> {
    // Node's own limit on what this side has yet to send is 10 MB.
    const session = connect(`https://127.0.0.1:${server.port}`, { ca, maxSessionMemory: 1_000 });
    sessions.push(session);
    session.on("error", () => undefined);
    await once(session, "connect");
    return session;
  }

  function begin(session: ClientHttp2Session, path: string, method = "POST"): ClientHttp2Stream {
    return session.request({ ":method": method, ":path": path }, { endStream: false });
  }

  function answerOf(stream: ClientHttp2Stream): Promise<{ status: number | undefined; text: string }> {
    return new Promise((resolve, reject) => {
      let status: number | undefined;
      let text = "";
      stream.on("response", (headers) => (status = headers[":status"]));
      stream.on("data", (chunk: Buffer) => (text += chunk.toString()));
      stream.on("error", reject);
      stream.on("close", () => resolve({ status, text }));
    });
  }

  function call(session: ClientHttp2Session, path: string, body = review, method = "POST") {
    const stream = begin(session, path, method);
    stream.end(body);
    return answerOf(stream);
  }

  /** Over HTTP/1.1. */
  function callPlainly(agent: Agent): Promise<{ status: number | undefined; keepAlive: string | undefined }> {
    return new Promise((resolve, reject) => {
      const target = { host: "127.0.0.1", port: server.port, ca: first.ca, agent };
      const request = httpsRequest({ ...target, path: "/validate/yes", method: "POST" }, (response) => {
        response.resume();
        const keepAlive = String(response.headers["keep-alive"]);
        response.on("end", () => resolve({ status: response.statusCode, keepAlive }));
      });
      request.on("error", reject);
      request.end(review);
    });
  }

  it("answers any number of reviews at once over one session", async () => {
    const session = await open();
    const calls = Array.from({ length: 300 }, () => call(session, "/validate/gate?timeout=10s"));
    await until("all are asked", () => gate.asked === 300);
    gate.let();
    for (const { status, text } of await Promise.all(calls)) {
      assert.equal(status, 200);
      assert.match(text, /"uid":"u1","allowed":true/);
    }
  });

  it("takes large reviews at once", async () => {
    const session = await open();
    const large = reviewOf("x".repeat(700_000));
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => call(session, "/validate/yes", large)),
    );
    assert.ok(answers.every(({ status }) => status === 200));
  });

  it("speaks HTTP/1.1 too, over connections that outlive an API server's patience", async () => {
    const agent = new Agent({ keepAlive: true });
    try {
      const { status, keepAlive } = await callPlainly(agent);
      assert.equal(status, 200);
      const seconds = /^timeout=(\d+)$/.exec(keepAlive ?? "")?.[1];
      // No word of it means for ever.
      assert.ok(seconds === undefined || Number(seconds) > 90, keepAlive);
    } finally {
      agent.destroy();
    }
  });

  const wrong: [path: string, body: string, method: string, status: number][] = [
    ["/validate/none", review, "POST", 404],
    ["/validate/yes", review, "PUT", 405],
    ["/validate/yes", "{", "POST", 400],
    ["/validate/yes", " ".repeat(17 * 1024 * 1024), "POST", 400],
  ];
  for (const [path, body, method, status] of wrong) {
    it(`answers ${status} to ${method} ${path} with ${body.slice(0, 1)}, and goes on`, async () => {
      const session = await open();
      assert.equal((await call(session, path, body, method)).status, status);
      assert.equal((await call(session, "/validate/yes")).status, 200);
    });
  }

  it("changes its certificate without ending a session", async () => {
    const session = await open();
    await call(session, "/validate/yes");
    const second = certificates();
    server.useCertificates(second);
    assert.equal((await call(session, "/validate/yes")).status, 200, "the open session goes on");
    const other = await open(second.ca);
    assert.equal(other.alpnProtocol, "h2");
    assert.equal((await call(other, "/validate/yes")).status, 200);
    await assert.rejects(open(), /verify the first certificate|self-signed certificate/);
  });

  it("answers what is under way before it stops", async () => {
    const session = await open();
    const calls = Array.from({ length: 20 }, () => call(session, "/validate/gate"));
    const idle = await open();
    const silent = connectTcp(server.port, "127.0.0.1");
    await Promise.all([once(silent, "connect"), until("they are asked", () => gate.asked === 20)]);
    const ended = Promise.all([session, idle, silent].map((connection) => once(connection, "close")));
    const told = once(session, "goaway");
    stopped = server.stop();
    await told;
    gate.let();
    for (const { status, text } of await Promise.all(calls)) {
      assert.equal(status, 200);
      assert.match(text, /"allowed":true/);
    }
    await Promise.all([stopped, ended]);
  });

  it("sends clients elsewhere when it does not lead, after what is under way", async () => {
    const session = await open();
    const before = call(session, "/validate/gate");
    await until("it is asked", () => gate.asked === 1);
    const told = once(session, "goaway") as Promise<[code: number]>;
    const { status, text } = await call(session, "/validate/elsewhere");
    assert.equal(status, 200);
    assert.match(text, /"code":503/);
    assert.deepEqual((await told)[0], constants.NGHTTP2_NO_ERROR);
    const ended = once(session, "close");
    gate.let();
    assert.match((await before).text, /"allowed":true/);
    await ended;
    assert.equal((await call(await open(), "/validate/yes")).status, 200);
  });

  it("lives on when a review is given up, before or after its end", async () => {
    const session = await open();
    const half = begin(session, "/validate/gate");
    half.write(review.slice(0, 20));
    const whole = begin(session, "/validate/gate");
    whole.end(review);
    await until("it is asked", () => gate.asked === 1);
    for (const stream of [half, whole]) stream.close(constants.NGHTTP2_CANCEL);
    await Promise.all([half, whole].map((stream) => once(stream, "close")));
    assert.equal((await call(session, "/validate/yes")).status, 200);
    const cut = begin(session, "/validate/gate");
    cut.write(review.slice(0, 20));
    session.destroy();
    assert.equal((await call(await open(), "/validate/yes")).status, 200);
    gate.let();
    stopped = server.stop();
    await stopped;
    assert.equal(gate.asked, 1);
  });

  for (const [what, protocols] of [
    ["HTTP/2", ["h2"]],
    ["HTTP/1.1", ["http/1.1"]],
  ] as const) {
    it(`lives on when it hears nonsense for ${what}`, async () => {
      const target = { host: "127.0.0.1", port: server.port, ca: first.ca };
      const socket = connectTls({ ...target, ALPNProtocols: [...protocols] });
      socket.on("error", () => undefined).resume();
      await once(socket, "secureConnect");
      socket.write("nonsense ".repeat(100));
      await once(socket, "close");
      const raw = connectTcp(server.port, "127.0.0.1");
      raw.on("error", () => undefined).resume();
      raw.write("nonsense");
      await once(raw, "close");
      assert.equal((await call(await open(), "/validate/yes")).status, 200);
    });
  }
});
