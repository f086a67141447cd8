import type * as schema from "kubernetes-types/authentication/v1";

import { posted, type Posted } from "./built-in";

export type TokenRequest = Posted<schema.TokenRequest, "authentication.k8s.io/v1", "TokenRequest">;
export const TokenRequest = posted<TokenRequest>({
  apiVersion: "authentication.k8s.io/v1",
  kind: "TokenRequest",
  plural: "token",
  namespaced: true,
});

export type TokenReview = Posted<schema.TokenReview, "authentication.k8s.io/v1", "TokenReview">;
export const TokenReview = posted<TokenReview>({
  apiVersion: "authentication.k8s.io/v1",
  kind: "TokenReview",
  plural: "tokenreviews",
  namespaced: false,
});
