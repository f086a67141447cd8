/**
 * Who may do what: the rules of each role, one list a role. The installation makes the ClusterRoles, Roles and bindings of them.
 *
 * Source: control plane reference 3.3, 3.4 and 15.3, offloading reference 3.
 */
export * from "./components";
export * from "./consumers";
export * from "./controller-manager";
export * from "./networking";
