/** A room's streams, as the Durable Streams protocol has them (https://github.com/durable-streams/durable-streams). */
import { AppError } from "@atrium/contract/errors.ts";
import type { RoomFields } from "@atrium/contract/resources/room.ts";
import { STREAM_CHARGES, STREAM_LIMITS } from "@atrium/contract/stream-limits.ts";
import { APPENDS_AT_ONCE, type StoredStream } from "../storage/sqlite-streams.ts";
import type { RoomStorage } from "../storage/storage.ts";
import {
  type Appended,
  type Created,
  isJson,
  MESSAGE_END,
  mediaTypeOf,
  type ProducerTurn,
  type StreamAppend,
  type StreamCreation,
  type StreamPage,
  type StreamPart,
  StreamRefused,
  type StreamState,
} from "../types/streams.ts";
import { LiveReads, type LiveSource } from "./live-reads.ts";
import { BEGINNING, END, offsetOf, parseOffset } from "./offsets.ts";
import { isPlainText, unfinishedLength } from "./stream-events.ts";
import { StreamTimes } from "./stream-times.ts";

const DEFAULT_TYPE = "application/octet-stream";

/** Streams that end at once; removals at once, with the rows and bytes of each. */
const ENDED_AT_ONCE = 100;
const REMOVALS = 100;
const REMOVED_ROWS = 2_000;
const REMOVED_BYTES = 16 * 1024 * 1024;
const RETRY_DELAY_MS = 1_000;

/** A character that appends have cut, and a whole append. */
const PAGE_BYTES = STREAM_LIMITS.appendBytes + 4;

interface StreamPorts {
  readonly storage: RoomStorage;
  now(): number;
  planAlarm(): void;
  /** No one reads the room's changes any more. */
  changesLeft(): void;
  readonly quota: {
    /** FORBIDDEN when the streams may not grow to `after` bytes. */
    require(before: number, after: number): void;
    changed(before: number, after: number): void;
  };
}

interface Page {
  readonly place: string;
  readonly data: Uint8Array;
  /** Bytes of a character that is not whole, which follow. */
  readonly left: number;
}

const missing = () => new StreamRefused("NOT_FOUND", "Stream not found");
const conflict = (why: string, headers?: Readonly<Record<string, string>>) =>
  new StreamRefused("CONFLICT", why, headers);
const invalid = (why: string) => new StreamRefused("BAD_REQUEST", why);

export class RoomStreams {
  readonly live = new LiveReads((source) => this.#left(source));
  readonly #ports: StreamPorts;
  readonly #times: StreamTimes;
  /** The bytes that all streams count for; null until they are measured. */
  #bytes: number | null = null;
  #latestPage: Page | null = null;
  /** The room's row, to be stored with the first stream: a room that no one has joined has none. */
  #row: RoomFields | null = null;
  #notBefore = 0;

  constructor(ports: StreamPorts) {
    this.#ports = ports;
    this.#times = new StreamTimes(ports, this.live);
  }

  get #table(): RoomStorage["streams"] {
    return this.#ports.storage.streams;
  }

  get bytes(): number {
    this.#bytes ??= this.#table.measure();
    return this.#bytes;
  }

  /** The row of a room that no one has joined, as just read. */
  offerRow(row: RoomFields): void {
    this.#row = row;
  }

