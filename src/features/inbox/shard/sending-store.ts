/** The items of an inbox that wait for a channel, and the sendings made of them. */

import { CHANNELS, type Channel } from "@atrium/contract/resources/notification-settings.ts";
import type { Outcome, Reason, Sending, SentItem } from "@atrium/contract/resources/sent-notification.ts";
import type { InboxStore } from "./inbox-store.ts";
import { type InboxTables, COLUMNS as ITEM_COLUMNS, unwantedBy } from "./inbox-tables.ts";
import type { InboxItem } from "./present.ts";
import type { DueSending } from "./sender.ts";

interface SendingRow extends Omit<DueSending, "items" | "done"> {
  /** As JSON. */
  readonly items: string;
  readonly done: string;
}

const COLUMNS = "id, channel, at, outcome, failures, uncertain, done, items";
/** The latest ones are kept, and those that have yet to end. */
const KEPT_SENDINGS = 200;

/** An item that waits for a channel until `due` (epoch ms). */
type WaitingItem = InboxItem & { readonly due: number };

const sendingOf = ({ items, done, ...row }: SendingRow): DueSending => ({
  ...row,
  done: JSON.parse(done) as string[],
  items: JSON.parse(items) as SentItem[],
});

const sentOf = ({ id, kind, roomId, subjectId, seq }: InboxItem): SentItem => ({
  id,
  kind,
  roomId,
  subjectId,
  seq,
});

/** A UUID (version 8) that an item has for each channel. */
const idOf = ({ id }: InboxItem, channel: Channel): string =>
  `${id.slice(0, 14)}8${CHANNELS.indexOf(channel)}${id.slice(16)}`;

/** Runs in the transactions of its callers. */
export class SendingStore {
  readonly #tables: InboxTables;
  readonly #identityId: string;

  constructor({ tables, identityId }: InboxStore) {
    this.#tables = tables;
    this.#identityId = identityId;
  }

  /** Items and sendings that are due at `now` wait until `due` (epoch ms). */
  postpone(now: number, due: number): void {
    for (const table of ["waiting", "sendings"])
      this.#tables.write(
        `UPDATE ${table} SET due = ? WHERE identity_id = ? AND due <= ?`,
        ...[due, this.#identityId, now],
      );
  }

  /** The channels that have a notification which is due. */
  dueChannels(now: number): Channel[] {
    const query = "SELECT DISTINCT channel FROM waiting WHERE identity_id = ? AND due <= ?";
    const rows = this.#tables.read<{ channel: Channel }>(query, this.#identityId, now);
    const due = new Set(rows.map(({ channel }) => channel));
    return CHANNELS.filter((channel) => due.has(channel));
  }

  /** The unread items that wait for a channel until `by` (epoch ms), oldest first. */
  waiting(channel: Channel, by: number): WaitingItem[] {
    const query = `SELECT ${ITEM_COLUMNS}, due FROM waiting CROSS JOIN items ON items.number = waiting.item
      WHERE waiting.identity_id = ? AND channel = ? AND due <= ? ORDER BY notified_at, number`;
    return this.#tables.read(query, this.#identityId, channel, by);
  }

