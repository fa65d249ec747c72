/** A restart under many users of the SDK: all come back, each for itself, and nothing has happened in the meantime. */

import type { Event } from "@atrium/contract/resources/events.ts";
import { AtriumClient } from "atrium/client";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { eventually } from "../cli/processes.ts";
import { BreakableProxy } from "../sdk/proxy.ts";
import { Customer } from "../stories/client.ts";
import { KillableService } from "./killable-service.ts";

const { restartUsers } = inject("endurance");
/** The users of one room. */
const ROOM_USERS = 100;
/** Users who are created, or join, at the same time. */
const AT_ONCE = 25;
/** Limit for the return of all, on a busy machine. */
const BACK_MS = 120_000;
const LIMIT_MS = 240_000 + restartUsers * 1_000;
/** Events that begin or end a user's presence. */
const ATTENDANCE = /^(participant|session)\./;

let service: KillableService;
beforeAll(async () => {
  // Long enough for a machine that takes its time to start the service again.
  service = await KillableService.prepare("loader", { graceMs: restartUsers > ROOM_USERS ? 10_000 : 20_000 });
});
afterAll(() => service?.dispose());

/** Runs `work` for each index, a few at a time. */
async function inGroups<T>(count: number, work: (index: number) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  while (results.length < count) {
    const group = Array.from(
      { length: Math.min(AT_ONCE, count - results.length) },
      (_, at) => results.length + at,
    );
    results.push(...(await Promise.all(group.map(work))));
  }
  return results;
}

/** The organization's events behind a cursor, oldest first, and where the log goes on. */
async function readEvents(customer: Customer, cursor: string | null) {
  type Page = { readonly events: Event[]; readonly cursor: string; readonly has_more: boolean };
  const events: Event[] = [];
  for (let after = cursor; ; ) {
    const { data } = await customer.send<Page>(
      "GET",
      `/events?limit=100${after === null ? "" : `&after=${after}`}`,
    );
    events.push(...data.events);
    after = data.cursor;
    if (!data.has_more) return { events, cursor: after };
  }
}

/** A client's view from the kill on. */
class ReconnectWitness {
  readonly client: AtriumClient;
  /** Others who left or came, as this client saw it. */
  changes = 0;
  /** Time of the return by `performance.now()`; null while it is away. */
  backAt: number | null = null;

  constructor(serverUrl: string, authToken: string) {
    // Same options as in an application, with the usual pauses between attempts.
    this.client = new AtriumClient({ serverUrl, authToken });
    this.client.users.on("userLeft", () => this.#note());
    this.client.users.on("userJoined", () => this.#note());
    this.client.socket.on("reconnected", () => {
      this.backAt = performance.now();
    });
  }

  #note(): void {
    this.changes += 1;
  }
}

it(
  "users who are back within the grace have never been away: no event, and no one sees them leave",
  async () => {
    const customer = new Customer(service, service.organization);
    const proxy = await BreakableProxy.before(service);
    const rooms = await inGroups(Math.ceil(restartUsers / ROOM_USERS), () => customer.createRoom());
    const roomOf = (index: number) => rooms[index % rooms.length]?.id ?? "";
    const users = await inGroups(restartUsers, (index) =>
      customer.createUser(roomOf(index), `User ${index}`),
    );
    const witnesses = users.map(({ token }) => new ReconnectWitness(proxy.url, token));
    try {
      await inGroups(witnesses.length, async (index) => witnesses[index]?.client.join());
      const joinedAll = async () => {
        const { events } = await readEvents(customer, null);
        return events.filter(({ event }) => event === "participant.joined").length === restartUsers;
      };
      await eventually("all joins to be in the log", joinedAll);
      const roommatesOf = (index: number) =>
        users.filter((_, other) => roomOf(other) === roomOf(index)).length;
      const isSeen = ({ client }: ReconnectWitness, index: number) =>
        client.users.online.size === roommatesOf(index);
      await eventually("all to see each other", () => witnesses.every(isSeen));
      const { cursor } = await readEvents(customer, null);
      for (const witness of witnesses) witness.changes = 0;

      const killedAt = performance.now();
      await service.kill();
      await service.start();
      const startedAt = performance.now();
      await eventually("all to be back", () => witnesses.every(({ backAt }) => backAt !== null), BACK_MS);

      report(witnesses, killedAt, startedAt);
      const { events } = await readEvents(customer, cursor);
      expect(events.filter(({ event }) => ATTENDANCE.test(event))).toEqual([]);
      expect(witnesses.filter(({ changes }) => changes > 0)).toHaveLength(0);
      await Promise.all(
        witnesses.slice(0, AT_ONCE).map(({ client }, at) => client.store("s").set(`${at}`, at)),
      );
    } finally {
      for (const { client } of witnesses) client.disconnect();
      await proxy.close();
    }
  },
  LIMIT_MS,
);

/** How long users were away. */
function report(witnesses: readonly ReconnectWitness[], killedAt: number, startedAt: number): void {
  const awayS = witnesses.map(({ backAt }) => ((backAt ?? killedAt) - killedAt) / 1000).sort((a, b) => a - b);
  const at = (share: number) => awayS[Math.ceil(share * awayS.length) - 1]?.toFixed(1);
  console.log(
    `The service was away for ${((startedAt - killedAt) / 1000).toFixed(1)} s; ${awayS.length} users were back ` +
      `after ${at(0.5)} s (median), ${at(0.95)} s (p95) and ${at(1)} s (all)`,
  );
}
