/** The room's lasting changes: numbered, kept for a day, sent to everyone in order, and made once per request id. */
import { byteLength } from "../../../platform/text.ts";
import { JsonText } from "../../protocol/frame.ts";
import {
  CHANGE_LIFETIME_MS,
  MAX_CATCH_UP_BYTES,
  MAX_KEPT_CHANGES,
  MAX_RECEIPT_BYTES,
  MAX_RECEIPTS,
  RECEIPT_LIFETIME_MS,
} from "../../protocol/limits.ts";
import type { Change, ChangeEvent, ServerEvent } from "../../protocol/protocol.ts";
import type { RoomRequest } from "../../protocol/room-request.ts";
import type {
  EntryAddress,
  LogTotals,
  Receipt,
  ReceiptBounds,
  ReceiptPlace,
  Replaced,
} from "../../storage/sqlite-log.ts";
import type { RoomStorage } from "../../storage/storage.ts";

/** The sender of the organization's requests: no user has an empty id. */
export const ORGANIZATION = "";
/** The sender of the room's own changes: no user has this id. */
const ROOM = "room";

export class Changes {
  readonly #storage: RoomStorage;
  readonly #receipts: Receipts;
  readonly #epochs: Epochs;
  readonly #now: () => number;
  /** Made since the last {@link takeEvents}. */
  #unsent: Change[] = [];
  /** As stored, read once and then kept up to date: every write needs them. */
  #lastSeq: number | null = null;
  #droppedSeq: number | null = null;
  #totals: LogTotals | null = null;
  /** No change that is kept was made before this (epoch ms); null if not known. */
  #oldestAt: number | null = null;

  constructor(storage: RoomStorage, now: () => number, newId: () => string) {
    this.#storage = storage;
    this.#epochs = new Epochs(storage.epochs, newId);
    this.#receipts = new Receipts(storage.receipts, now);
    this.#now = now;
  }

  /** The latest change's seq; 0 before the first. */
  get lastSeq(): number {
    this.#lastSeq ??= this.#storage.changes.lastSeq();
    return this.#lastSeq;
  }

  /** Names the room's history since its latest start without sockets. */
  get epoch(): string {
    return this.#epochs.current(this.lastSeq);
  }

  /** Sockets have survived the start of the room, so its epoch goes on. */
  continueEpoch(): void {
    this.#epochs.continueLatest();
  }

  /** Runs `work` in a transaction; if it throws, the changes it appended were never made. */
  transaction<T>(work: () => T): T {
    const [lastSeq, droppedSeq, totals] = [this.lastSeq, this.#droppedSeq, this.#totals];
    const [oldestAt, unsent, epoch] = [this.#oldestAt, this.#unsent.length, this.#epochs.known];
    try {
      return this.#storage.transaction(() => {
        const result = work();
        if (this.lastSeq > lastSeq) this.#dropOldest();
        return result;
      });
    } catch (error) {
      [this.#lastSeq, this.#droppedSeq, this.#totals] = [lastSeq, droppedSeq, totals];
      this.#oldestAt = oldestAt;
      this.#unsent.length = unsent;
      this.#epochs.reset(epoch);
      throw error;
    }
  }

  /** Discards what memory knows of storage, which has been cleared. */
  reset(): void {
    this.#unsent = [];
    this.#lastSeq = null;
    this.#droppedSeq = null;
    this.#totals = null;
    this.#oldestAt = null;
    this.#epochs.reset();
  }

  /**
   * Does what a request asks in a transaction, and returns the data of its response. A request that its sender
   * repeats, under the same request id, returns the same data again and changes nothing. What has changed nothing is
   * done again, unless it is to be remembered `always`.
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
      const fingerprint = fingerprintOf(request);
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
   * Logs the next change, in the {@link transaction} of what it describes. The change of an `entry` holds its whole
   * new state: a client that missed earlier ones needs the latest only.
   */
  append(event: ChangeEvent, dataOf: (seq: number) => object, entry: ChangedEntry | null = null): Change {
    this.#epochs.current(this.lastSeq);
    const seq = this.lastSeq + 1;
    const at = this.#now();
    const data = textOf(dataOf(seq));
    const change: Change = { seq, event, data: new JsonText(data) };
    const size = byteLength(data);
    const { droppedSeq, changes, bytes } = this.#knownTotals;
    const replaces = entry === null ? null : replacedBy(entry, droppedSeq);
    const deletes = entry?.isDeleted === true ? entry : null;
    const replaced = this.#storage.changes.append({ seq, event, data, at, size, replaces, deletes });
    this.#totals = {
      droppedSeq,
      changes: changes + (replaced === null ? 1 : 0),
      bytes: bytes + size - (replaced ?? 0),
    };
    this.#lastSeq = seq;
    this.#unsent.push(change);
    return change;
  }

