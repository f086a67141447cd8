export { IP } from "./ip";
export { Network } from "./network";