  /** The items wait no more; `sending` says what becomes of them. */
  take(items: readonly InboxItem[], sending: Omit<Sending, "items" | "failures">): void {
    const numbers = JSON.stringify(items.map(({ number }) => number));
    const where = "identity_id = ? AND channel = ? AND item IN (SELECT value FROM json_each(?))";
    this.#tables.write(`DELETE FROM waiting WHERE ${where}`, ...[this.#identityId, sending.channel, numbers]);
    const bit = unwantedBy([sending.channel]);
    this.#tables.write(
      "UPDATE items SET unwanted = unwanted & ~?1 WHERE number IN (SELECT value FROM json_each(?2)) AND unwanted & ?1",
      ...[bit, numbers],
    );
    this.#insert(sending, items.map(sentOf));
  }

  #insert(
    { id, channel, at, outcome }: Omit<Sending, "items" | "failures">,
    items: readonly SentItem[],
  ): void {
    this.#tables.write(
      "INSERT INTO sendings (id, identity_id, channel, at, outcome, due, items) VALUES (?, ?, ?, ?, ?, ?, ?)",
      ...[id, this.#identityId, channel, at, outcome],
      ...[outcome === "waiting" ? at : null, JSON.stringify(items)],
    );
    const old = `SELECT id FROM sendings
      WHERE identity_id = ? AND due IS NULL ORDER BY at DESC, id DESC LIMIT -1 OFFSET ${KEPT_SENDINGS}`;
    this.#tables.write(`DELETE FROM sendings WHERE id IN (${old})`, this.#identityId);
  }

  /** The sending keeps only the items `left`; the others become sendings of their own, by the reasons why they are not sent. */
  split(
    { id, channel, at }: Sending,
    left: readonly SentItem[],
    others: ReadonlyMap<Reason, readonly SentItem[]>,
    newId: () => string,
  ): void {
    this.#tables.transaction(() => {
      const query = "UPDATE sendings SET items = ? WHERE id = ? AND identity_id = ?";
      this.#tables.write(query, JSON.stringify(left), id, this.#identityId);
      for (const [outcome, items] of others) this.#insert({ id: newId(), channel, at, outcome }, items);
    });
  }

  /** The sendings that are due, oldest first. */
  dueSendings(now: number): DueSending[] {
    const query = `SELECT ${COLUMNS} FROM sendings WHERE identity_id = ? AND due <= ? ORDER BY due, id`;
    return this.#tables.read<SendingRow>(query, this.#identityId, now).map(sendingOf);
  }

  /** The latest first. */
  list(limit = KEPT_SENDINGS): Sending[] {
    const query = `SELECT id, channel, at, outcome, failures, items FROM sendings WHERE identity_id = ? ORDER BY at DESC, id DESC LIMIT ?`;
    const ended = this.#tables
      .read<Omit<SendingRow, "uncertain" | "done">>(query, this.#identityId, limit)
      .map(({ items, ...row }) => ({ ...row, items: JSON.parse(items) as SentItem[] }));
    return [...ended, ...CHANNELS.flatMap((channel) => this.#unwanted(channel, limit))]
      .sort((one, other) => other.at - one.at)
      .slice(0, limit);
  }

  /** Items that were not wanted when they arrived never waited: their own rows say so. */
  #unwanted(channel: Channel, limit: number): Sending[] {
    const query = `SELECT ${ITEM_COLUMNS} FROM items WHERE identity_id = ?1 AND unwanted & ?2 AND seq > deleted_seq
        AND NOT EXISTS (SELECT 1 FROM waiting WHERE identity_id = ?1 AND item = items.number AND channel = ?3)
      ORDER BY notified_at DESC, id DESC LIMIT ?4`;
    return this.#tables
      .read<InboxItem>(query, this.#identityId, unwantedBy([channel]), channel, limit)
      .map((item) => ({
        ...{ id: idOf(item, channel), channel, at: item.notifiedAt, outcome: "unwanted", failures: 0 },
        items: [sentOf(item)],
      }));
  }

  /** Changes a sending, if its identity was not deleted meanwhile. */
  #update(id: string, changes: string, ...values: SqlStorageValue[]): void {
    const query = `UPDATE sendings SET ${changes} WHERE id = ? AND identity_id = ?`;
    this.#tables.write(query, ...values, id, this.#identityId);
  }

  /** An attempt begins, and is repeated at `due` (epoch ms) without an end. */
  begin(id: string, due: number): void {
    this.#update(id, "due = ?, uncertain = uncertain + 1", due);
  }

  note(id: string, done: readonly string[]): void {
    this.#update(id, "done = ?", JSON.stringify(done));
  }

  finish(id: string, outcome: Outcome): void {
    this.#update(id, "outcome = ?, due = NULL, done = '[]'", outcome);
  }

  /** The attempt has failed for certain; the sender is asked again at `due` (epoch ms). */
  retry({ id, uncertain }: DueSending, due: number): void {
    this.#update(id, "due = ?, uncertain = ?, failures = failures + 1", due, uncertain);
  }
}
