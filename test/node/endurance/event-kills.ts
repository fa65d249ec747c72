/** Users are renamed while the service is killed again and again, and the receiver of the events is unreliable. */

import type { Event } from "@atrium/contract/resources/events.ts";
import type { Delivery } from "@atrium/contract/rest/webhook-deliveries.ts";
import type { WebhookWithSecret } from "@atrium/contract/rest/webhooks.ts";
import { expect } from "vitest";
import type { Random } from "../../support/random.ts";
import { eventually } from "../cli/processes.ts";
import { Customer } from "../stories/client.ts";
import { type KilledWriter, killWhile } from "./kill-while.ts";
import type { KillableService } from "./killable-service.ts";
import { UnreliableReceiver } from "./unreliable-receiver.ts";

/** Number of events from which the service is killed and the receiver hangs. */
const MANY_EVENTS = 1_000;
const EVENTS_PER_KILL = 4_000;
const MIN_KILLS = 5;
const LIMIT_MS = 90_000;
/** How long an event may take from its request to its replay: a busy machine needs a tenth of it. */
const EVENT_MS = 100;

/** The longest that {@link killUnderEvents} takes. */
export const limitOf = (events: number): number => 4 * LIMIT_MS + 2 * events * EVENT_MS;

/** A user of one room that is renamed again and again: each number is an event. */
class Renamer implements KilledWriter {
  readonly roomId: string;
  readonly #customer: Customer;
  readonly #events: number;
  #writing: Promise<void> = Promise.resolve();

  constructor(customer: Customer, roomId: string, events: number) {
    this.#customer = customer;
    this.roomId = roomId;
    this.#events = events;
  }

  start(renamed: () => void): void {
    this.#writing = this.#rename(renamed);
  }

  async #rename(renamed: () => void): Promise<void> {
    const { id } = await this.#customer.createUser(this.roomId, "0");
    for (let name = 1; name < this.#events; ) {
      const request = this.#customer.send("PATCH", `/users/${id}?roomId=${this.roomId}`, { name: `${name}` });
      // One that was killed may have taken effect: the same name again causes no further event.
      const { status } = await request.catch(() => ({ status: 0 }));
      if (status === 0) await eventually("the service runs", () => isServing(this.#customer));
      else {
        expect(status).toBe(200);
        name += 1;
        renamed();
      }
    }
  }

  /** All names have been given. */
  stop(): Promise<void> {
    return this.#writing;
  }
}

const isServing = (customer: Customer): Promise<boolean> =>
  customer.send("GET", "/webhooks").then(
    ({ status }) => status < 500,
    () => false,
  );

/** The events of users in the organization's log, read on from where it was left. */
class LogReader {
  /** The ids, in the order of the log, by room. */
  readonly ids = new Map<string, string[]>();
  /** The names that they report. */
  readonly names = new Map<string, string[]>();
  size = 0;
  readonly #customer: Customer;
  #cursor = "";

  constructor(customer: Customer, rooms: readonly string[]) {
    this.#customer = customer;
    for (const room of rooms) {
      this.ids.set(room, []);
      this.names.set(room, []);
    }
  }

  async read(): Promise<number> {
    type Page = { readonly events: Event[]; readonly cursor: string; readonly has_more: boolean };
    for (;;) {
      const after = this.#cursor === "" ? "" : `&after=${this.#cursor}`;
      const { data } = await this.#customer.send<Page>("GET", `/events?limit=100${after}`);
      this.#cursor = data.cursor;
      for (const event of data.events) this.#add(event);
      if (!data.has_more) return this.size;
    }
  }

  #add(event: Event): void {
    const { roomId } = event.data;
    if (!("user" in event) || !event.event.startsWith("user.") || !this.ids.has(roomId)) return;
    this.ids.get(roomId)?.push(event.id);
    this.names.get(roomId)?.push(event.user.name);
    this.size += 1;
  }
}

/** The ids that arrived after one that follows them in the log. */
function overtaken(arrived: readonly string[], logged: readonly string[]): Set<string> {
  const places = new Map(logged.map((id, place) => [id, place]));
  let furthest = -1;
  const late = arrived.filter((id) => {
    const place = places.get(id) ?? -1;
    furthest = Math.max(furthest, place);
    return place < furthest;
  });
  return new Set(late);
}

