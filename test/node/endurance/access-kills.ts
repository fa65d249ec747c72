/** A person leaves the group that opens many rooms while the service is killed. Another person keeps access to some of them. */
import { expect } from "vitest";
import type { Random } from "../../support/random.ts";
import { eventually } from "../cli/processes.ts";
import { Customer, RoomTab } from "../stories/client.ts";
import type { KillableService } from "./killable-service.ts";

const AT_ONCE = 50;
/** The other person is in each room of which the number is a multiple of this. */
const KEPT = 5;
const ATTEMPTS = 10;
const STORE = "notes";

/** The times of one removal, in milliseconds. */
export interface Removal {
  /** Whether the removal was answered before the kill. */
  readonly wasAnswered: boolean;
  /** Rooms that had not learned of the removal when the service was started again. */
  readonly pending: number;
  /** Time from the start until a room refused the person: in 99 of 100 rooms, and in all. */
  readonly refusedP99: number;
  readonly refused: number;
  /** Time from the start until all rooms learned of the removal. */
  readonly learned: number;
  /** Writes of the person after the answer; must be 0. */
  readonly late: number;
}

async function inGroups<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let at = 0; at < items.length; at += AT_ONCE)
    results.push(...(await Promise.all(items.slice(at, at + AT_ONCE).map(work))));
  return results;
}

const answersOf = ({ messages }: RoomTab) => messages.filter(({ type }) => type === "response");

class RemovedIdentity {
  readonly #customer: Customer;
  readonly token: string;
  readonly rooms: readonly string[];
  tabs: readonly RoomTab[] = [];

  constructor(customer: Customer, token: string, rooms: readonly string[]) {
    this.#customer = customer;
    this.token = token;
    this.rooms = rooms;
  }

  /** Joins as a client does: again, if the connection breaks before there is an answer. */
  join = async (roomId: string): Promise<RoomTab> => {
    for (let attempt = 1; ; attempt += 1) {
      const url = `${this.#customer.base.replace("http", "ws")}/rooms/${roomId}/socket`;
      const tab = await RoomTab.join(url, this.token);
      if (answersOf(tab).length > 0 || attempt === ATTEMPTS) return tab;
    }
  };

  async enter(): Promise<void> {
    this.tabs = await inGroups(this.rooms, this.join);
    expect(this.tabs.filter((tab) => answersOf(tab)[0]?.success !== true)).toHaveLength(0);
  }

  /** Writes an entry in each of its rooms over REST. Returns the status of each answer. */
  store(key: string): Promise<number[]> {
    const headers = { Authorization: `Bearer ${this.token}`, "Content-Type": "application/json" };
    const operations = [{ type: "STORE_SET", store: STORE, key, value: 1 }];
    const body = JSON.stringify({ requests: [{ requestId: key, operations }] });
    return inGroups(this.rooms, async (roomId) => {
      const url = `${this.#customer.base}/rooms/${roomId}/stores/batch`;
      return (await fetch(url, { method: "POST", headers, body })).status;
    });
  }

  /** Writes an entry in each of its rooms; the answers follow. */
  send(key: string): void {
    for (const tab of this.tabs) tab.send("STORE_SET", { store: STORE, key, value: 1 });
  }

  async write(key: string): Promise<void> {
    const before = this.tabs.map((tab) => answersOf(tab).length);
    this.send(key);
    const isAnswered = (tab: RoomTab, index: number) => answersOf(tab).length > (before[index] ?? 0);
    await eventually(`all answers to ${key}`, () => this.tabs.every(isAnswered));
    expect(this.tabs.filter((tab) => answersOf(tab).at(-1)?.success !== true)).toHaveLength(0);
  }
}

