/** The notifications of an inbox that wait for a channel, and what became of those that waited. */

import type { ObjectTables } from "../../platform/objects/object-tables.ts";
import { CHANNELS, type Channel } from "../../wire/notification-settings.ts";
import type { Outcome, Sending, SentItem } from "../../wire/sent-notification.ts";
import { COLUMNS as ITEM_COLUMNS } from "./inbox-tables.ts";
import type { InboxItem } from "./schema.ts";

interface SendingRow extends Omit<Sending, "items"> {
  /** As JSON. */
  readonly items: string;
}

const COLUMNS = "id, channel, at, outcome, failures, items";
/** The latest ones are kept. */
const KEPT_SENDINGS = 200;

const sendingOf = ({ items, ...row }: SendingRow): Sending => ({
  ...row,
  items: JSON.parse(items) as SentItem[],
});

/** Runs in the transactions of its callers. */
export class ChannelStore {
  readonly #store: ObjectTables;

  constructor(store: ObjectTables) {
    this.#store = store;
  }

  /** An item that waits already keeps its time. `due` is in epoch milliseconds. */
  add(channel: Channel, itemId: string, due: number): void {
    const query =
      "INSERT OR IGNORE INTO waiting SELECT ?, number, ? FROM items WHERE id = ? AND seq > read_seq";
    this.#store.write(query, channel, due, itemId);
  }

  /** When the next notification or sending is due; null without any. */
  get dueAt(): number | null {
    const query = `SELECT min(due) AS due FROM (SELECT min(due) AS due FROM waiting
      UNION ALL SELECT min(due) FROM sendings WHERE due IS NOT NULL)`;
    return this.#store.first<{ due: number | null }>(query)?.due ?? null;
  }

  /** The channels that have a notification which is due. */
  dueChannels(now: number): Channel[] {
    const query = "SELECT DISTINCT channel FROM waiting WHERE due <= ?";
    const due = new Set(this.#store.read<{ channel: Channel }>(query, now).map(({ channel }) => channel));
    return CHANNELS.filter((channel) => due.has(channel));
  }

  /** The unread items that wait for a channel until `by` (epoch ms), oldest first. */
  waiting(channel: Channel, by: number): InboxItem[] {
    const query = `SELECT ${ITEM_COLUMNS} FROM items
      WHERE number IN (SELECT item FROM waiting WHERE channel = ? AND due <= ?) ORDER BY notified_at, number`;
    return this.#store.read(query, channel, by);
  }

  /** The items wait no more; `sending` says what becomes of them. */
  take(items: readonly InboxItem[], sending: Omit<Sending, "items" | "failures">): void {
    const numbers = JSON.stringify(items.map(({ number }) => number));
    const where = "channel = ? AND item IN (SELECT value FROM json_each(?))";
    this.#store.write(`DELETE FROM waiting WHERE ${where}`, sending.channel, numbers);
    const sent = items.map(({ id, kind, roomId, subjectId, seq }) => ({ id, kind, roomId, subjectId, seq }));
    this.#store.write(
      "INSERT INTO sendings (id, channel, at, outcome, due, items) VALUES (?, ?, ?, ?, ?, ?)",
      ...[sending.id, sending.channel, sending.at, sending.outcome],
      sending.outcome === "waiting" ? sending.at : null,
      JSON.stringify(sent),
    );
    const old = `SELECT id FROM sendings WHERE due IS NULL ORDER BY at DESC, id DESC LIMIT -1 OFFSET ${KEPT_SENDINGS}`;
    this.#store.write(`DELETE FROM sendings WHERE id IN (${old})`);
  }

  /** Items and sendings stop waiting. */
  forget(): void {
    this.#store.write("DELETE FROM waiting");
    this.#store.write("UPDATE sendings SET outcome = 'failed', due = NULL WHERE due IS NOT NULL");
  }

  /** The sendings that are due, oldest first. */
  dueSendings(now: number): Sending[] {
    const query = `SELECT ${COLUMNS} FROM sendings WHERE due <= ? ORDER BY due, id`;
    return this.#store.read<SendingRow>(query, now).map(sendingOf);
  }

  find(id: string): Sending | null {
    const row = this.#store.first<SendingRow>(`SELECT ${COLUMNS} FROM sendings WHERE id = ?`, id);
    return row && sendingOf(row);
  }

  /** The latest first. */
  list(limit = KEPT_SENDINGS): Sending[] {
    const query = `SELECT ${COLUMNS} FROM sendings ORDER BY at DESC, id DESC LIMIT ?`;
    return this.#store.read<SendingRow>(query, limit).map(sendingOf);
  }

  /** A sender has taken it, and has not said more meanwhile. */
  hand(id: string, outcome: Outcome): void {
    const query = "UPDATE sendings SET outcome = ?, due = NULL WHERE id = ? AND due IS NOT NULL";
    this.#store.write(query, outcome, id);
  }

  finish(id: string, outcome: Outcome): void {
    this.#store.write("UPDATE sendings SET outcome = ?, due = NULL WHERE id = ?", outcome, id);
  }

  /** A sender could not take it, and is asked again at `due` (epoch ms). */
  retry(id: string, due: number): void {
    this.#store.write("UPDATE sendings SET due = ?, failures = failures + 1 WHERE id = ?", due, id);
  }
}
