import { z } from "zod";

import { bytes } from "../schema/fields";

/** What a consumer needs to reach a provider's API server. Source: control-plane.md 2.1. */
export const authParams = () =>
  z.object({
    ca: bytes()
      .optional()
      .describe(
        "PEM bundle that the API server's certificate is checked with; absent when a public CA signed it.",
      ),
    signedCRT: bytes().optional().describe("Certificate for the consumer's key, PEM."),
    apiServer: z.string().optional().describe("URL of the API server."),
    proxyURL: z.string().optional().describe("HTTP proxy through which to reach it."),
    awsConfig: z
      .object({
        awsUserArn: z.string(),
        awsAccessKeyID: z.string(),
        awsSecretAccessKey: z.string(),
        awsRegion: z.string(),
        awsClusterName: z.string(),
      })
      .optional()
      .describe("Credentials for an EKS cluster, instead of a certificate."),
  });
export type AuthParams = z.infer<ReturnType<typeof authParams>>;
