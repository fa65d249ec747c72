/** Bytes that a client may not have read: the runtime does not tell its buffers. Finds clients that read too slowly. */

const MEBIBYTE = 1024 * 1024;
/** A client confirms a mark after this many bytes. */
const MARK_EVERY_BYTES = MEBIBYTE;
/** Limit of unconfirmed bytes of events. */
const MAX_UNCONFIRMED_EVENT_BYTES = 4 * MEBIBYTE;
/** Answers wait above this many unread bytes: requests make a client slow by one answer at most. */
const MAX_UNREAD_BEFORE_ANSWERS = 8 * MEBIBYTE;
/** Large presence waits above this many unread bytes, from which on a client has a mark to confirm. */
const MAX_UNREAD_BEFORE_PRESENCE = MEBIBYTE;
/** Unread events and answers. */
const MAX_UNREAD_BYTES = 16 * MEBIBYTE;
/** The assumed speed of a client that confirms nothing. */
const ASSUMED_BYTES_PER_MS = MEBIBYTE / 1000;
/** A closed socket with less unconfirmed holds too little memory to count. */
const MIN_HELD_BYTES = MEBIBYTE;
/** Bytes sent to a client that confirms nothing, and may have read none. */
const MAX_UNCONFIRMED_BYTES = 64 * MEBIBYTE;

/** A bound for all clients of a room. It closes no client within the fair share. */
interface RoomBound {
  readonly maxBytes: number;
  readonly fairBytes: number;
}

/** Unread bytes. Clients confirm every MiB, so each briefly exceeds it: in a crowd, all at once. */
const UNREAD_IN_ROOM: RoomBound = { maxBytes: 64 * MEBIBYTE, fairBytes: 2 * MEBIBYTE };
/** Bytes sent to clients that confirm nothing. */
const UNCONFIRMED_IN_ROOM: RoomBound = { maxBytes: 512 * MEBIBYTE, fairBytes: 16 * MEBIBYTE };

interface Mark {
  readonly bytes: number;
  readonly eventBytes: number;
}

export class Output {
  /** The client confirms marks. Otherwise it is assumed to read at a steady rate. */
  readonly #confirms: boolean;
  readonly #maxUnconfirmed: number;
  /** Sent bytes, and those of events. */
  #bytes = 0;
  #eventBytes = 0;
  #read: Mark = { bytes: 0, eventBytes: 0 };
  /** Marks that the client has not confirmed, oldest first. */
  #marks: Mark[] = [];
  /** Unread bytes at `#assumedAt` of a client that confirms nothing. */
  #assumedUnread = 0;
  #assumedAt = 0;

  /** `maxUnconfirmed` bounds the bytes that are sent to a client that confirms nothing. */
  constructor(confirms: boolean, maxUnconfirmed = MAX_UNCONFIRMED_BYTES) {
    this.#confirms = confirms;
    this.#maxUnconfirmed = maxUnconfirmed;
  }

