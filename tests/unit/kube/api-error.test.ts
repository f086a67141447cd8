import assert from "node:assert/strict";

import {
  ApiError,
  isAlreadyExists,
  isConflict,
  isGone,
  isNotFound,
  isTooManyRequests,
} from "../../../runtime/kube";

const status = (code: number, reason: string, details?: object) =>
  JSON.stringify({
    kind: "Status",
    apiVersion: "v1",
    status: "Failure",
    message: "sentence",
    reason,
    code,
    details,
  });

describe("API errors", () => {
  it("carry what the server said", () => {
    const causes = [{ reason: "FieldValueInvalid", message: "must be positive", field: "spec.replicas" }];
    const body = status(422, "Invalid", {
      name: "web",
      group: "apps",
      kind: "deployments",
      uid: "u",
      causes,
      retryAfterSeconds: 3,
    });
    const error = ApiError.fromBody('create Deployment "rome/web"', 422, body);
    assert.equal(error.message, 'create Deployment "rome/web": 422 Invalid: sentence');
    assert.deepEqual([error.status, error.reason, error.retryAfterSeconds], [422, "Invalid", 3]);
    assert.deepEqual(error.details, { name: "web", group: "apps", kind: "deployments", uid: "u", causes });
  });

  it("make something of an answer that is no Status", () => {
    const error = ApiError.fromBody("get pods", 502, `<html>${"x".repeat(1_000)}`, "7");
    assert.match(error.message, /^get pods: 502: <html>x+$/);
    assert.ok(error.message.length < 250);
    assert.equal(error.retryAfterSeconds, 7);
    assert.equal(ApiError.fromBody("get pods", 500, "").message, "get pods: 500: the answer has no Status");
    assert.equal(
      ApiError.fromBody("get pods", 503, "", "Wed, 21 Oct 2026 07:28:00 GMT").retryAfterSeconds,
      undefined,
    );
  });

  it("are told apart", () => {
    const make = (code: number, reason: string) => ApiError.fromBody("x", code, status(code, reason));
    assert.deepEqual(
      [isNotFound(make(404, "NotFound")), isNotFound(make(403, "Forbidden")), isNotFound(new Error("404"))],
      [true, false, false],
    );
    assert.deepEqual(
      [isConflict(make(409, "Conflict")), isAlreadyExists(make(409, "Conflict"))],
      [true, false],
    );
    assert.deepEqual(
      [isConflict(make(409, "AlreadyExists")), isAlreadyExists(make(409, "AlreadyExists"))],
      [true, true],
    );
    assert.ok(
      isGone(
        ApiError.fromStatus("watch pods", 500, {
          kind: "Status",
          code: 410,
          reason: "Expired",
          message: "too old",
        }),
      ),
    );
    assert.ok(isTooManyRequests(make(429, "TooManyRequests")));
  });
});
