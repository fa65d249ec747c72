/** The room's lasting changes: numbered, kept for a day, sent to everyone in order, and made once per request ID. */

import { LIMITS } from "@atrium/contract/limits.ts";
import { byteLength } from "@atrium/contract/text.ts";
import { JsonText } from "../../protocol/frame.ts";
import type { Change, ChangeEvent, ServerEvent } from "../../protocol/protocol.ts";
import type { RoomRequest } from "../../protocol/room-request.ts";
import type { EntryAddress, LogTotals, Receipt, ReceiptPlace } from "../../storage/sqlite-log.ts";
import type { RoomStorage } from "../../storage/storage.ts";
import type { RoomPorts } from "../../transport/room-ports.ts";

/** The sender of the organization's requests: no user has an empty ID. */
export const ORGANIZATION = "";
/** The sender of the room's own changes: no user has this ID. */
const ROOM = "room";

/** Clients of earlier epochs are reset. */
const MAX_EPOCHS = 1_000;

/** The stored log as memory knows it, because every write needs it; null until it is read. */
interface KnownLog {
  lastSeq: number | null;
  droppedSeq: number | null;
  totals: LogTotals | null;
  /** A lower bound of the time of each kept change (epoch ms). */
  oldestAt: number | null;
  epoch: string | null;
}

const UNKNOWN: KnownLog = { lastSeq: null, droppedSeq: null, totals: null, oldestAt: null, epoch: null };

export class Changes {
  readonly #ports: Pick<RoomPorts, "storage" | "now" | "newId">;
  readonly #storage: RoomStorage;
  readonly #receipts: Receipts;
  /** Made since the last {@link takeEvents}. */
  #unsent: Change[] = [];
  #known: KnownLog = { ...UNKNOWN };
  /** Sockets have survived the start of the room: no change that they received was taken back. */
  #continuesEpoch = false;
  /** The epoch that has begun since the start. */
  #begunEpoch: string | null = null;

  constructor(ports: Pick<RoomPorts, "storage" | "now" | "newId">) {
    this.#ports = ports;
    this.#storage = ports.storage;
    this.#receipts = new Receipts(ports.storage.receipts, () => ports.now());
  }

  /** The latest change's seq; 0 before the first. */
  get lastSeq(): number {
    this.#known.lastSeq ??= this.#storage.changes.lastSeq();
    return this.#known.lastSeq;
  }

