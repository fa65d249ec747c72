/** Where calls of objects are made that are recorded, and what the lists of them have in common. */
import type { Env } from "../../../src/env.ts";
import type { ArchivedObject } from "../../../src/platform/objects/object-archive.ts";

/** Where calls are made. */
export interface Place {
  /** Its namespaces of objects record the calls, or replay them. */
  readonly env: Env;
  readonly accountId: string;
  readonly roomId: string;
  /** For inboxes, an identity. */
  readonly userId: string;
  /** Epoch milliseconds. */
  readonly now: number;
  /** IDs that earlier calls have returned. */
  readonly kept: Map<string, string>;
}

export type Calls = Readonly<Record<string, (place: Place) => Promise<unknown>>>;

/** Returns an ID that an earlier call has kept. */
export const keptAs = ({ kept }: Place, name: string): string => kept.get(name) ?? "none";

/** An object that stores nothing is archived, and restored. */
export const archiveCalls = (open: (place: Place) => ArchivedObject | undefined): Calls => ({
  "archive and restore it": async (place) => {
    const archived = open(place);
    const slice = await archived?.archive(null);
    if (slice !== undefined) await archived?.restore(slice);
    await archived?.finishRestore();
  },
});
