/** A change that has failed when some of its effects were decided. */
import type { Effect } from "../transport/effects.ts";

/** A change that failed half-way. What it has done must be carried out, and the change be applied again. */
export class PartialFailure extends Error {
  readonly effects: readonly Effect[];

  constructor(effects: readonly Effect[], cause: unknown) {
    super("A change of a room failed half-way", { cause });
    this.effects = effects;
  }
}
