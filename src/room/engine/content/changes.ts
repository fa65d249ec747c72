/** The room's lasting changes: numbered, kept for a day, sent to everyone in order, and made once per request ID. */

import { LIMITS } from "@atrium/contract/limits.ts";
import { byteLength } from "@atrium/contract/text.ts";
import { JsonText } from "../../protocol/frame.ts";
import type { Change, ChangeEvent, ServerEvent } from "../../protocol/protocol.ts";
import type { RoomRequest } from "../../protocol/room-request.ts";
import type { EntryAddress, LoggedChange, Receipt } from "../../storage/sqlite-journal.ts";
import { lastTooOld, receiptBounds } from "../../storage/sqlite-log.ts";
import type { RoomStorage } from "../../storage/storage.ts";
import type { RoomPorts } from "../../transport/room-ports.ts";
import type { ChangePlace, KnownPlace } from "../../types/changes.ts";

/** The sender of the organization's requests: no user has an empty ID. */
export const ORGANIZATION = "";
/** The sender of the room's own changes: no user has this ID. */
const ROOM = "room";

/** A change with its data as text. */
type TextualChange = Change & { readonly data: JsonText };

/** Clients of earlier epochs are reset. */
const MAX_EPOCHS = 1_000;

export class Changes {
  readonly #ports: Pick<RoomPorts, "storage" | "now" | "newId">;
  readonly #storage: RoomStorage;
  readonly #receipts: Receipts;
  readonly #changed: () => void;
  /** Made since the last {@link takeEvents}. */
  #unsent: Change[] = [];
  /** Null until it is read: every write needs it, like the epoch. */
  #lastSeq: number | null = null;
  #epoch: string | null = null;
  /** The latest change that was found above the log's limits: a client before it is reset without another look. */
  #tooOldSeq = 0;
  /** Sockets have survived the start of the room: no change that they received was taken back. */
  #continuesEpoch = false;
  /** The epoch that has begun since the start. */
  #begunEpoch: string | null = null;

  /** `changed` is called when the log is another one than before, and its changes are being sent. */
  constructor(ports: Pick<RoomPorts, "storage" | "now" | "newId">, changed = () => {}) {
    this.#ports = ports;
    this.#changed = changed;
    this.#storage = ports.storage;
    this.#receipts = new Receipts(ports.storage.receipts, () => ports.now());
  }

  /** The latest change's seq; 0 before the first. */
  get lastSeq(): number {
    this.#lastSeq ??= this.#storage.changes.lastSeq();
    return this.#lastSeq;
  }

  /**
   * The ID of the room's history. An epoch begins with the first join or change after a start without sockets, such as
   * a restore: a backup does not know the epochs that began after it.
   */
  get epoch(): string {
    return this.#openEpoch();
  }

  /**
   * The end of the log, in an epoch that knows it: the last one that has begun, as a read alone changes nothing that a client
   * could have missed. Only a room without any begins its first one.
   */
  get end(): KnownPlace {
    const epoch = this.#epoch ?? this.#storage.epochs.latest() ?? this.epoch;
    return { seq: this.lastSeq, epoch };
  }

