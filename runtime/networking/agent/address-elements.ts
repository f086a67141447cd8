import { elementScript, type Elements, type NftTable } from "../firewall/nft-script";
import type { AgentContext } from "./agent-context";

/** How often the elements are compared with the kernel's at most; between that, what was written is taken for what is there. */
const COMPARED_MS = 10_000;

/**
 * Keeps the elements of the agent's table of addresses, one by one, in a table that is there with its rules. Listing them takes as long as writing them, so it
 * is not done for each change.
 */
export class AddressElements {
  private present: Elements | undefined;
  private comparedAt = Number.NEGATIVE_INFINITY;

  /** The table was loaded whole. */
  loaded(table: NftTable): void {
    this.present = elementsOf(table);
    this.comparedAt = Number.NEGATIVE_INFINITY;
  }

  /** There is no such table, or it is not known what became of it. */
  forget(): void {
    this.present = undefined;
  }

  /** Writes what differs. @throws CommandError with what nft said */
  async keep({ kernel, runtime }: AgentContext, table: NftTable): Promise<void> {
    const now = runtime.clock.monotonic();
    if (this.present === undefined || now - this.comparedAt >= COMPARED_MS) {
      this.present = await kernel.elements(table);
      this.comparedAt = now;
    }
    const changes = elementScript(table, this.present);
    if (changes === undefined) return;
    this.present = undefined;
    await kernel.applyTables(changes);
    this.present = elementsOf(table);
  }
}

function elementsOf({ maps }: NftTable): Elements {
  return new Map(maps.map(({ name, elements }) => [name, elements]));
}
