import type { EngineEvent } from "@pulumi/pulumi/automation";

/** The parts of the quick start, in the order in which they come up, each with what its resources have in their URN. */
const PARTS = [
  { name: "clusters", mark: ":dynamic/liqo:LocalCluster::" },
  { name: "installation", mark: "pulumi-liqo:index:Installation" },
  { name: "network", mark: "pulumi-liqo:index:NetworkPeering" },
  { name: "peering", mark: "pulumi-liqo:index:Peering" },
  { name: "offloading", mark: "pulumi-liqo:index:NamespaceOffloading" },
  { name: "application", mark: "::kubernetes:apps/v1:Deployment::shop" },
] as const;

export type PartName = (typeof PARTS)[number]["name"];

interface Span {
  begin: number;
  end: number;
  resources: number;
}

/** Follows an update by the engine's events and tells when each part of it began and ended. */
export class PartsClock {
  private readonly spans = new Map<PartName, Span>();

  /** @param now seconds */
  constructor(private readonly now: () => number = () => performance.now() / 1000) {}

  observe(event: EngineEvent): void {
    const metadata = event.resourcePreEvent?.metadata ?? event.resOutputsEvent?.metadata;
    if (metadata === undefined || metadata.op === "same") return;
    const part = partOf(metadata.urn);
    if (part === undefined) return;
    const time = this.now();
    const span = this.spans.get(part) ?? { begin: time, end: time, resources: 0 };
    this.spans.set(part, {
      begin: span.begin,
      end: time,
      resources: span.resources + (event.resourcePreEvent === undefined ? 0 : 1),
    });
  }

  /** What changed, in the order of the parts. */
  durations(): { name: PartName; seconds: number; resources: number }[] {
    return PARTS.flatMap(({ name }) => {
      const span = this.spans.get(name);
      return span === undefined ? [] : [{ name, seconds: span.end - span.begin, resources: span.resources }];
    });
  }
}

/** The part that a resource belongs to; undefined for what belongs to none. */
export function partOf(urn: string): PartName | undefined {
  return PARTS.find(({ mark }) => urn.includes(mark))?.name;
}