  #openEpoch(): string {
    this.#epoch ??= this.#findEpoch() ?? this.#beginEpoch();
    return this.#epoch;
  }

  #findEpoch(): string | null {
    const latest = this.#storage.epochs.latest();
    return this.#continuesEpoch || latest === this.#begunEpoch ? latest : null;
  }

  #beginEpoch(): string {
    this.#begunEpoch = this.#ports.newId();
    this.#storage.epochs.begin(this.#begunEpoch, this.lastSeq, MAX_EPOCHS);
    this.#storage.changes.skipRestored();
    this.#lastSeq = null;
    this.#changed();
    return this.#begunEpoch;
  }

  /** Sockets have survived the start of the room, so its latest epoch goes on. */
  continueEpoch(): void {
    this.#continuesEpoch = true;
  }

  /** Runs `work` in a transaction; if it throws, the changes it appended were never made. */
  transaction<T>(work: () => T): T {
    const [lastSeq, epoch, unsent] = [this.#lastSeq, this.#epoch, this.#unsent.length];
    try {
      return this.#storage.transaction(work);
    } catch (error) {
      [this.#lastSeq, this.#epoch] = [lastSeq, epoch];
      this.#unsent.length = unsent;
      throw error;
    }
  }

  /** The storage has been cleared. */
  reset(): void {
    this.#unsent = [];
    [this.#lastSeq, this.#epoch, this.#tooOldSeq] = [null, null, 0];
    this.#changed();
  }

  /**
   * Handles a request in a transaction, and returns the data of its response. A repeated request of the same sender
   * and request ID returns the same data and changes nothing. A request without changes is handled again, unless it is
   * remembered `always`.
   */
  once(
    sender: string,
    request: Repeatable,
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

  /** The answer to a request that was handled before, as JSON; null if it was not. */
  findAnswer(sender: string, request: Repeatable): string | null {
    const { requestId } = request;
    if (requestId === undefined) return null;
    return this.#receipts.findAnswer(sender, requestId, fingerprintOf(request, sender));
  }

  /** Logs the next change; call it in the {@link transaction} of the write. `written` is the entry that it is about. */
  append(event: ChangeEvent, dataOf: (seq: number) => object, written: WrittenEntry | null = null): Change {
    this.#openEpoch();
    const seq = this.lastSeq + 1;
    const data = textOf(dataOf(seq));
    const entry = written && { store: written.store, key: written.key };
    const stored =
      written === null || written.value === null
        ? null
        : { key: written.key, value: written.value, version: seq };
    this.#storage.changes.append({ seq, event, data, at: this.#ports.now(), entry }, stored);
    this.#lastSeq = seq;
    const change: Change = { seq, event, data: new JsonText(data) };
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

  /** Keeps earlier changes of entries in the log as well from now on, within its limits. */
  keepEvery(): void {
    this.#storage.changes.keepEvery();
  }

  /** Kept changes of stores after `seq`, oldest first, and the latest that is no longer kept; 0 for none. */
  ofStores(seq: number, limit: number) {
    const found: LoggedChange[] = [];
    for (const change of this.#storage.changes.scanAfter(seq)) {
      if (change.event === "storeChanged") found.push(change);
      if (found.length === limit) break;
    }
    return { changes: found, droppedSeq: this.#storage.changes.readDroppedSeq() };
  }

  /**
   * Drops all changes if any of them names an erased user, in a {@link transaction}; the latest stays if it does not.
   * Clients that have missed some load everything anew.
   */
  forgetUser(userId: string): void {
    const { changes, receipts } = this.#storage;
    receipts.deleteUser(userId);
    const isNaming = ({ event, data }: { readonly event: ChangeEvent; readonly data: string }) =>
      event !== "userDeleted" && data.includes(userId);
    if (!changes.listAfter(0).some(isNaming)) return;
    changes.dropAll(isNaming);
    this.#changed();
  }

  /** Takes the changes that were made since the last call, as events to send. */
  takeEvents(): ServerEvent[] {
    const changes = this.#unsent;
    this.#unsent = [];
    if (changes.length > 0) this.#changed();
    return changes.map((change) => ({ type: "event", ...change }));
  }

  /** The same as {@link after}, as the JSON of an array. */
  since(seq: number, epoch?: string): JsonText | null {
    const items = this.after({ seq, epoch })?.map(
      (change) => `{"seq":${change.seq},"event":"${change.event}","data":${change.data.text}}`,
    );
    return items === undefined ? null : new JsonText(`[${items.join()}]`);
  }

  /**
   * The changes after a place, of each entry the latest. Null when some are no longer kept, when several of them exceed
   * the log's limits, or `seq` is not of this room or not of its `epoch`.
   */
  after({ seq, epoch }: ChangePlace): readonly TextualChange[] | null {
    const { changes, epochs } = this.#storage;
    const last = this.lastSeq;
    if (seq > last || seq < Math.max(this.#tooOldSeq, changes.readDroppedSeq())) return null;
    const isKnown =
      epoch === undefined ? seq >= changes.restoredSeq() : seq <= (epochs.lastSeqOf(epoch) ?? -1);
    if (!isKnown) return null;
    const logged = seq === last ? [] : changes.latestAfter(seq);
    const missed = logged.map(({ seq: number, event, at, data }) => ({ number, event, at, data }));
    const tooOld = lastTooOld(missed, this.#ports.now() - LIMITS.changeLifetimeMs);
    if (tooOld !== undefined) {
      this.#tooOldSeq = tooOld.number;
      return null;
    }
    return missed.map(({ number, event, data }) => ({ seq: number, event, data: new JsonText(data) }));
  }
}

/** A request that is handled once. */
interface Repeatable extends Pick<RoomRequest, "requestId" | "reader"> {
  readonly type: string;
  readonly data: object;
}

const textOf = (data: object): string => (data instanceof JsonText ? data.text : JSON.stringify(data));

/** The entry of a store that a change is about, with its JSON afterwards; null when it is deleted. */
interface WrittenEntry extends EntryAddress {
  readonly value: string | null;
}

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
    const bounds = receiptBounds(this.#table.newest(sender) ?? receipt, this.#now());
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
  }
}

/**
 * Fingerprint of a request: 53 bits of hash and the length of its content, and of its reader if that is not the
 * sender. A sender can only make its own requests collide. The order of fields does not count, so a version
 * with another order in its schema recognizes repeated requests.
 */
function fingerprintOf({ type, data, reader }: Repeatable, sender: string): string {
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