  /** Creates a stream, or confirms one with this configuration. CONFLICT for another one of the name. */
  create(name: string, creation: StreamCreation): Created {
    const found = this.#table.find(name);
    const existing = found !== null && this.#times.isOver(found) ? null : found;
    if (existing !== null) return { isNew: false, state: this.#confirm(existing, creation) };
    return this.#change(() => {
      if (found !== null) this.#end(found);
      if (this.#table.find(name) !== null)
        throw conflict("Forks still read the stream that had this name before");
      const stream = this.#insert(name, creation);
      this.#ports.planAlarm();
      return { isNew: true, state: this.#used(stream) };
    });
  }

  #confirm(
    stream: StoredStream,
    { contentType, ttlSeconds, expiresAt, closes, fork }: StreamCreation,
  ): StreamState {
    if (stream.isDeleted)
      throw conflict("Forks still read the deleted stream of this name; choose another name");
    const source = fork && this.#table.find(fork.name);
    if (stream.isClosed && !closes) throw conflict("The stream is closed; delete it, or choose another name");
    const isSame =
      (contentType === null || mediaTypeOf(contentType) === mediaTypeOf(stream.contentType)) &&
      closes === stream.isClosed &&
      ((fork !== null && ttlSeconds === null && expiresAt === null) ||
        (ttlSeconds === stream.ttl && expiresAt === fixedEndOf(stream))) &&
      (fork === null ? stream.source === null : source !== null && this.#isForkOf(stream, source, fork));
    if (!isSame)
      throw conflict("A stream with another configuration has this name; delete it, or choose another name");
    return this.#stateOf(stream);
  }

  #isForkOf(stream: StoredStream, source: StoredStream, fork: NonNullable<StreamCreation["fork"]>): boolean {
    if (stream.source !== source.id) return false;
    return fork.offset === null || this.#forkPosition(source, fork) === stream.base;
  }

  #insert(name: string, creation: StreamCreation): StoredStream {
    const { contentType, closes, fork, data, userId } = creation;
    const now = this.#ports.now();
    const source = fork && this.#sourceOf(fork.name);
    if (
      source !== null &&
      contentType !== null &&
      mediaTypeOf(contentType) !== mediaTypeOf(source.contentType)
    )
      throw conflict(`The source has the type ${source.contentType}; send that, or none`);
    const id = this.#table.newId(now);
    const base = source === null || fork === null ? 0 : this.#forkPosition(source, fork);
    const type = contentType ?? source?.contentType ?? DEFAULT_TYPE;
    const stream: StoredStream = {
      ...{ id, name, root: id, source: source?.id ?? null, base },
      ...{ contentType: type, createdAt: now, ...this.#times.of(creation, source, now) },
      ...{ sort: null, isClosed: closes, closedBy: null, isDeleted: false },
    };
    this.#grow(STREAM_CHARGES.stream + (data.length > 0 ? STREAM_CHARGES.append + data.length : 0));
    if (this.#row !== null) this.#ports.storage.occupancy.writeRoom(this.#row);
    this.#row = null;
    this.#table.insert(stream);
    if (data.length > 0) this.#table.append({ stream: id, start: base, number: 1, at: now, userId, data });
    return stream;
  }

  #sourceOf(name: string): StoredStream {
    const source = this.#table.find(name);
    if (source === null || this.#times.isOver(source))
      throw new StreamRefused("NOT_FOUND", "The source was not found");
    if (source.isDeleted) throw conflict("The source was deleted");
    let depth = 1;
    for (let at: StoredStream | null = source; at?.source != null; at = this.#table.byId(at.source))
      depth += 1;
    if (depth > STREAM_LIMITS.forkDepth)
      throw conflict(`Forks of forks can be ${STREAM_LIMITS.forkDepth} deep; fork an earlier stream`);
    return source;
  }

  /** The position at which a fork begins. BAD_REQUEST for one that the source does not have. */
  #forkPosition(source: StoredStream, { offset, beyond }: NonNullable<StreamCreation["fork"]>): number {
    const end = this.#table.lastOf(source).end;
    const from = offset === null ? end : this.#positionOf(source, offset, end, "Stream-Fork-Offset");
    if (beyond === 0) return from;
    const bytes = this.#readBetween(source, from, end, 1);
    const length = isJson(source.contentType) ? lengthOfMessages(bytes, beyond) : beyond;
    if (length === null || length > bytes.length)
      throw invalid("Stream-Fork-Sub-Offset: goes beyond the append that begins at Stream-Fork-Offset");
    return from + length;
  }

  /** Appends, closes, or does both. Throws with the headers of the protocol. */
  append(name: string, append: StreamAppend): Appended {
    const stream = this.#require(name);
    const { data, closes, producer, contentType, order, userId } = append;
    const known = producer && this.#table.findProducer(stream.id, producer.id);
    if (producer !== null && known !== null && producer.epoch < known.epoch)
      throw new StreamRefused("FORBIDDEN", "Another instance of the producer has a later epoch", {
        "Producer-Epoch": String(known.epoch),
      });
    if (stream.isClosed) return this.#appendToClosed(stream, append, known);
    if (data.length > 0 && contentType === null) throw invalid("Content-Type: is missing; send the stream's");
    if (data.length > 0 && mediaTypeOf(contentType ?? "") !== mediaTypeOf(stream.contentType))
      throw conflict(`The stream has the type ${stream.contentType}`);
    if (producer !== null && isRepeated(producer, known))
      return { isNew: false, state: this.#used(stream), producer: known };
    const last = this.#table.lastOf(stream);
    if (order !== null && stream.sort !== null && order <= stream.sort)
      throw conflict(`Stream-Seq: must come after ${stream.sort}`);
    const isNewProducer = producer !== null && known === null;
    const growth =
      (data.length > 0 ? data.length + STREAM_CHARGES.append : 0) +
      (isNewProducer ? STREAM_CHARGES.producer : 0);
    return this.#change(() => {
      this.#grow(growth);
      const at = this.#ports.now();
      const place = { stream: stream.id, start: last.end, number: last.number + 1, at };
      if (data.length > 0) this.#table.append({ ...place, userId, data });
      if (order !== null) this.#table.putSort(stream.id, order);
      if (producer !== null) this.#table.putProducer(stream.id, producer);
      if (closes) this.#table.close(stream.id, producer);
      this.live.wake(stream.id);
      return { isNew: true, state: this.#used({ ...stream, isClosed: closes }), producer };
    });
  }

  #appendToClosed(
    stream: StoredStream,
    { data, closes, producer }: StreamAppend,
    known: ProducerTurn | null,
  ) {
    const state = this.#stateOf(stream);
    const isRepetition =
      producer === null
        ? closes && data.length === 0
        : stream.closedBy !== null && isSameTurn(producer, stream.closedBy);
    if (isRepetition) return { isNew: false, state, producer: producer && known };
    throw conflict("The stream is closed", { "Stream-Closed": "true", "Stream-Next-Offset": state.next });
  }

