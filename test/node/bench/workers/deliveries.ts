/** Queues of events to fill directly: those of Atrium, and a bare object that posts events from SQLite. */
/// <reference types="@cloudflare/workers-types" />
import { DurableObject } from "cloudflare:workers";
import type { SubscriberKey } from "../../../../src/delivery/outbox/subscription.ts";
import { openDelivery } from "../../../../src/delivery/subscribers.ts";
import type { Env } from "../../../../src/env.ts";
import { MAX_IN_FLIGHT } from "../../../../src/features/webhooks/receiver-health.ts";
import { SubscriberObject as Subscriber } from "../../../../src/objects.ts";

export {
  EventLogObject,
  GuessLimitObject,
  InboxObject,
  RequestLogObject,
  RequestRateObject,
} from "./unused-objects.ts";

/** Events per call, the same number as in the service. */
const BATCH = 200;
/** Content of a queue: events of these rooms in turn. */
export interface Filling {
  readonly key: SubscriberKey;
  /** Target of the bare object, which knows no webhooks. */
  readonly url: string;
  readonly events: number;
  readonly rooms: number;
  /** The numbers of the events count from here. */
  readonly from: number;
}

const bodyOf = (number: number): string =>
  JSON.stringify({ event: "user.created", data: { userId: String(number) }, padding: "x".repeat(600) });

export class SubscriberObject extends Subscriber {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
  }

  /** Drops the object from memory: the next call wakes it. */
  restart(): void {
    this.ctx.abort("restart");
  }
}

/** The floor. Its name is that in wrangler.toml. */
export class RoomObject extends DurableObject {
  #inFlight = 0;
  readonly #busy = new Set<string>();

  fill({ url, events, rooms, from }: Filling): void {
    const { sql } = this.ctx.storage;
    sql.exec(
      "CREATE TABLE IF NOT EXISTS events (seq INTEGER PRIMARY KEY, room TEXT NOT NULL, body TEXT NOT NULL)",
    );
    sql.exec("CREATE INDEX IF NOT EXISTS events_by_room ON events (room, seq)");
    for (let number = from; number < from + events; number += 1) {
      sql.exec("INSERT INTO events (room, body) VALUES (?, ?)", `room ${number % rooms}`, bodyOf(number));
    }
    for (let room = 0; room < rooms && this.#inFlight < MAX_IN_FLIGHT; room += 1) {
      if (!this.#busy.has(`room ${room}`)) this.ctx.waitUntil(this.#work(url));
    }
  }

  /** Posts the next event of a room that is not busy, until none is left. */
  async #work(url: string): Promise<void> {
    const { sql } = this.ctx.storage;
    this.#inFlight += 1;
    for (let last = ""; ; ) {
      const query = `SELECT room, min(seq) AS seq FROM events WHERE room > ? AND room NOT IN (SELECT value FROM json_each(?))
        GROUP BY room LIMIT 1`;
      const busy = JSON.stringify([...this.#busy]);
      const read = (after: string) =>
        sql.exec<{ room: string; seq: number }>(query, after, busy).toArray()[0];
      const next = read(last) ?? read("");
      if (next === undefined) break;
      last = next.room;
      this.#busy.add(next.room);
      const [{ body } = { body: "" }] = sql
        .exec<{ body: string }>("SELECT body FROM events WHERE seq = ?", next.seq)
        .toArray();
      await (await fetch(url, { method: "POST", body })).text();
      sql.exec("DELETE FROM events WHERE seq = ?", next.seq);
      this.#busy.delete(next.room);
    }
    this.#inFlight -= 1;
  }
}

async function fill(env: Env, filling: Filling): Promise<void> {
  const { key, events, rooms, from } = filling;
  for (let sent = 0; sent < events; sent += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, events - sent) }, (_, index) => {
      const number = from + sent + index;
      const eventId = crypto.randomUUID();
      const roomId = `room ${number % rooms}`;
      return {
        eventId,
        event: "user.created" as const,
        roomId,
        body: bodyOf(number),
        occurredAt: Date.now(),
      };
    });
    await openDelivery(env).subscribers(key).enqueue(key, batch, 1);
  }
}

interface Bindings extends Omit<Env, "ROOMS" | "SUBSCRIBERS"> {
  readonly ROOMS: DurableObjectNamespace<RoomObject>;
  readonly SUBSCRIBERS: DurableObjectNamespace<SubscriberObject>;
}

export default {
  async fetch(request: Request, bindings: Bindings & Env): Promise<Response> {
    const filling = (await request.json()) as Filling;
    const stub = bindings.SUBSCRIBERS.getByName(`${filling.key.kind}:${filling.key.id}`);
    switch (new URL(request.url).pathname) {
      case "/fill":
        await fill(bindings, filling);
        break;
      case "/floor":
        await bindings.ROOMS.getByName(filling.key.id).fill(filling);
        break;
      case "/restart":
        await Promise.resolve(stub.restart()).catch(() => undefined);
        break;
      case "/list":
        return Response.json((await stub.list("pending", { limit: 1, offset: 0 })).total);
      default:
        await stub.remove();
    }
    return new Response();
  },
};
