/** The events of a store, and how a change of its visible values is described to the application. */
import type { Action, Difference } from "./entries.ts";

/**
 * Why a value changed without a call of yours at that moment:
 * - `remote`: a write of another user, of your back end, or of your own in another tab.
 * - `reverted`: a write of yours was refused or discarded.
 * - `resynced`: the store was loaded, or loaded again after changes were missed, or is as it was kept on the device.
 * - `history`: you have undone or redone it.
 */
export type ChangeReason = "remote" | "reverted" | "resynced" | "history";

/** The visible value of a key has changed for any reason but your own call at that moment. */
export interface StoreChange<Value> {
  readonly key: string;
  /** The action on the entry; `set` or `delete` unless the reason is `remote`. */
  readonly action: Action;
  /** The value before; undefined if there was none. */
  readonly previous: Value | undefined;
  /** The whole new value; undefined if there is none. */
  readonly value: Value | undefined;
  /** The user whose write it is, yourself for `reverted`, `history` and kept writes; null for your back end, and `resynced`. */
  readonly userId: string | null;
  readonly reason: ChangeReason;
}

export interface StoreEvents<Value> {
  /** Applied in order on top of your own calls, these changes keep a copy equal to `getAll()`. */
  changed: StoreChange<Value>;
  /** `getAll()` returns something new, for whatever reason. */
  updated: undefined;
}

export interface Cause {
  readonly reason: ChangeReason;
  readonly userId: string | null;
  readonly action?: Action;
}

export const RESYNCED: Cause = { reason: "resynced", userId: null };

export function describeChange(difference: Difference, { action, ...cause }: Cause): StoreChange<unknown> {
  const isGone = difference.value === undefined;
  // A deletion below an own write leaves a value; a refused write can leave none.
  const isPlain = action === undefined || (action === "delete") !== isGone;
  return { ...difference, ...cause, action: isPlain ? (isGone ? "delete" : "set") : action };
}
