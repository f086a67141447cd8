export { ForeignCluster } from "./foreign-cluster";
