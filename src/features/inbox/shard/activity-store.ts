/** The activities that items show, which are in their rows, and the IDs of those that they show no more. */

import type { InboxActivity } from "@atrium/contract/resources/inbox.ts";
import { unusedNumber } from "@atrium/contract/time.ts";
import type { ObjectTables } from "../../../platform/objects/object-tables.ts";
import type { StoredActivity } from "./present.ts";

const LISTED = "(SELECT value FROM json_each(?))";

type KnownActivity = Pick<StoredActivity, "id" | "seq" | "at" | "isMention">;

/** An activity that an inbox knows, but does not show. */
export interface ForgottenActivity extends KnownActivity {
  readonly identityId: string;
}

/** The activities of an item, and one that arrives as the inbox has forgotten it: null if it has not. Both are JSON. */
export interface ItemActivities {
  readonly seq: number;
  readonly deletedSeq: number;
  readonly activities: string;
  readonly forgotten: string | null;
}

/** The changes of an item by an activity. */
interface MergedActivities {
  /** Whether the item shows the activity as a new one. */
  readonly isTaken: boolean;
  /** The activities that the item shows from now on, newest first; none if they stay as they are. */
  readonly shown: readonly StoredActivity[];
  /** The inbox is to know these. */
  readonly forgotten: readonly KnownActivity[];
}

const MAX_ACTIVITIES = 50;

export const parseActivities = (json: string): StoredActivity[] => JSON.parse(json) as StoredActivity[];
const parseForgotten = (json: string | null): KnownActivity | null =>
  json === null ? null : (JSON.parse(json) as KnownActivity);

const newestFirst = (one: StoredActivity, other: StoredActivity): number =>
  other.seq - one.seq || (one.id < other.id ? 1 : -1);

/** An item takes an activity that its inbox does not know yet, or at a lower seq only and not as a mention. */
export function merged(
  { id, seq, at, by, data }: InboxActivity,
  item: ItemActivities,
  isMention: boolean,
): MergedActivities {
  const shown = parseActivities(item.activities);
  const before = shown.find((each) => each.id === id);
  const known = before ?? parseForgotten(item.forgotten);
  if (known !== null && (known.isMention || known.seq >= (seq ?? 0))) {
    // A subscriber has it already when the mentioned group is reached.
    const isNoted = isMention && !known.isMention;
    const noted = shown.map((each) => (each === before ? { ...each, isMention } : each));
    return {
      ...{ isTaken: false, shown: isNoted && before !== undefined ? noted : [] },
      forgotten: isNoted && before === undefined ? [{ ...known, isMention }] : [],
    };
  }
  const stored = { id, seq: seq ?? item.seq + 1, at, by, data: JSON.stringify(data), isMention };
  if (stored.seq <= item.deletedSeq) return { isTaken: false, shown: [], forgotten: [stored] };
  const latest = [stored, ...shown.filter((each) => each !== before)].sort(newestFirst);
  return { isTaken: true, shown: latest.slice(0, MAX_ACTIVITIES), forgotten: latest.slice(MAX_ACTIVITIES) };
}

/** Runs in the transactions of its callers. */
export class ActivityStore {
  readonly #tables: ObjectTables;

  constructor(tables: ObjectTables) {
    this.#tables = tables;
  }

  /** Keeps the IDs of activities that no item shows. */
  forget(activities: readonly ForgottenActivity[]): void {
    if (activities.length === 0) return;
    this.#tables.write(
      `INSERT OR REPLACE INTO forgotten (identity_id, id, seq, at, is_mention)
       SELECT value ->> 'identityId', value ->> 'id', value ->> 'seq', value ->> 'at', value ->> 'isMention'
       FROM json_each(?)`,
      JSON.stringify(activities),
    );
  }

  /** Deletes items by their numbers, and keeps only the IDs of their activities. */
  deleteItems(numbers: readonly number[]): void {
    if (numbers.length === 0) return;
    const json = JSON.stringify(numbers);
    this.#forgetOf("activity.value ->> 'seq'", "true", json);
    this.#tables.write(`DELETE FROM items WHERE number IN ${LISTED}`, json);
  }

  /** Deletes items up to positions: they show only later activities. */
  deleteUpTo(positions: readonly { readonly number: number; readonly upTo: number }[]): void {
    const json = JSON.stringify(positions.map(({ number, upTo }) => ({ number, upTo })));
    this.#tables.write(
      `UPDATE items SET deleted_seq = given.value ->> 'upTo', read_seq = max(read_seq, given.value ->> 'upTo')
       FROM json_each(?) AS given WHERE number = given.value ->> 'number'`,
      json,
    );
    const numbers = JSON.stringify(positions.map(({ number }) => number));
    this.#forgetOf("activity.value ->> 'seq'", "activity.value ->> 'seq' <= deleted_seq", numbers);
    this.#tables.write(
      `UPDATE items SET activities = (
         SELECT json_group_array(json(value)) FROM json_each(items.activities) WHERE value ->> 'seq' > deleted_seq)
       WHERE number IN ${LISTED}`,
      numbers,
    );
  }

  /** Items lose activities that were deleted in their room, which have no effect any more. */
  remove(numbers: readonly number[], ids: readonly string[], now: number): void {
    const [items, activities] = [JSON.stringify(numbers), JSON.stringify(ids)];
    const seq = unusedNumber(now); // a restored room goes on beyond
    this.#forgetOf(`${seq}`, `activity.value ->> 'id' IN ${LISTED}`, items, activities);
    this.#tables.write(
      `UPDATE items SET (activities, seq, notified_at) = (
         SELECT json_group_array(json(value)), ifnull(max(value ->> 'seq'), deleted_seq),
           ifnull(max(value ->> 'at'), notified_at)
         FROM json_each(items.activities) WHERE value ->> 'id' NOT IN ${LISTED})
       WHERE number IN ${LISTED}`,
      ...[activities, items],
    );
  }

  #forgetOf(seq: string, condition: string, ...params: SqlStorageValue[]): void {
    this.#tables.write(
      `INSERT OR REPLACE INTO forgotten (identity_id, id, seq, at, is_mention)
       SELECT identity_id, activity.value ->> 'id', ${seq}, activity.value ->> 'at', activity.value ->> 'isMention'
       FROM json_each(?) AS given CROSS JOIN items ON number = given.value
         CROSS JOIN json_each(activities) AS activity
       WHERE ${condition}`,
      ...params,
    );
  }
}