  /** The stream's state. Does not move the end of a TTL. */
  describe(name: string): StreamState {
    return this.#stateOf(this.#require(name));
  }

  /**
   * Reads from an offset, as much as an append may have, or more if the first append has. For events, a character or a
   * line break that may not be whole is left for the next part.
   */
  read(name: string, from: string, forEvents = false): StreamPart {
    const stream = this.#require(name);
    const end = this.#table.lastOf(stream).end;
    const position = from === BEGINNING ? 0 : from === END ? end : this.#positionOf(stream, from, end);
    const { data, left } = this.#readPage(stream, position, end, forEvents);
    const next = position + data.length;
    return {
      ...this.#stateOf(this.#times.use(stream), end),
      ...{ id: stream.id, data, from: this.#offsetAt(stream, position), next: this.#offsetAt(stream, next) },
      ...{ isUpToDate: next + left === end, isClosed: stream.isClosed && next === end },
    };
  }

  /** A page, which readers at the same place share: each of them is sent the same bytes. */
  #readPage(stream: StoredStream, position: number, end: number, forEvents: boolean): Page {
    const isCut = forEvents && !stream.isClosed && isPlainText(stream.contentType);
    const place = `${stream.id} ${position} ${end} ${isCut}`;
    if (this.#latestPage?.place === place) return this.#latestPage;
    const all = this.#readBetween(stream, position, end, PAGE_BYTES);
    const left = isCut ? unfinishedLength(all) : 0;
    this.#latestPage = { place, data: all.subarray(0, all.length - left), left };
    return this.#latestPage;
  }

  /** No one waits for the stream any more: its TTL begins anew. */
  #left(source: LiveSource): void {
    if (source === "changes") {
      this.#ports.changesLeft();
      return;
    }
    const stream = this.#table.byId(source);
    if (stream !== null) this.#times.use(stream);
  }

  delete(name: string): void {
    const stream = this.#require(name);
    this.#change(() => this.#end(stream));
    this.#ports.planAlarm();
  }

