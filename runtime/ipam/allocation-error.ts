export type AllocationFailure =
  | "AddressConflict"
  | "NetworkConflict"
  | "NetworkExhausted"
  | "NetworkNotFound"
  | "OutsidePools"
  | "PoolsExhausted"
  | "TooManyPreAllocated"
  | "UnusableRange";

/** A network or an address cannot be given: trying again helps only when something else has changed. */
export class AllocationError extends Error {
  override readonly name = "AllocationError";

  constructor(
    readonly reason: AllocationFailure,
    message: string,
  ) {
    super(message);
  }
}
