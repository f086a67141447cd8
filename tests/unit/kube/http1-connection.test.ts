import assert from "node:assert/strict";

import fc from "fast-check";

import { Http1Response, MalformedResponseError } from "../../../runtime/kube/client/http1-connection";

interface Seen {
  status?: number;
  headers?: Record<string, unknown>;
  body: string;
  reusable?: boolean;
}

function read(chunks: Buffer[], { method = "GET", close = false } = {}): Seen {
  const seen: Seen = { body: "" };
  const parts: Buffer[] = [];
  const response = new Http1Response(method, {
    onHead: (status, headers) => Object.assign(seen, { status, headers }),
    onData: (chunk) => parts.push(Buffer.from(chunk)),
    onEnd: (reusable) => (seen.reusable = reusable),
  });
  for (const chunk of chunks) response.push(chunk);
  if (close) response.close();
  seen.body = Buffer.concat(parts).toString();
  return seen;
}

const text = (...lines: string[]) => Buffer.from(lines.join("\r\n"));

describe("HTTP/1.1 responses", () => {
  it("end by their length", () => {
    const seen = read([text("HTTP/1.1 200 OK", "Content-Length: 5", "X-A: 1", "x-a:2", "", "hello")]);
    assert.deepEqual(seen, {
      status: 200,
      headers: { "content-length": "5", "x-a": ["1", "2"] },
      body: "hello",
      reusable: true,
    });
  });

  it("end by their last chunk, extensions and trailers aside", () => {
    const seen = read([
      text(
        "HTTP/1.1 200",
        "Transfer-Encoding: chunked",
        "",
        "5;x=y",
        "hello",
        "A",
        "0123456789",
        "0",
        "Trailer: 1",
        "",
        "",
      ),
    ]);
    assert.deepEqual([seen.body, seen.reusable], ["hello0123456789", true]);
  });

  it("end with the connection where they have no length, and not before", () => {
    const bytes = text("HTTP/1.1 200 OK", "", "all of it");
    assert.equal(read([bytes]).reusable, undefined);
    assert.deepEqual(
      [read([bytes], { close: true }).body, read([bytes], { close: true }).reusable],
      ["all of it", false],
    );
  });

  it("have no body where the protocol says so", () => {
    assert.equal(read([text("HTTP/1.1 204 No Content", "", "")]).reusable, true);
    assert.equal(read([text("HTTP/1.1 304 Not Modified", "content-length: 7", "", "")]).reusable, true);
    assert.equal(
      read([text("HTTP/1.1 200 OK", "content-length: 7", "", "")], { method: "HEAD" }).reusable,
      true,
    );
    assert.equal(read([text("HTTP/1.1 200 OK", "content-length: 0", "", "")]).reusable, true);
  });

  it("may come after informational ones, and may end the connection", () => {
    const seen = read([
      text(
        "HTTP/1.1 103 Early Hints",
        "Link: x",
        "",
        "HTTP/1.1 404 Not Found",
        "Connection: keep-alive, Close",
        "Content-Length: 2",
        "",
        "no",
      ),
    ]);
    assert.deepEqual([seen.status, seen.body, seen.reusable], [404, "no", false]);
    assert.equal(read([text("HTTP/1.0 200 OK", "Content-Length: 0", "", "")]).reusable, false);
  });

  const malformed: [string, Buffer][] = [
    ["something else than HTTP", text("SSH-2.0-OpenSSH", "", "")],
    ["two ways to end", text("HTTP/1.1 200 OK", "Content-Length: 5", "Transfer-Encoding: chunked", "", "")],
    ["another coding", text("HTTP/1.1 200 OK", "Transfer-Encoding: gzip, chunked", "", "")],
    ["two lengths", text("HTTP/1.1 200 OK", "Content-Length: 5", "Content-Length: 6", "", "")],
    ["a length that is no number", text("HTTP/1.1 200 OK", "Content-Length: +5", "", "")],
    ["a folded header", text("HTTP/1.1 200 OK", "X-A: 1", " 2", "", "")],
    ["a header without a name", text("HTTP/1.1 200 OK", ": 1", "", "")],
    ["a chunk without a size", text("HTTP/1.1 200 OK", "Transfer-Encoding: chunked", "", "xyz", "")],
    [
      "a chunk that is longer than it says",
      text("HTTP/1.1 200 OK", "Transfer-Encoding: chunked", "", "2", "hello", ""),
    ],
    ["bytes after the end", text("HTTP/1.1 200 OK", "Content-Length: 2", "", "okHTTP/1.1 200 OK")],
    ["a head without an end", Buffer.concat([text("HTTP/1.1 200 OK", "X-A: "), Buffer.alloc(70_000, "a")])],
  ];
  for (const [name, bytes] of malformed) {
    it(`are refused: ${name}`, () => {
      assert.throws(() => read([bytes]), MalformedResponseError);
    });
  }

  it("read the same however the bytes are cut", () => {
    const chunk = fc.uint8Array({ minLength: 1, maxLength: 50 }).map((bytes) => Buffer.from(bytes));
    const framed = fc.array(chunk, { maxLength: 6 }).chain((parts) =>
      fc.boolean().map((chunked) => {
        const body = Buffer.concat(parts);
        const head = (field: string) => Buffer.from(`HTTP/1.1 200 OK\r\n${field}\r\n\r\n`);
        const pieces = parts.flatMap((part) => [
          Buffer.from(`${part.length.toString(16)}\r\n`),
          part,
          Buffer.from("\r\n"),
        ]);
        const bytes = chunked
          ? Buffer.concat([head("Transfer-Encoding: chunked"), ...pieces, Buffer.from("0\r\n\r\n")])
          : Buffer.concat([head(`Content-Length: ${body.length}`), body]);
        return { bytes, body };
      }),
    );
    fc.assert(
      fc.property(
        framed,
        fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 }),
        ({ bytes, body }, sizes) => {
          const cuts: Buffer[] = [];
          for (let start = 0, i = 0; start < bytes.length; i++) {
            const size = sizes[i % sizes.length] ?? 1;
            cuts.push(bytes.subarray(start, start + size));
            start += size;
          }
          const seen = read(cuts);
          assert.equal(seen.body, body.toString());
          assert.equal(seen.reusable, true);
        },
      ),
    );
  });
});
