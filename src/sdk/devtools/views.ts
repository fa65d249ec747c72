/** What the panel shows of a client's stores. */
import type { AtriumClient, ChangeReason, StoreChange } from "../client/index.ts";

/** A client with any declared stores. */
export type InspectedClient = Omit<AtriumClient, "stores">;

export interface RecentChange extends Pick<StoreChange<unknown>, "key" | "action" | "value"> {
  /** `own`: a call of the application itself. */
  readonly reason: ChangeReason | "own";
  /** Counts the changes of all stores. */
  readonly number: number;
  readonly at: Date;
  /** The name of the user whose write it is, or the id of one who was deleted; null for your back end. */
  readonly by: string | null;
}

export interface StoreView {
  readonly name: string;
  readonly entries: Readonly<Record<string, unknown>>;
  /** The latest first. */
  readonly changes: readonly RecentChange[];
}

export interface UnconfirmedWrite {
  readonly store: string;
  readonly action: StoreChange<unknown>["action"];
  readonly key: string;
  readonly value: unknown;
}
