/** The notifications of an inbox that wait for a channel, and what became of those that waited. */

import { CHANNELS, type Channel } from "../../wire/notification-settings.ts";
import type { Outcome, Sending, SentItem } from "../../wire/sent-notification.ts";
import type { InboxStore } from "./inbox-store.ts";
import { type InboxTables, COLUMNS as ITEM_COLUMNS } from "./inbox-tables.ts";
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
  waiting(channel: Channel, by: number): InboxItem[] {
    const query = `SELECT ${ITEM_COLUMNS} FROM items WHERE number IN (
      SELECT item FROM waiting WHERE identity_id = ? AND channel = ? AND due <= ?) ORDER BY notified_at, number`;
    return this.#tables.read(query, this.#identityId, channel, by);
  }

  /** The items wait no more; `sending` says what becomes of them. */
  take(items: readonly InboxItem[], sending: Omit<Sending, "items" | "failures">): void {
    const numbers = JSON.stringify(items.map(({ number }) => number));
    const where = "identity_id = ? AND channel = ? AND item IN (SELECT value FROM json_each(?))";
    this.#tables.write(`DELETE FROM waiting WHERE ${where}`, ...[this.#identityId, sending.channel, numbers]);
    const sent = items.map(({ id, kind, roomId, subjectId, seq }) => ({ id, kind, roomId, subjectId, seq }));
    this.#tables.write(
      "INSERT INTO sendings (id, identity_id, channel, at, outcome, due, items) VALUES (?, ?, ?, ?, ?, ?, ?)",
      ...[sending.id, this.#identityId, sending.channel, sending.at, sending.outcome],
      sending.outcome === "waiting" ? sending.at : null,
      JSON.stringify(sent),
    );
    const old = `SELECT id FROM sendings WHERE identity_id = ? AND due IS NULL
      ORDER BY at DESC, id DESC LIMIT -1 OFFSET ${KEPT_SENDINGS}`;
    this.#tables.write(`DELETE FROM sendings WHERE id IN (${old})`, this.#identityId);
  }

  /** The sendings that are due, oldest first. */
  dueSendings(now: number): Sending[] {
    const query = `SELECT ${COLUMNS} FROM sendings WHERE identity_id = ? AND due <= ? ORDER BY due, id`;
    return this.#tables.read<SendingRow>(query, this.#identityId, now).map(sendingOf);
  }

  find(id: string): Sending | null {
    const query = `SELECT ${COLUMNS} FROM sendings WHERE id = ? AND identity_id = ?`;
    const row = this.#tables.first<SendingRow>(query, id, this.#identityId);
    return row && sendingOf(row);
  }

  /** The latest first. */
  list(limit = KEPT_SENDINGS): Sending[] {
    const query = `SELECT ${COLUMNS} FROM sendings WHERE identity_id = ? ORDER BY at DESC, id DESC LIMIT ?`;
    return this.#tables.read<SendingRow>(query, this.#identityId, limit).map(sendingOf);
  }

  /** A sender has taken it, and has not said more meanwhile. */
  hand(id: string, outcome: Outcome): void {
    const where = "id = ? AND identity_id = ? AND due IS NOT NULL";
    this.#tables.write(
      `UPDATE sendings SET outcome = ?, due = NULL WHERE ${where}`,
      ...[outcome, id, this.#identityId],
    );
  }

  finish(id: string, outcome: Outcome): void {
    const query = "UPDATE sendings SET outcome = ?, due = NULL WHERE id = ? AND identity_id = ?";
    this.#tables.write(query, outcome, id, this.#identityId);
  }

  /** A sender could not take it, and is asked again at `due` (epoch ms). */
  retry(id: string, due: number): void {
    const query = "UPDATE sendings SET due = ?, failures = failures + 1 WHERE id = ? AND identity_id = ?";
    this.#tables.write(query, due, id, this.#identityId);
  }
}
