import type { AdmissionRequest, Verdict } from "./admission-review";

/** Answers admission requests of one path. What it throws becomes an error of code 500. */
export type Webhook = (request: AdmissionRequest) => Verdict | Promise<Verdict>;

/** Webhooks by path, such as `/mutate/pod`. */
export type Routes = Readonly<Record<string, Webhook>>;
