/** The items of an inbox that wait for a channel, and the sendings made of them. */

import { CHANNELS, type Channel } from "@atrium/contract/resources/notification-settings.ts";
import type { Outcome, Reason, Sending, SentItem } from "@atrium/contract/resources/sent-notification.ts";
import { type InboxStore, SHOWN, UNREAD } from "./inbox-store.ts";
import { DUE_COLUMNS, type InboxTables, COLUMNS as ITEM_COLUMNS, unwantedBy } from "./inbox-tables.ts";
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

type SendingKey = Pick<Sending, "id" | "at">;

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
  readonly #inbox: InboxStore;
  readonly #tables: InboxTables;
  readonly #identityId: string;

  constructor(inbox: InboxStore) {
    this.#inbox = inbox;
    this.#tables = inbox.tables;
    this.#identityId = inbox.identityId;
  }

  /** Items and sendings that are due at `now` wait until `due` (epoch ms). */
  postpone(now: number, due: number): void {
    const write = (change: string, condition: string) =>
      this.#tables.write(
        `UPDATE ${change} = ? WHERE identity_id = ? AND ${condition} <= ?`,
        ...[due, this.#identityId, now],
      );
    for (const column of Object.values(DUE_COLUMNS)) write(`items SET ${column}`, `${UNREAD} AND ${column}`);
    write("sendings SET due", "due");
  }

  /** The channels that have a notification which is due. */
  dueChannels(now: number): Channel[] {
    const until = this.#inbox.waitingUntil;
    return CHANNELS.filter((channel) => (until[channel] ?? Number.POSITIVE_INFINITY) <= now);
  }

  /** The unread items that wait for a channel until `by` (epoch ms), oldest first. */
  waiting(channel: Channel, by: number): WaitingItem[] {
    const due = DUE_COLUMNS[channel];
    const query = `SELECT ${ITEM_COLUMNS}, ${due} AS due FROM items
      WHERE identity_id = ? AND ${UNREAD} AND ${due} <= ? ORDER BY notified_at, id`;
    return this.#tables.read(query, this.#identityId, by);
  }

  /** The items wait no more; `sending` says what becomes of them. */
  take(items: readonly InboxItem[], sending: Omit<Sending, "items" | "failures">): void {
    this.#tables.write(
      `UPDATE items SET ${DUE_COLUMNS[sending.channel]} = NULL, unwanted = unwanted & ~?1
       WHERE number IN (SELECT value FROM json_each(?2))`,
      ...[unwantedBy([sending.channel]), JSON.stringify(items.map(({ number }) => number))],
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
    const old = `SELECT identity_id, at, id FROM sendings
      WHERE identity_id = ? AND due IS NULL ORDER BY at DESC, id DESC LIMIT -1 OFFSET ${KEPT_SENDINGS}`;
    this.#tables.write(`DELETE FROM sendings WHERE (identity_id, at, id) IN (${old})`, this.#identityId);
  }

  /** The sending keeps only the items `left`; the others become sendings of their own, by the reasons why they are not sent. */
  split(
    sending: Sending,
    left: readonly SentItem[],
    others: ReadonlyMap<Reason, readonly SentItem[]>,
    newId: () => string,
  ): void {
    this.#tables.transaction(() => {
      this.#update(sending, "items = ?", JSON.stringify(left));
      const { channel, at } = sending;
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
    const query = `SELECT ${ITEM_COLUMNS} FROM items WHERE identity_id = ?1 AND unwanted & ?2 AND ${SHOWN}
        AND NOT (${UNREAD} AND ${DUE_COLUMNS[channel]} IS NOT NULL)
      ORDER BY notified_at DESC, id DESC LIMIT ?3`;
    return this.#tables
      .read<InboxItem>(query, this.#identityId, unwantedBy([channel]), limit)
      .map((item) => ({
        ...{ id: idOf(item, channel), channel, at: item.notifiedAt, outcome: "unwanted", failures: 0 },
        items: [sentOf(item)],
      }));
  }

  /** Changes a sending, if its identity was not deleted meanwhile. */
  #update({ id, at }: SendingKey, changes: string, ...values: SqlStorageValue[]): void {
    const query = `UPDATE sendings SET ${changes} WHERE id = ? AND at = ? AND identity_id = ?`;
    this.#tables.write(query, ...values, id, at, this.#identityId);
  }

  /** An attempt begins, and is repeated at `due` (epoch ms) without an end. */
  begin(sending: SendingKey, due: number): void {
    this.#update(sending, "due = ?, uncertain = uncertain + 1", due);
  }

  note(sending: SendingKey, done: readonly string[]): void {
    this.#update(sending, "done = ?", JSON.stringify(done));
  }

  finish(sending: SendingKey, outcome: Outcome): void {
    this.#update(sending, "outcome = ?, due = NULL, done = '[]'", outcome);
  }

  /** The attempt has failed for certain; the sender is asked again at `due` (epoch ms). */
  retry(sending: DueSending, due: number): void {
    this.#update(sending, "due = ?, uncertain = ?, failures = failures + 1", due, sending.uncertain);
  }
}
