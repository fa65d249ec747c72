/** Rooms with three users each on raw sockets, all doing the same at the same time. */
import { CommandError } from "../../../../src/cli/process/command.ts";
import { PING } from "../../../../src/room/protocol/protocol.ts";
import type { Organization } from "../organization.ts";
import { atriumProtocol } from "../room/client-protocols.ts";
import { ClientSocket } from "../room/client-socket.ts";
import type { Bill } from "./bill.ts";

export const USERS_PER_ROOM = 3;
const AT_ONCE = 4;
/** The longest that the service holds something back is 2 s: the copies of rooms' stats (R27). */
const QUIET_MS = 3_000;
const PING_SECONDS = 20;
const QUIET_LIMIT_MS = 300_000;

/** Runs `work` for each item, a few at a time: more would be a rush that no month has. */
async function inGroups<T, R>(
  items: readonly T[],
  work: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  for (let first = 0; first < items.length; first += AT_ONCE) {
    const group = items.slice(first, first + AT_ONCE);
    results.push(...(await Promise.all(group.map((item, index) => work(item, first + index)))));
  }
  return results;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A user of a room, with a token. */
interface Seat {
  readonly roomId: string;
  readonly token: string;
}

export class Fleet {
  readonly #origin: string;
  readonly #organization: Organization;
  readonly #stop: AbortSignal;
  #rooms: string[] = [];
  #seats: Seat[] = [];
  #sockets: ClientSocket[] = [];

  constructor(origin: string, organization: Organization, stop: AbortSignal) {
    this.#origin = origin;
    this.#organization = organization;
    this.#stop = stop;
  }

  get rooms(): number {
    return this.#rooms.length;
  }

  get users(): number {
    return this.#seats.length;
  }

  /**
   * The bill so far, once it has stopped growing, except for the rooms' own work: among hundreds of them, one
   * always wakes to check its sockets.
   */
  async settledBill(): Promise<Bill> {
    let before = "";
    for (const limit = Date.now() + QUIET_LIMIT_MS; Date.now() < limit; ) {
      this.#stop.throwIfAborted();
      const bill = (await (await fetch(`${this.#origin}/bill`)).json()) as Bill;
      const { requests, database, objects } = bill;
      const now = JSON.stringify([requests, database, { ...objects, rooms: null }]);
      if (now === before) return bill;
      before = now;
      for (const socket of this.#sockets) socket.send(PING);
      await pause(QUIET_MS);
    }
    throw new CommandError("The service does not come to rest");
  }

  async createRooms(count: number): Promise<void> {
    const names = Array.from({ length: count }, (_, index) => `Room ${index}`);
    this.#rooms = await inGroups(names, (name) => this.#organization.createRoom(name));
  }

  async createUsers(): Promise<void> {
    const places = this.#rooms.flatMap((roomId) => Array.from({ length: USERS_PER_ROOM }, () => roomId));
    this.#seats = await inGroups(places, async (roomId, index) => ({
      roomId,
      token: await this.#organization.createUser(`User ${index}`, roomId),
    }));
  }

  /** All users join, as the SDK does: with the presence of all others. */
  async join(): Promise<void> {
    const { accountId } = this.#organization;
    const sockets = `${this.#origin.replace("http", "ws")}/v1/accounts/${accountId}/rooms`;
    const protocols = this.#seats.map(({ roomId, token }) =>
      atriumProtocol(`${sockets}/${roomId}/socket`, token),
    );
    this.#sockets = await inGroups(protocols, (protocol) => {
      this.#stop.throwIfAborted();
      return ClientSocket.open(protocol);
    });
  }

  /** Every user sends this many messages a second, at even intervals. Returns how many were sent in all. */
  async send(perSecond: number, seconds: number, frameOf: (number: number) => string): Promise<number> {
    const gapMs = 1000 / (perSecond * this.#sockets.length);
    const startedAt = performance.now();
    let sent = 0;
    for (let now = startedAt; now < startedAt + seconds * 1000; now = performance.now()) {
      this.#stop.throwIfAborted();
      for (; startedAt + sent * gapMs <= now; sent += 1)
        this.#sockets[sent % this.#sockets.length]?.send(frameOf(sent));
      await pause(1);
    }
    for (const socket of this.#sockets) socket.mustBeOpen();
    return sent;
  }

  /** One user of each room sends a message. */
  sendEach(frameOf: () => string): Promise<void> {
    for (let index = 0; index < this.#sockets.length; index += USERS_PER_ROOM)
      this.#sockets[index]?.send(frameOf());
    return Promise.resolve();
  }

  /** No one does anything; the clients show that they are there. */
  async rest(seconds: number): Promise<void> {
    for (let rested = 0; rested < seconds; rested += PING_SECONDS) {
      this.#stop.throwIfAborted();
      for (const socket of this.#sockets) socket.send(PING);
      await pause(Math.min(PING_SECONDS, seconds - rested) * 1000);
    }
  }

  async leave(): Promise<void> {
    await inGroups(this.#sockets, (socket) => socket.close());
    this.#sockets = [];
  }
}
