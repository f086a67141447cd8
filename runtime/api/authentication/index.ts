export type { AuthParams } from "./auth-params";
export { Identity } from "./identity";
export { Renew } from "./renew";
export { ResourceSlice } from "./resource-slice";
export { Tenant } from "./tenant";
