/**
 * What the two local clusters are. Their addresses differ, as do the namespaces of the control planes: nothing here depends on the two being
 * alike. `npm start` reads this as well, to start the clusters while the rest of the tools is being built.
 */
export const clusterArgs = {
  rome: { name: "rome", podCidr: "10.31.0.0/16", serviceCidr: "10.131.0.0/16" },
  milan: { name: "milan", podCidr: "10.62.0.0/18", serviceCidr: "10.162.64.0/20" },
};