  /** By name, after one. A page may have fewer streams than its limit, and not be the last. */
  list(after: string, limit: number): StreamPage {
    const page = this.#table.list(after, limit);
    const streams = page
      .filter((stream) => !stream.isDeleted && !this.#times.isOver(stream))
      .map((stream) => ({
        ...this.#stateOf(stream),
        ...{ name: stream.name, createdAt: stream.createdAt },
        bytes: this.#table.lastOf(stream).end - stream.base,
      }));
    return { streams, next: page.length < limit ? null : (page.at(-1)?.name ?? null) };
  }

  /** When streams end, or rows of ended ones are to be removed (epoch ms); null for never. */
  dueAt(): number | null {
    const at = this.#table.findEnded() === null ? this.#table.nextEnd() : this.#ports.now();
    return at === null ? null : Math.max(at, this.#notBefore);
  }

  /** Ends streams whose time is over, and removes some rows of ended ones. A failure is tried again after a second. */
  sweep(): void {
    const now = this.#ports.now();
    if ((this.dueAt() ?? Number.POSITIVE_INFINITY) > now) return;
    this.#notBefore = now + RETRY_DELAY_MS;
    const { bytes } = this; // measured before rows are removed
    for (const stream of this.#table.listEnding(now, ENDED_AT_ONCE))
      this.#change(() => (this.#times.isOver(stream) ? this.#end(stream) : this.#times.store(stream)));
    for (let step = 0; step < REMOVALS && bytes - this.bytes < REMOVED_BYTES; step += 1) {
      const ended = this.#table.findEnded();
      if (ended === null) break;
      this.#times.forget(ended);
      this.#change(() => this.#grow(-this.#table.removeSome(ended, REMOVED_ROWS, REMOVED_BYTES)));
    }
    this.#notBefore = 0;
  }

  /** The room's storage was cleared or replaced. */
  reset(): void {
    this.#bytes = null;
    this.#latestPage = null;
    this.#times.reset();
    this.live.wakeAll();
  }

  #require(name: string): StoredStream {
    const stream = this.#table.find(name);
    if (stream === null || this.#times.isOver(stream)) throw missing();
    if (stream.isDeleted) throw new StreamRefused("GONE", "The stream was deleted; its forks remain");
    return stream;
  }

  /** Deletes a stream: with forks, it stays for them. A source that was kept for it alone ends as well. */
  #end(stream: StoredStream): void {
    this.live.wake(stream.id);
    if (this.#table.hasForks(stream.id)) {
      this.#table.markDeleted(stream.id);
      return;
    }
    this.#table.end(stream.id);
    const source = stream.source === null ? null : this.#table.byId(stream.source);
    if (source?.isDeleted === true && !this.#table.hasForks(source.id)) this.#end(source);
  }

  /** Needs a {@link #change}. */
  #grow(bytes: number): void {
    const before = this.bytes;
    if (bytes > 0) {
      if (before + bytes > STREAM_LIMITS.roomStreamBytes)
        throw conflict(`The room's streams have ${STREAM_LIMITS.roomStreamBytes} bytes: delete one first`);
      this.#requireQuota(before, before + bytes);
    }
    this.#bytes = before + bytes;
    this.#ports.quota.changed(before, this.#bytes);
  }

  /** CONFLICT, as clients of the protocol take FORBIDDEN for another producer that has taken their place. */
  #requireQuota(before: number, after: number): void {
    try {
      this.#ports.quota.require(before, after);
    } catch (error) {
      throw error instanceof AppError ? conflict(error.message) : error;
    }
  }

  #change<T>(work: () => T): T {
    const bytes = this.#bytes;
    try {
      return this.#ports.storage.transaction(work);
    } catch (error) {
      this.#bytes = bytes;
      throw error;
    }
  }

