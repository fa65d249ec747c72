/** A webhook's receiver that fails, hangs, answers late, breaks off and lies about kept events. */
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Event } from "@atrium/contract/resources/events.ts";
import type { Random } from "../../support/random.ts";

const MAX_LATE_MS = 300;
/** The service waits 15 s for a response, and a room's later events with it. */
const ONE_OF_HANGS = 2_000;

/** Events in the order in which they first arrived, by room. */
class Arrived {
  readonly #ids = new Set<string>();
  readonly byRoom = new Map<string, string[]>();

  get size(): number {
    return this.#ids.size;
  }

  add({ id, data }: Event): void {
    if (this.#ids.has(id)) return;
    this.#ids.add(id);
    const ofRoom = this.byRoom.get(data.roomId) ?? [];
    if (ofRoom.push(id) === 1) this.byRoom.set(data.roomId, ofRoom);
  }
}

export class UnreliableReceiver {
  /** The rooms whose events count; it accepts those of others, which earlier tests have left, and forgets them. */
  rooms: ReadonlySet<string> = new Set();
  /** Events that arrived, accepted or not. */
  readonly seen = new Arrived();
  /** Same for the requests of replays. */
  readonly replayed = new Arrived();
  /** The ids of the events that it has kept. */
  readonly kept = new Set<string>();
  /** Whether it keeps every event and says so. */
  isReliable = false;
  /** Whether it sometimes does not answer at all. */
  mayHang = false;
  readonly #random: Random;
  readonly #server: Server;

  private constructor(random: Random) {
    this.#random = random;
    this.#server = createServer(async (request, response) => {
      let body = "";
      for await (const chunk of request.setEncoding("utf8")) body += chunk;
      const event = JSON.parse(body) as Event;
      if (!this.rooms.has(event.data.roomId)) {
        response.end();
        return;
      }
      const isReplay = request.headers["atrium-replay"] !== undefined;
      (isReplay ? this.replayed : this.seen).add(event);
      if (this.isReliable) this.#keep(event, response);
      else this.#misbehave(event, response);
    });
  }

  static async start(random: Random): Promise<UnreliableReceiver> {
    const receiver = new UnreliableReceiver(random);
    receiver.#server.keepAliveTimeout = 0; // otherwise it closes connections on which the next request is on its way
    await new Promise<void>((resolve) => receiver.#server.listen(0, "127.0.0.1", resolve));
    return receiver;
  }

  #keep({ id }: Event, response: ServerResponse): void {
    this.kept.add(id);
    response.end();
  }

  /** Two of three requests are treated well. */
  #misbehave(event: Event, response: ServerResponse): void {
    if (this.mayHang && this.#random(ONE_OF_HANGS) === 0) return;
    switch (this.#random(15)) {
      case 0: // keeps the event, and denies it
        this.kept.add(event.id);
        response.writeHead(500).end();
        return;
      case 1: // loses the event, and confirms it
        response.end();
        return;
      case 2: // keeps the event, and breaks off its response
        this.kept.add(event.id);
        response.writeHead(200, { "Content-Length": "100" }).write("half of it", () => response.destroy());
        return;
      case 3:
        setTimeout(() => this.#keep(event, response), this.#random(MAX_LATE_MS));
        return;
      case 4:
        response.socket?.resetAndDestroy();
        return;
      default:
        this.#keep(event, response);
    }
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  stop(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }
}
