import type { RouteConfiguration } from "../../api";

/** The parts of a RouteConfiguration by name. */
export type RouteTable = RouteConfiguration["spec"]["table"];
export type RouteRule = RouteTable["rules"][number];
export type Route = RouteRule["routes"][number];