  #used(stream: StoredStream): StreamState {
    return this.#stateOf(this.#times.use(stream));
  }

  #stateOf(stream: StoredStream, end = this.#table.lastOf(stream).end): StreamState {
    const { contentType, isClosed, ttl } = stream;
    const next = this.#offsetAt(stream, end);
    return { contentType, next, isClosed, ttlSeconds: ttl, expiresAt: fixedEndOf(stream) };
  }

  /** BAD_REQUEST for an offset that the stream does not have; GONE to a reader with one of an earlier stream of the name. */
  #positionOf(
    stream: StoredStream,
    text: string,
    end: number,
    field: "offset" | "Stream-Fork-Offset" = "offset",
  ): number {
    const offset = parseOffset(text);
    if (offset === null) throw invalid(`${field}: must be a Stream-Next-Offset that the stream has answered`);
    const { root, position } = offset;
    if (text !== this.#offsetAt(stream, position) && root + position > 0)
      throw field === "offset"
        ? new StreamRefused("GONE", "offset: is of an earlier stream of this name; read from the beginning")
        : invalid(`${field}: is of another stream`);
    if (position > end) throw invalid(`${field}: is beyond the stream's end`);
    if (isJson(stream.contentType) && position > 0 && !this.#isMessageEnd(stream, position))
      throw invalid(`${field}: must be a Stream-Next-Offset, which lies between two messages`);
    return position;
  }

  #isMessageEnd(stream: StoredStream, position: number): boolean {
    return this.#readBetween(stream, position - 1, position, 1).at(-1) === MESSAGE_END;
  }

  /** Names the stream of a fork's chain that has the byte before. */
  #offsetAt(stream: StoredStream, position: number): string {
    return offsetOf(this.#ownerOf(stream, position - 1).root, position);
  }

  /** The stream of a fork's chain that has the byte at a position. */
  #ownerOf(stream: StoredStream, position: number): StoredStream {
    let owner = stream;
    while (owner.source !== null && position < owner.base) owner = this.#table.byId(owner.source) ?? owner;
    return owner;
  }

  /** Bytes between two positions, of a fork from its sources first, up to `maxBytes` or one append. */
  #readBetween(stream: StoredStream, from: number, to: number, maxBytes: number): Uint8Array {
    const parts: Uint8Array[] = [];
    let bytes = 0;
    for (let at = from; at < to && bytes < maxBytes; ) {
      const owner = this.#ownerOf(stream, at);
      const end = Math.min(to, this.#endOf(stream, owner));
      const read = this.#table.read(owner.id, at, end, maxBytes - bytes);
      const length = read.reduce((sum, part) => sum + part.length, 0);
      if (length === 0 || (bytes > 0 && bytes + length > maxBytes)) break;
      parts.push(...read);
      bytes += length;
      at += length;
      if (parts.length >= APPENDS_AT_ONCE) break;
    }
    return joined(parts, bytes);
  }

  /** The position at which a stream of the fork's chain is no longer its owner. */
  #endOf(stream: StoredStream, owner: StoredStream): number {
    let end = Number.POSITIVE_INFINITY;
    for (let at = stream; at.id !== owner.id && at.source !== null; at = this.#table.byId(at.source) ?? owner)
      end = Math.min(end, at.base);
    return end;
  }
}

/** The end that requests cannot move; null with a TTL, and without an end. */
const fixedEndOf = ({ ttl, endsAt }: StoredStream): number | null => (ttl === null ? endsAt : null);

const isSameTurn = (one: ProducerTurn, other: ProducerTurn): boolean =>
  one.id === other.id && one.epoch === other.epoch && one.seq === other.seq;

/** True for a turn that was taken before. Throws for one that cannot be next. */
function isRepeated({ epoch, seq }: ProducerTurn, known: ProducerTurn | null): known is ProducerTurn {
  if (known !== null && epoch > known.epoch && seq !== 0)
    throw invalid("Producer-Seq: a new epoch begins at 0");
  const latest = known === null || epoch > known.epoch ? -1 : known.seq;
  if (seq <= latest) return true;
  if (seq === latest + 1) return false;
  throw conflict("Producer-Seq: earlier appends of the producer are missing", {
    "Producer-Expected-Seq": String(latest + 1),
    "Producer-Received-Seq": String(seq),
  });
}

/** The bytes of this many messages; null if there are fewer. */
function lengthOfMessages(bytes: Uint8Array, count: number): number | null {
  let length = 0;
  for (let left = count; left > 0; left -= 1) {
    length = bytes.indexOf(MESSAGE_END, length) + 1;
    if (length === 0) return null;
  }
  return length;
}

function joined(parts: readonly Uint8Array[], length: number): Uint8Array {
  const [only] = parts;
  if (only !== undefined && parts.length === 1) return only;
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