/** Late events without a delivery whose first attempt failed on its way: only a retry may be late. */
async function withoutFailure(customer: Customer, path: string, late: Set<string>): Promise<string[]> {
  type Deliveries = { readonly deliveries: Delivery[]; readonly cursor: string | null };
  for (let after: string | null = ""; late.size > 0 && after !== null; ) {
    const page: { data: Deliveries } = await customer.send("GET", `${path}&limit=100${after}`);
    for (const { payload, log } of page.data.deliveries) {
      const { id } = JSON.parse(payload) as Event;
      if (log[0]?.status_code === null) late.delete(id);
    }
    after = page.data.cursor && `&after=${page.data.cursor}`;
  }
  return [...late];
}

/**
 * Causes this many events. In the end the log has each of them, in the order of its room. The receiver got each
 * in that order, except those whose first attempt failed on its way; none failed without an attempt; and a
 * replay gives the receiver, which has lied, the whole log.
 */
export async function killUnderEvents(
  service: KillableService,
  events: number,
  random: Random,
): Promise<{ readonly events: number; readonly kills: number; readonly lost: number }> {
  const isLong = events >= MANY_EVENTS;
  const kills = isLong ? MIN_KILLS + Math.floor(events / EVENTS_PER_KILL) : 0;
  const customer = new Customer(service, service.organization);
  const receiver = await UnreliableReceiver.start(random);
  try {
    receiver.mayHang = isLong;
    const rooms: string[] = [];
    for (let room = 0; room < (isLong ? 20 : 4); room += 1) rooms.push((await customer.createRoom()).id);
    receiver.rooms = new Set(rooms);
    const perRoom = Math.ceil(events / rooms.length);
    const total = perRoom * rooms.length;
    const body = { url: receiver.url, events: ["user.created", "user.updated"] };
    const created = await customer.send<{ webhook: WebhookWithSecret }>("POST", "/webhooks", body);
    const webhook = `/webhooks/${created.data.webhook.id}`;
    const renamers = rooms.map((room) => new Renamer(customer, room, perRoom));
    const renames = total - rooms.length;
    await killWhile(renamers, service, { kills, maxSteps: Math.floor(renames / Math.max(1, kills)), random });

    const log = new LogReader(customer, rooms);
    const isLogged = async () => {
      await service.runScheduled();
      return (await log.read()) >= total;
    };
    await eventually("every event is in the log", isLogged, LIMIT_MS);
    const names = Array.from({ length: perRoom }, (_, name) => `${name}`);
    for (const room of rooms) expect(log.names.get(room)).toEqual(names);
    await eventually("every event was sent", () => receiver.seen.size >= total, limitOf(events));
    for (const room of rooms) {
      const late = overtaken(receiver.seen.byRoom.get(room) ?? [], log.ids.get(room) ?? []);
      expect(await withoutFailure(customer, `${webhook}/deliveries?roomId=${room}`, late)).toEqual([]);
    }
    const failed = await customer.send<{ deliveries: Delivery[] }>(
      "GET",
      `${webhook}/deliveries?status=failed`,
    );
    expect(failed.data.deliveries.filter(({ attempts }) => attempts === 0)).toEqual([]);

    const logged = [...log.ids.values()].flat();
    const lost = logged.filter((id) => !receiver.kept.has(id)).length;
    receiver.isReliable = true;
    await customer.send("POST", `${webhook}/replay`, { from: "2026-01-01" });
    if (isLong) {
      await service.kill();
      await service.start();
    }
    await eventually("every event was sent again", () => receiver.replayed.size >= total, limitOf(events));
    for (const room of rooms) expect(receiver.replayed.byRoom.get(room)).toEqual(log.ids.get(room));
    expect(new Set(logged).size).toBe(total);
    expect(new Set(logged)).toEqual(receiver.kept);
    return { events: total, kills, lost };
  } finally {
    await receiver.stop();
  }
}
