import { type AdmissionRequest, parseReview } from "../../../runtime/webhooks/admission-review";

/** An admission request as the API server would send it. */
export function admissionRequest(request: {
  operation?: "CREATE" | "UPDATE" | "DELETE";
  namespace?: string;
  name?: string;
  subResource?: string;
  username?: string;
  groups?: string[];
  dryRun?: boolean;
  object?: unknown;
  oldObject?: unknown;
}): AdmissionRequest {
  const { username = "jane", groups = [], operation = "CREATE", namespace = "shop", ...rest } = request;
  return parseReview(
    JSON.stringify({
      apiVersion: "admission.k8s.io/v1",
      kind: "AdmissionReview",
      request: { uid: "r1", operation, namespace, userInfo: { username, groups }, ...rest },
    }),
  ).request;
}
