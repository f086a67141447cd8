/**
 * Who set a route or a rule: the kernel keeps this number with each, so agents find what is theirs, and only that, even after what asked for it is
 * gone. Not one that a routing daemon has (`/etc/iproute2/rt_protos`).
 */
export const ROUTE_PROTOCOL = 149;