  get #totals(): LogTotals {
    this.#known.totals ??= this.#storage.changes.readTotals();
    return this.#known.totals;
  }

  /**
   * The ID of the room's history. An epoch begins with the first join or change after a start without sockets, such as
   * a restore: a backup does not know the epochs that began after it.
   */
  get epoch(): string {
    return this.#openEpoch();
  }

  #openEpoch(): string {
    this.#known.epoch ??= this.#findEpoch() ?? this.#beginEpoch();
    return this.#known.epoch;
  }

  #findEpoch(): string | null {
    const latest = this.#storage.epochs.latest();
    return this.#continuesEpoch || latest === this.#begunEpoch ? latest : null;
  }

  #beginEpoch(): string {
    this.#begunEpoch = this.#ports.newId();
    this.#storage.epochs.begin(this.#begunEpoch, this.lastSeq, MAX_EPOCHS);
    this.#storage.changes.skipRestored();
    this.#known.lastSeq = null;
    return this.#begunEpoch;
  }

  /** Sockets have survived the start of the room, so its latest epoch goes on. */
  continueEpoch(): void {
    this.#continuesEpoch = true;
  }

  /** Runs `work` in a transaction; if it throws, the changes it appended were never made. */
  transaction<T>(work: () => T): T {
    const { lastSeq } = this;
    const [known, unsent] = [{ ...this.#known }, this.#unsent.length];
    try {
      return this.#storage.transaction(() => {
        const result = work();
        if (this.lastSeq > lastSeq) this.#dropOldest();
        return result;
      });
    } catch (error) {
      this.#known = known;
      this.#unsent.length = unsent;
      throw error;
    }
  }

  /** The storage has been cleared. */
  reset(): void {
    this.#unsent = [];
    this.#known = { ...UNKNOWN };
  }

  /**
   * Handles a request in a transaction, and returns the data of its response. A repeated request of the same sender
   * and request ID returns the same data and changes nothing. A request without changes is handled again, unless it is
   * remembered `always`.
   */
  once(
    sender: string,
    request: RoomRequest,
    work: () => object,
    remembered: "ifChanged" | "always" = "ifChanged",
  ): object {
    const { requestId } = request;
    if (requestId === undefined) return this.transaction(work);
    return this.transaction(() => {
      const fingerprint = fingerprintOf(request, sender);
      const answered = this.#receipts.findAnswer(sender, requestId, fingerprint);
      if (answered !== null) return new JsonText(answered);
      const before = this.lastSeq;
      const data = work();
      if (this.lastSeq > before || remembered === "always")
        this.#receipts.write({ userId: sender, requestId, fingerprint, answer: textOf(data) });
      return data;
    });
  }

  /**
   * Logs the next change; call it in the {@link transaction} of the write. The change of an `entry` has its
   * whole new state, and replaces the earlier one in the log, unless the log keeps every change.
   */
  append(event: ChangeEvent, dataOf: (seq: number) => object, entry: ChangedEntry | null = null): Change {
    this.#openEpoch();
    const seq = this.lastSeq + 1;
    const data = textOf(dataOf(seq));
    const change: Change = { seq, event, data: new JsonText(data) };
    const size = byteLength(data);
    const { droppedSeq, changes, bytes, keepsEvery } = this.#totals;
    const replacing = keepsEvery ? null : entry;
    const replaces = replacing === null ? null : replacedBy(replacing, droppedSeq);
    const deletes = replacing?.isDeleted === true ? replacing : null;
    const at = this.#ports.now();
    const replaced = this.#storage.changes.append({ seq, event, data, at, size, replaces, deletes });
    this.#known.totals = {
      ...this.#totals,
      changes: changes + (replaced === null ? 1 : 0),
      bytes: bytes + size - (replaced ?? 0),
    };
    this.#known.lastSeq = seq;
    this.#unsent.push(change);
    return change;
  }

  /** Logs a change that can happen only once, such as a user's deletion, unless it is logged already. */
  appendOnce(event: ChangeEvent, subject: string, data: object): void {
    if (this.hasHappened(event, subject)) return;
    this.append(event, () => data);
    this.#receipts.write({ userId: ROOM, requestId: `${event} ${subject}`, fingerprint: "", answer: "{}" });
  }

  /** Whether {@link appendOnce} has logged this lately. */
  hasHappened(event: ChangeEvent, subject: string): boolean {
    return this.#receipts.findAnswer(ROOM, `${event} ${subject}`, "") !== null;
  }

  /**
   * Drops expired changes, and the oldest above the limits. The latest change stays, whatever its age: it has
   * the count.
   */
  #dropOldest(): void {
    let { droppedSeq, changes, bytes } = this.#totals;
    const expiredBefore = this.#ports.now() - LIMITS.changeLifetimeMs;
    const isFull = () => changes > LIMITS.keptChanges || bytes > LIMITS.catchUpBytes;
    const { lastSeq, oldestAt } = this.#known;
    if (!isFull() && oldestAt !== null && oldestAt >= expiredBefore) return;
    const before = droppedSeq;
    for (const { seq, at, size } of this.#storage.changes.oldest()) {
      this.#known.oldestAt = at;
      if (seq === lastSeq || (at >= expiredBefore && !isFull())) break;
      droppedSeq = seq;
      changes -= 1;
      bytes -= size;
    }
    if (droppedSeq > before) this.#drop({ droppedSeq, changes, bytes });
  }

  #drop(left: Omit<LogTotals, "keepsEvery">): void {
    this.#storage.changes.drop(left.droppedSeq);
    this.#known.droppedSeq = left.droppedSeq;
    this.#known.totals = { ...this.#totals, ...left };
  }

  /** Keeps earlier changes of entries in the log as well from now on, within its limits. */
  keepEvery(): void {
    this.#storage.changes.keepEvery();
    this.#known.totals = null;
  }

  /** Kept changes of stores after `seq`, oldest first, and the latest that is no longer kept; 0 for none. */
  ofStores(seq: number, limit: number) {
    return { changes: this.#storage.changes.listOfStores(seq, limit), droppedSeq: this.#totals.droppedSeq };
  }

  /**
   * Drops all changes if any of them names an erased user, in a {@link transaction}; the latest stays if it does not.
   * Clients that have missed some load everything anew.
   */
  forgetUser(userId: string): void {
    this.#storage.receipts.deleteUser(userId);
    const kept = this.#storage.changes.listAfter(0);
    const isNaming = ({ event, data }: (typeof kept)[number]) =>
      event !== "userDeleted" && data.includes(userId);
    const latest = kept.at(-1);
    if (latest === undefined || !kept.some(isNaming)) return;
    if (!isNaming(latest)) {
      this.#drop({ droppedSeq: latest.seq - 1, changes: 1, bytes: byteLength(latest.data) });
      return;
    }
    this.#storage.changes.keepCount(latest.seq);
    this.#drop({ droppedSeq: latest.seq, changes: 0, bytes: 0 });
  }

  /** Takes the changes that were made since the last call, as events to send. */
  takeEvents(): ServerEvent[] {
    const changes = this.#unsent;
    this.#unsent = [];
    return changes.map((change) => ({ type: "event", ...change }));
  }

  /**
   * The changes after `seq`, of each entry the latest, as the JSON of an array. Null when some are no longer kept, or
   * `seq` is not of this room or not of its `epoch`. The log's limits bound the answer.
   */
  since(seq: number, epoch?: string): JsonText | null {
    const last = this.lastSeq;
    this.#known.droppedSeq ??= this.#storage.changes.readDroppedSeq();
    if (seq > last || seq < this.#known.droppedSeq) return null;
    const isKnown =
      epoch === undefined
        ? seq >= this.#storage.changes.restoredSeq()
        : seq <= (this.#storage.epochs.lastSeqOf(epoch) ?? -1);
    if (!isKnown) return null;
    const changes = seq === last ? [] : this.#storage.changes.listAfter(seq);
    return new JsonText(
      `[${changes.map((change) => `{"seq":${change.seq},"event":"${change.event}","data":${change.data}}`).join()}]`,
    );
  }
}

const textOf = (data: object): string => (data instanceof JsonText ? data.text : JSON.stringify(data));

/** The entry of a store that a change is about. */
interface ChangedEntry extends EntryAddress {
  /** The seq of the entry's change before; 0 if there was no entry. */
  readonly before: number;
  readonly isDeleted: boolean;
}

/** The latest change of an entry so far; null if it is dropped by now. */
function replacedBy({ before, store, key }: ChangedEntry, droppedSeq: number) {
  if (before === 0) return { deletionOf: { store, key } };
  return before > droppedSeq ? { seq: before } : null;
}

/** Receipts between two cleanings: a cleaning reads all receipts of the user. */
const RECEIPTS_PER_CLEANING = 256;

/** The answers to requests with changes, kept for a day. The limits hold per user: no user displaces another's. */
export class Receipts {
  readonly #table: RoomStorage["receipts"];
  readonly #now: () => number;

  constructor(table: RoomStorage["receipts"], now: () => number) {
    this.#table = table;
    this.#now = now;
  }

  /** The answer to this request if it was handled before, as JSON; null if not. */
  findAnswer(sender: string, requestId: string, fingerprint: string): string | null {
    const receipt = this.#table.find(sender, requestId);
    if (receipt?.fingerprint !== fingerprint) return null;
    const bounds = this.#boundsOf(this.#table.newest(sender) ?? receipt);
    const isRemembered =
      receipt.number >= bounds.number && receipt.total >= bounds.total && receipt.at >= bounds.at;
    return isRemembered ? receipt.answer : null;
  }

  write(receipt: Receipt): void {
    const { userId, requestId, answer } = receipt;
    const newest = this.#table.newest(userId);
    const size = byteLength(answer) + byteLength(requestId);
    const place = { number: (newest?.number ?? 0) + 1, total: (newest?.total ?? 0) + size };
    this.#table.insert({ ...receipt, ...place, at: this.#now() });
    if (place.number % RECEIPTS_PER_CLEANING !== 1) return;
    const bounds = this.#boundsOf(place);
    this.#table.deleteBefore(userId, bounds);
    this.#table.deleteExpiredOfNext(userId, bounds.at);
  }

  #boundsOf({ number, total }: ReceiptPlace) {
    return {
      number: number - LIMITS.receipts + 1,
      total: total - LIMITS.receiptBytes,
      at: this.#now() - LIMITS.receiptLifetimeMs,
    };
  }
}

/**
 * Fingerprint of a request: 53 bits of hash and the length of its content, and of its reader if that is not the
 * sender. A sender can only make its own requests collide. The order of fields does not count, so a version
 * with another order in its schema recognizes repeated requests.
 */
function fingerprintOf({ type, data, reader }: RoomRequest, sender: string): string {
  const other = reader && reader.userId !== sender ? [reader.userId ?? reader.subject] : [];
  const fields = Object.entries(data).sort(([one], [another]) => (one < another ? -1 : 1));
  const text = JSON.stringify([type, fields, ...other]);
  let [high, low] = [0xdeadbeef, 0x41c6ce57];
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    high = Math.imul(high ^ unit, 0x9e3779b1);
    low = Math.imul(low ^ unit, 0x5f356495);
  }
  high = Math.imul(high ^ (high >>> 16), 0x85ebca6b) ^ Math.imul(low ^ (low >>> 13), 0xc2b2ae35);
  low = Math.imul(low ^ (low >>> 16), 0x85ebca6b) ^ Math.imul(high ^ (high >>> 13), 0xc2b2ae35);
  return `${text.length.toString(36)}-${(4294967296 * (0x1fffff & low) + (high >>> 0)).toString(36)}`;
}