/** Takes the person out of the group, and kills the service once some rooms have learned of it or, after the answer, at once. */
export async function killUnderRemovals(
  service: KillableService,
  count: number,
  random: Random,
): Promise<readonly Removal[]> {
  const customer = new Customer(service, service.organization);
  const post = async <Data>(path: string, body: object): Promise<Data> =>
    (await customer.send<Data>("POST", path, body)).data;
  const suffix = crypto.randomUUID();
  const groupOf = async (name: string) =>
    (await post<{ group: { id: string } }>("/groups", { name, customId: `${name}-${suffix}` })).group.id;
  const [leaving, staying] = [await groupOf("leaving"), await groupOf("staying")];
  const rooms = await inGroups(Array.from({ length: count }), async () => {
    const { id } = await customer.createRoom();
    const groupsAccesses = { [leaving]: "editor", [staying]: "editor" };
    await customer.send("PUT", `/rooms/${id}/access`, { groupsAccesses });
    return id;
  });
  const identify = (name: string, group: string) =>
    post<{ identity: { id: string }; token: string }>("/identify", {
      ...{ customId: `${name}-${suffix}`, name, groups: [group], ttl: 86_400 },
    });
  const [{ identity, token }, other] = [await identify("Ada", leaving), await identify("Bo", staying)];
  const ada = new RemovedIdentity(customer, token, rooms);
  const bo = new RemovedIdentity(
    customer,
    other.token,
    rooms.filter((_, index) => index % KEPT === 0),
  );
  const membership = `/groups/${leaving}/members/${identity.id}`;
  const owed = async () =>
    (await service.query<{ count: number }>("SELECT count(*) AS count FROM outbox"))[0]?.count ?? 0;

  const removals: Removal[] = [];
  for (const isAnswered of [false, true]) {
    const name = isAnswered ? "after" : "before";
    await customer.send("PUT", membership, {});
    await Promise.all([ada.enter(), bo.enter()]);
    await ada.write(`early-${name}`);
    await bo.write(`bo-${name}`);

    let left = 1 + random(Math.ceil(bo.rooms.length / 4));
    const killed = Promise.withResolvers<void>();
    const hears = ({ data }: MessageEvent) => {
      if (isAnswered || !String(data).includes('"userLeft"')) return;
      left -= 1;
      // Kills at once: the other rooms learn of it meanwhile.
      if (left === 0) killed.resolve(service.kill());
    };
    for (const { socket } of bo.tabs) socket.addEventListener("message", hears);
    const removing = customer.send<{ pending_rooms: number }>("DELETE", membership).catch(() => null);
    if (isAnswered) {
      expect(await removing).toMatchObject({ status: 200 });
      ada.send("late");
      expect((await ada.store("late-over-rest")).filter((status) => status < 400)).toEqual([]);
      await bo.write(`bo-meanwhile-${name}`);
      killed.resolve(service.kill());
    }
    await killed.promise;
    await Promise.all(ada.tabs.map((tab) => tab.closed));
    const wasAnswered = (await removing) !== null;
    await service.start();

    const startedAt = performance.now();
    const pending = await owed();
    const sinceStart = () => performance.now() - startedAt;
    const refuse = async (roomId: string) => {
      const tab = await ada.join(roomId);
      const { code } = await tab.closed;
      expect([answersOf(tab)[0]?.success, code]).toEqual([false, 4403]);
      return sinceStart();
    };
    const telling = eventually("all rooms to learn of it", async () => {
      await service.runScheduled();
      return (await owed()) === 0;
    });
    const [refusals, learned] = await Promise.all([inGroups(rooms, refuse), telling.then(sinceStart)]);
    await bo.enter();
    await bo.write(`bo-again-${name}`);
    const sorted = refusals.toSorted((a, b) => a - b);
    const [refusedP99 = 0, refused = 0] = [sorted[Math.ceil(count * 0.99) - 1], sorted.at(-1)];
    removals.push({ wasAnswered, pending, refusedP99, refused, learned, late: isAnswered ? 2 * count : 0 });
    for (const tab of bo.tabs) tab.socket.close();
  }
  const keys = await inGroups(rooms, async (roomId) => {
    const path = `/rooms/${roomId}/stores/${STORE}`;
    return Object.keys((await customer.send<{ entries: object }>("GET", path)).data.entries);
  });
  expect(keys.flat().filter((key) => key.startsWith("late"))).toEqual([]);
  expect(
    keys.filter((ofRoom) => ["before", "after"].every((name) => ofRoom.includes(`early-${name}`))),
  ).toHaveLength(count);
  return removals;
}