  /** Counts a frame that is sent at `now` (epoch ms); of its bytes, `eventBytes` are events. */
  count(bytes: number, eventBytes: number, now: number): void {
    this.#bytes += bytes;
    this.#eventBytes += eventBytes;
    if (this.#confirms) return;
    this.#assumedUnread = this.#assumedUnreadAt(now) + bytes;
    this.#assumedAt = now;
  }

  #assumedUnreadAt(now: number): number {
    return Math.max(0, this.#assumedUnread - Math.max(0, now - this.#assumedAt) * ASSUMED_BYTES_PER_MS);
  }

  /** The mark that the client must be sent now; null when it need not be asked. */
  nextMark(): number | null {
    const { bytes } = this.#marks.at(-1) ?? this.#read;
    if (!this.#confirms || this.#bytes - bytes < MARK_EVERY_BYTES) return null;
    this.#marks.push({ bytes: this.#bytes, eventBytes: this.#eventBytes });
    return this.#bytes;
  }

  confirm(mark: number): void {
    const index = this.#marks.findIndex(({ bytes }) => bytes === mark);
    const confirmed = this.#marks[index];
    if (confirmed === undefined) return;
    this.#read = confirmed;
    this.#marks = this.#marks.slice(index + 1);
  }

  /** Unread bytes. Less than a mark's distance counts as read if the client confirms. */
  unread(now: number): number {
    if (!this.#confirms) return this.#assumedUnreadAt(now);
    return this.#marks.length === 0 ? 0 : this.#bytes - this.#read.bytes;
  }

  get unconfirmed(): number {
    return this.#confirms ? 0 : this.#bytes;
  }

  /** Unconfirmed bytes: all of them for a client that confirms nothing. */
  get unacknowledged(): number {
    return this.#bytes - this.#read.bytes;
  }

  /** Whether a closed socket counts until its connection ends: the runtime keeps unread bytes until then. */
  get isHeld(): boolean {
    return this.unacknowledged > MIN_HELD_BYTES;
  }

  /** Milliseconds until the client may be sent another answer; null when that depends on a mark it must confirm. */
  answerableIn(now: number): number | null {
    const excess = this.unread(now) - MAX_UNREAD_BEFORE_ANSWERS;
    if (excess <= 0) return 0;
    return this.#confirms ? null : Math.ceil(excess / ASSUMED_BYTES_PER_MS);
  }

  /** Whether the client has read enough to receive deferrable frames. */
  canTakeMore(now: number): boolean {
    const unread = this.#confirms ? this.unacknowledged : this.#assumedUnreadAt(now);
    return unread <= MAX_UNREAD_BEFORE_PRESENCE;
  }

  /** True when the client reads so slowly that it must come back. */
  isTooSlow(now: number): boolean {
    const events = this.#confirms ? this.#eventBytes - this.#read.eventBytes : 0;
    const isUnread = events > MAX_UNCONFIRMED_EVENT_BYTES || this.unread(now) > MAX_UNREAD_BYTES;
    return isUnread || this.unconfirmed > this.#maxUnconfirmed;
  }
}

/** The clients with the most bytes, until the others are within the bound of the room. */
function slowestOf<Client>(
  clients: readonly Client[],
  bytesOf: (client: Client) => number,
  { maxBytes, fairBytes }: RoomBound,
): Client[] {
  let total = clients.reduce((sum, client) => sum + bytesOf(client), 0);
  if (total <= maxBytes) return [];
  const sorted = clients
    .map((client) => ({ client, bytes: bytesOf(client) }))
    .sort((one, other) => other.bytes - one.bytes);
  const slowest: Client[] = [];
  for (const { client, bytes } of sorted) {
    if (total <= maxBytes || bytes <= fairBytes) break;
    slowest.push(client);
    total -= bytes;
  }
  return slowest;
}

/** The room's bound is checked after this many sent bytes. */
const CHECK_EVERY_BYTES = 4 * 1024 * 1024;

interface Reader {
  readonly output: Output;
}

/** Finds the sockets whose clients read too slowly, alone or all together. */
export class SlowReaders<Socket extends Reader> {
  readonly #open: () => Iterable<Socket>;
  readonly #slow = new Set<Socket>();
  #uncheckedBytes = 0;

  constructor(open: () => Iterable<Socket>) {
    this.#open = open;
  }

  /** Counts a frame that is sent at `now` (epoch ms); of its bytes, `eventBytes` are events. */
  count(socket: Socket, bytes: number, eventBytes: number, now: number): void {
    socket.output.count(bytes, eventBytes, now);
    if (socket.output.isTooSlow(now)) this.#slow.add(socket);
    this.#uncheckedBytes += bytes;
    if (this.#uncheckedBytes >= CHECK_EVERY_BYTES) this.#checkRoom(now);
  }

  /** Marks the clients with the most unread bytes as slow while the room exceeds its bounds. */
  #checkRoom(now: number): void {
    this.#uncheckedBytes = 0;
    const sockets = [...this.#open()];
    const slow = [
      ...slowestOf(sockets, ({ output }) => output.unread(now), UNREAD_IN_ROOM),
      ...slowestOf(sockets, ({ output }) => output.unconfirmed, UNCONFIRMED_IN_ROOM),
    ];
    for (const socket of slow) this.#slow.add(socket);
  }

  /** The sockets found since the last call that are still open. */
  take(): Socket[] {
    if (this.#slow.size === 0) return [];
    const slow = [...this.#slow];
    this.#slow.clear();
    return slow;
  }

  delete(socket: Socket): void {
    this.#slow.delete(socket);
  }
}