  get #knownTotals(): LogTotals {
    this.#totals ??= this.#storage.changes.readTotals();
    return this.#totals;
  }

  /** Logs a change that can happen only once, such as a user's deletion, unless it is logged already. */
  appendOnce(event: ChangeEvent, subject: string, data: object): void {
    const requestId = `${event} ${subject}`;
    if (this.hasHappened(event, subject)) return;
    this.append(event, () => data);
    this.#receipts.write({ userId: ROOM, requestId, fingerprint: "", answer: "{}" });
  }

  /** Whether {@link appendOnce} has logged this lately. */
  hasHappened(event: ChangeEvent, subject: string): boolean {
    return this.#receipts.findAnswer(ROOM, `${event} ${subject}`, "") !== null;
  }

  /** Drops what no one can catch up with. The very latest change stays, whatever its age: it holds the count. */
  #dropOldest(): void {
    const log = this.#storage.changes;
    let { droppedSeq, changes, bytes } = this.#knownTotals;
    const expiredBefore = this.#now() - CHANGE_LIFETIME_MS;
    const isFull = () => changes > MAX_KEPT_CHANGES || bytes > MAX_CATCH_UP_BYTES;
    if (isFull() || this.#oldestAt === null || this.#oldestAt < expiredBefore) {
      const before = droppedSeq;
      for (const { seq, at, size } of log.oldest()) {
        this.#oldestAt = at;
        if (seq === this.#lastSeq || (at >= expiredBefore && !isFull())) break;
        droppedSeq = seq;
        changes -= 1;
        bytes -= size;
      }
      if (droppedSeq > before) this.#drop({ droppedSeq, changes, bytes });
    }
  }

  #drop(left: LogTotals): void {
    this.#storage.changes.drop(left.droppedSeq);
    this.#droppedSeq = left.droppedSeq;
    this.#totals = left;
  }

  /**
   * Drops all changes but the latest if any of them names an erased user, in the {@link transaction} that made the latest
   * one. Clients that have missed some load what they need anew.
   */
  forgetUser(userId: string): void {
    const log = this.#storage.changes;
    this.#storage.receipts.deleteUser(userId);
    const kept = log.listAfter(0);
    const latest = kept.pop();
    const isNamed = kept.some(({ event, data }) => event !== "userDeleted" && data.includes(userId));
    if (latest === undefined || !isNamed) return;
    this.#drop({ droppedSeq: latest.seq - 1, changes: 1, bytes: byteLength(latest.data) });
  }

  /** Takes the changes that were made since the last call, as events to send. */
  takeEvents(): ServerEvent[] {
    const changes = this.#unsent;
    this.#unsent = [];
    return changes.map((change) => ({ type: "event", ...change }));
  }

  /**
   * The changes after `seq`, of each entry the latest, as the JSON of an array; null when some are no longer kept or
   * `seq` is not of this room, or not of its `epoch`. All that is kept is little enough to send.
   */
  since(seq: number, epoch?: string): JsonText | null {
    const last = this.lastSeq;
    this.#droppedSeq ??= this.#storage.changes.readDroppedSeq();
    if (seq > last || seq < this.#droppedSeq) return null;
    if (epoch !== undefined && !this.#epochs.includes(epoch, seq)) return null;
    const changes = seq === last ? [] : this.#storage.changes.listAfter(seq);
    return new JsonText(
      `[${changes.map((change) => `{"seq":${change.seq},"event":"${change.event}","data":${change.data}}`).join()}]`,
    );
  }
}

const textOf = (data: object): string => (data instanceof JsonText ? data.text : JSON.stringify(data));

/** The entry of a store that a change is about, and which earlier change of it is to leave the log. */
interface ChangedEntry extends EntryAddress {
  /** The seq of the change that wrote the entry so far; 0 if there was no entry. */
  readonly before: number;
  /** Whether there is no entry any more. */
  readonly isDeleted: boolean;
}

/** The latest change of an entry so far; null if it is dropped by now. */
function replacedBy({ before, store, key }: ChangedEntry, droppedSeq: number): Replaced | null {
  if (before === 0) return { deletionOf: { store, key } };
  return before > droppedSeq ? { seq: before } : null;
}

/** Clients of earlier epochs are reset. */
const MAX_EPOCHS = 1_000;

/**
 * An epoch begins with the first join or change after the room has started without sockets: so it does after its
 * storage was replaced by a backup, which knows nothing of the epochs that began since.
 */
class Epochs {
  readonly #table: RoomStorage["epochs"];
  readonly #newId: () => string;
  /** True if sockets have survived the start of the room: what they were sent was not taken back. */
  #isContinued = false;
  /** The one that has begun since the start. */
  #begun: string | null = null;
  #current: string | null = null;

  constructor(table: RoomStorage["epochs"], newId: () => string) {
    this.#table = table;
    this.#newId = newId;
  }

  /** Sockets have survived the start of the room, so the latest epoch goes on. */
  continueLatest(): void {
    this.#isContinued = true;
  }

  /** The id of the current epoch, which begins after the change `lastSeq` if none has begun yet. */
  current(lastSeq: number): string {
    this.#current ??= this.#find() ?? this.#begin(lastSeq);
    return this.#current;
  }

  #find(): string | null {
    const latest = this.#table.latest();
    return this.#isContinued || latest === this.#begun ? latest : null;
  }

  #begin(lastSeq: number): string {
    this.#begun = this.#newId();
    this.#table.begin(this.#begun, lastSeq, MAX_EPOCHS);
    return this.#begun;
  }

  /** Whether the room made the change `seq` in this epoch, or before it. */
  includes(epoch: string, seq: number): boolean {
    const lastSeq = this.#table.lastSeqOf(epoch);
    return lastSeq !== null && seq <= lastSeq;
  }

  /** The current epoch as far as it is known without reading; null if it is not. */
  get known(): string | null {
    return this.#current;
  }

  /** Storage has been rolled back or cleared: of the current epoch, only what was known before that is known. */
  reset(known: string | null = null): void {
    this.#current = known;
  }
}

/**
 * Each time that a user has so many more, those that are no longer remembered are deleted: to find them, all of the
 * user's are read.
 */
const RECEIPTS_PER_CLEANING = 256;

/**
 * Receipts are kept for a day. They are bounded by user: one who exceeds the limits loses their own earliest ones,
 * which no other user can bring about.
 */
export class Receipts {
  readonly #table: RoomStorage["receipts"];
  readonly #now: () => number;

  constructor(table: RoomStorage["receipts"], now: () => number) {
    this.#table = table;
    this.#now = now;
  }

  /** The answer to this request if it was carried out before, as JSON; null if not. */
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

  /** What is remembered beside the latest receipt of a user. */
  #boundsOf({ number, total }: ReceiptPlace): ReceiptBounds {
    return {
      number: number - MAX_RECEIPTS + 1,
      total: total - MAX_RECEIPT_BYTES,
      at: this.#now() - RECEIPT_LIFETIME_MS,
    };
  }
}

/**
 * Identifies a request's content: 53 bits of hash and the length. Only a sender can make two of its own collide,
 * which deceives no one else: receipts are kept per sender.
 */
function fingerprintOf(request: RoomRequest): string {
  const text = JSON.stringify([request.type, "data" in request ? request.data : undefined]);
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
