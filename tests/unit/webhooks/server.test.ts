import assert from "node:assert/strict";
import { Agent, request as send } from "node:https";

import { denied } from "../../../runtime/webhooks/admission-review";
import { decideCertificates } from "../../../runtime/webhooks/certificates";
import { AdmissionServer, type Answer } from "../../../runtime/webhooks/server";

const service = "liqo-webhook.liqo.svc";

function certificates() {
  const decision = decideCertificates({}, [service], new Date());
  assert.equal(decision.do, "replace");
  return decision.data;
}

describe("the admission server", () => {
  const first = certificates();
  let server: AdmissionServer;
  let answers: Answer[];
  const agent = new Agent({ keepAlive: true });

  beforeEach(async () => {
    answers = [];
    server = await AdmissionServer.start({
      port: 0,
      host: "127.0.0.1",
      certificates: first,
      routes: {
        "/validate/no": () => denied("no"),
        "/validate/broken": () => {
          throw new Error("out of order");
        },
      },
      onAnswer: (answer) => answers.push(answer),
    });
  });
  afterEach(() => server.stop());
  after(() => agent.destroy());

  function call(path: string, body: string, options: { method?: string; ca?: string; agent?: Agent } = {}) {
    return new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
      const request = send(
        {
          host: "127.0.0.1",
          port: server.port,
          servername: service,
          path,
          method: options.method ?? "POST",
          ca: options.ca ?? first.ca,
          agent: options.agent ?? new Agent(),
        },
        (response) => {
          let text = "";
          response.on("data", (chunk: Buffer) => (text += chunk.toString()));
          response.on("end", () => resolve({ status: response.statusCode, text }));
        },
      );
      request.on("error", reject);
      request.end(body);
    });
  }
  const review = JSON.stringify({
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    request: { uid: "u1", operation: "CREATE" },
  });

  it("answers a review, whatever the query says", async () => {
    const { status, text } = await call("/validate/no?timeout=10s", review);
    assert.equal(status, 200);
    assert.match(text, /"uid":"u1","allowed":false/);
    assert.equal(answers[0]?.path, "/validate/no");
  });

  it("turns what a webhook throws into an error that names the cause", async () => {
    const { status, text } = await call("/validate/broken", review);
    assert.equal(status, 200);
    assert.match(text, /"code":500,"message":"out of order"/);
    assert.ok(answers[0]?.error instanceof Error);
  });

  const wrong: [path: string, body: string, method: string, status: number][] = [
    ["/validate/none", review, "POST", 404],
    ["/constructor", review, "POST", 404],
    ["/validate/no", review, "PUT", 405],
    ["/validate/no", "{", "POST", 400],
    ["/validate/no", " ".repeat(17 * 1024 * 1024), "POST", 400],
  ];
  for (const [path, body, method, status] of wrong) {
    it(`answers ${status} to ${method} ${path} with ${body.slice(0, 1)}`, async () => {
      assert.equal((await call(path, body, { method })).status, status);
    });
  }

  it("changes its certificate without cutting a connection", async () => {
    await call("/validate/no", review, { agent });
    const second = certificates();
    server.useCertificates(second);
    assert.equal((await call("/validate/no", review, { agent })).status, 200, "the open connection goes on");
    assert.equal((await call("/validate/no", review, { ca: second.ca })).status, 200);
    await assert.rejects(
      call("/validate/no", review, { ca: first.ca }),
      /verify the first certificate|self-signed certificate/,
    );
  });
});
