/** An action on several rows of a list. */
import type { ReactNode } from "react";
import type { Outcome, Progress } from "../data/act-on-several.ts";

export interface BulkAction<Item> {
  /** Such as "Delete". */
  readonly label: string;
  /** The same when it has happened, such as "deleted". */
  readonly done: string;
  /** What will happen, for the confirmation. */
  readonly consequences: ReactNode;
  /** Which rows it concerns; all if it is missing. */
  readonly applies?: (item: Item) => boolean;
  readonly isDanger?: boolean;
  /** True where the person types how many there are first. */
  readonly isTyped?: boolean;
  readonly run: (items: readonly Item[], progress: Progress) => Promise<Outcome<Item>>;
}
