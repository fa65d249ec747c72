/** How far a backup is: what an interrupted run has noted, and the next one reads. */
import { randomUUID } from "node:crypto";
import type { Extent } from "./archive-folder.ts";

/** How far a backup is. */
export interface Progress {
  readonly accountId: string;
  readonly backupId: string;
  readonly startedAt: string;
  readonly part: number;
  /** Where in the part; null at its beginning. */
  readonly after: unknown;
  /** By part. */
  readonly extents: Readonly<Record<string, Extent>>;
  readonly files: { readonly count: number; readonly bytes: number };
}

export const begun = (accountId: string): Progress => ({
  ...{ accountId, backupId: randomUUID(), startedAt: new Date().toISOString() },
  ...{ part: 0, after: null, extents: {}, files: { count: 0, bytes: 0 } },
});
