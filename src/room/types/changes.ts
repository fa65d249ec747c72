/** The changes of a room for readers without a socket, as the methods of its object take and return them. */
import type { Writer } from "./documents.ts";

/** A place between two changes of a history. */
export interface ChangePlace {
  /** The latest change before it. */
  readonly seq: number;
  /** Absent where numbers alone decide (R79). */
  readonly epoch?: string | undefined;
}

export interface KnownPlace extends ChangePlace {
  readonly epoch: string;
}

/** A live read of changes. */
export interface ChangesRead {
  readonly accountId: string;
  /** Null for a new reader. */
  readonly from: ChangePlace | null;
  /** The user who reads, whose rights may have ended since; absent for the organization. */
  readonly writer?: Writer | undefined;
}
