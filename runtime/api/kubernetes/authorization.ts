import type * as schema from "kubernetes-types/authorization/v1";

import { posted, type Posted } from "./built-in";

export type SubjectAccessReview = Posted<
  schema.SubjectAccessReview,
  "authorization.k8s.io/v1",
  "SubjectAccessReview"
>;
export const SubjectAccessReview = posted<SubjectAccessReview>({
  apiVersion: "authorization.k8s.io/v1",
  kind: "SubjectAccessReview",
  plural: "subjectaccessreviews",
  namespaced: false,
});

export type SelfSubjectAccessReview = Posted<
  schema.SelfSubjectAccessReview,
  "authorization.k8s.io/v1",
  "SelfSubjectAccessReview"
>;
export const SelfSubjectAccessReview = posted<SelfSubjectAccessReview>({
  apiVersion: "authorization.k8s.io/v1",
  kind: "SelfSubjectAccessReview",
  plural: "selfsubjectaccessreviews",
  namespaced: false,
});
