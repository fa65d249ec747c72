/** Clients converge, and so do the copies that applications keep, whatever breaks. */

import { type AtriumClient, AtriumError, type Written } from "atrium/client";
import fc from "fast-check";
import { expect, inject, it } from "vitest";
import { type Random, randomOf } from "../../support/random.ts";
import { eventually } from "../cli/processes.ts";
import { type SharedService, sharedService } from "../cli/shared-service.ts";
import { clientOf, join, type Meeting, meet } from "./clients.ts";
import { Mirror, sorted } from "./mirror.ts";
import { ModelClient, settle } from "./model/model-client.ts";
import { ModelRoom } from "./model/model-room.ts";
import { run, scenario } from "./model/scenario.ts";
import { BreakableProxy } from "./proxy.ts";

const STEPS = 150;
/** The service replays up to 1 MiB of missed changes. */
const BALLAST = { entries: 18, bytes: 62_000 };

/** Conflicts, and the end of a tab. */
const EXPECTED: readonly string[] = ["CONFLICT", "DISCONNECTED"];
function expectRefusal(error: unknown): void {
  if (!(error instanceof AtriumError && EXPECTED.includes(error.code))) throw error;
}

interface StorePage {
  readonly entries: Readonly<Record<string, { readonly value: unknown }>>;
  readonly next?: string;
}

/** One user's writes, their outcome, and a copy of their visible state. */
class ProxiedWriter {
  readonly #token: string;
  readonly proxy: BreakableProxy;
  client: AtriumClient;
  mirror: Mirror;
  /** IDs of acknowledged requests, by the version of their change, or by their comment. */
  readonly written = new Map<number | string, string>();
  readonly outcomes: Promise<unknown>[] = [];
  #count = 0;

  constructor(token: string, proxy: BreakableProxy) {
    this.#token = token;
    this.proxy = proxy;
    this.client = clientOf({ token }, { serverUrl: proxy.url });
    this.mirror = new Mirror(this.client.store("notes"));
  }

  async open(): Promise<void> {
    await this.client.join();
    await this.mirror.store.sync();
  }

  /** Closes the tab, which loses unacknowledged writes, and opens another one. */
  reopen(): void {
    expect(this.mirror.isTrue).toBe(true);
    this.client.disconnect();
    this.client = clientOf({ token: this.#token }, { serverUrl: this.proxy.url });
    this.mirror = new Mirror(this.client.store("notes"));
    this.outcomes.push(this.open().catch(expectRefusal));
  }

  #newId(): string {
    this.#count += 1;
    return `${this.client.userId} ${this.#count}`;
  }

  /** Keeps the ids under the versions that they got: a write that another one superseded has that one's version. */
  async #keep(ids: readonly string[], write: Promise<readonly Written[]>): Promise<void> {
    try {
      for (const [index, { version }] of (await write).entries())
        if (version !== undefined) this.written.set(version, ids[index] ?? "");
    } catch (error) {
      expectRefusal(error);
    }
  }

  async #comment(text: string): Promise<Written[]> {
    await this.client.comments.create({ text });
    this.written.set(text, text);
    return [];
  }

  act(random: Random): void {
    const [key, other] = [`${random(4)}`, `${random(4)}`];
    const [id, otherId] = [this.#newId(), this.#newId()];
    const ifVersion = random(5) === 0 ? { ifVersion: this.mirror.store.getVersion(key) } : {};
    const one = async (write: Promise<Written>) => [await write];
    const write = [
      () => one(this.mirror.set(key, { id }, ifVersion)),
      () => one(this.mirror.update(key, { id, [`by ${random(3)}`]: true }, ifVersion)),
      () => one(this.mirror.delete(key)),
      () =>
        this.mirror.setAll([
          [key, { id }],
          [other, { id: otherId }],
        ]),
      () => this.#comment(id),
    ][random(5)];
    if (write !== undefined) this.outcomes.push(this.#keep([id, otherId], write()));
  }

  disturb(random: Random): void {
    const disturbance = [
      () => this.proxy.cut(),
      () => this.proxy.cutAfter("up", random(2_000)),
      () => this.proxy.cutAfter("down", random(2_000)),
      () => this.proxy.stall("down"),
      () => {
        this.proxy.delayMs = random(20);
      },
      () => this.reopen(),
    ][random(6)];
    disturbance?.();
  }

  /** Misses more changes of a store than the service replays. */
  async missTooMuch({ customer, roomId }: Meeting, store: string): Promise<void> {
    this.proxy.shut();
    const value = "a".repeat(BALLAST.bytes);
    for (let key = 0; key < BALLAST.entries; key += 1)
      await customer.send("PUT", `/rooms/${roomId}/stores/${store}/ballast ${key}`, { value });
    this.proxy.open();
  }
}

/** The notes as the service has them, page by page. */
async function storedNotes({ customer, roomId }: Meeting): Promise<Record<string, unknown>> {
  const values: Record<string, unknown> = {};
  for (let query: string | null = ""; query !== null; ) {
    const path: string = `/rooms/${roomId}/stores/notes${query}`;
    const { data } = await customer.send<StorePage>("GET", path);
    for (const [key, { value }] of Object.entries(data.entries)) values[key] = value;
    query = data.next === undefined ? null : `?after=${encodeURIComponent(data.next)}`;
  }
  return values;
}

/** Runs a scenario. In the end all clients and their copies agree, and contain each acknowledged write once. */
async function converge(service: SharedService, seed: number): Promise<void> {
  const random = randomOf(seed);
  const meeting = await meet(service);
  const observer = await join(meeting, "Cleo");
  const observed = new Mirror(observer.store("notes"));
  const seen: string[] = [];
  observer.store("notes").on("changed", ({ action, value }) => {
    if (action !== "delete" && typeof value !== "string") seen.push(Object(value).id);
  });
  observer.comments.on("created", ({ text }) => seen.push(text));
  await observer.store("notes").sync();

  const writers: ProxiedWriter[] = [];
  for (const name of ["Ada", "Bo", "Dan"]) {
    const { token } = await meeting.customer.createUser(meeting.roomId, name);
    const writer = new ProxiedWriter(token, await BreakableProxy.before(service));
    await writer.open();
    writers.push(writer);
  }
  for (let step = 0; step < STEPS; step += 1) {
    const writer = writers[random(writers.length)];
    writer?.act(random);
    if (random(8) === 0) writer?.disturb(random);
    // The store of the notes is large from then on, and downloaded, or stays small.
    if (step === STEPS / 2) await writer?.missTooMuch(meeting, seed % 2 === 0 ? "notes" : "ballast");
    // Wait for a response now and then, so that some are in flight at the next cut.
    if (random(3) === 0) await observer.comments.list({ limit: 1 });
    expect(writers.every(({ mirror }) => mirror.isTrue)).toBe(true);
  }
  for (const { proxy } of writers) {
    proxy.delayMs = 0;
    proxy.cut(); // a stalled connection would stay stalled until the next ping
  }
  await Promise.all(writers.flatMap(({ outcomes }) => outcomes));
  expect(writers.some(({ proxy }) => proxy.accepted > 2)).toBe(true);

  const written = writers.flatMap((writer) => [...writer.written.values()]);
  await eventually("all writes to be seen", () => written.every((id) => seen.includes(id)));
  expect(seen).toHaveLength(new Set(seen).size);
  const stored = JSON.stringify(sorted(await storedNotes(meeting)));
  for (const mirror of [observed, ...writers.map((writer) => writer.mirror)]) {
    await eventually("all to agree", () => JSON.stringify(sorted(mirror.store.getAll())) === stored);
    expect(mirror.isTrue).toBe(true);
  }
  for (const { client, proxy } of writers) {
    client.disconnect();
    await proxy.close();
  }
}

const { seed, clients, simulations } = inject("endurance");

const service = await sharedService();

it.each(Array.from({ length: clients }, (_, run) => seed + run))(
  "users who write over networks that break converge on one state that contains each acknowledged write once (seed %i)",
  (each) => converge(service, each),
);

// A copy of a store that is kept by one's own calls and by `changed` equals the store, whatever happens.

it("a copy equals its store in any order of writes, races, refusals, cuts, losses, reloads, downloads and backups (R78, R79)", async () => {
  await fc.assert(fc.asyncProperty(scenario, run), { seed, numRuns: simulations });
}, 900_000);

it("a store whose download ends with the connection, at any moment, says so (R77)", async () => {
  const outcomes = new Set<unknown>();
  for (let steps = 1; !outcomes.has("loaded"); steps += 1) {
    const room = new ModelRoom();
    for (const key of ["a", "b", "c", "d", "e"]) room.write("notes", key, "value");
    const client = new ModelClient(room, "ada");
    void client.client.join().catch(() => {}); // some tabs are closed before it has succeeded
    const outcome = client.store.sync().then(
      () => "loaded",
      (error: unknown) => (error instanceof AtriumError ? error.code : error),
    );
    for (let step = 0; step < steps; step += 1) {
      if (!client.socket?.deliverUp()) client.deliverDown();
      await settle();
    }
    client.client.disconnect();
    outcomes.add(await outcome);
  }
  expect([...outcomes]).toEqual(["DISCONNECTED", "loaded"]);
});

it("what changes while a store is downloaded is not taken back by what was read before (R78)", async () => {
  const room = new ModelRoom();
  for (const key of ["a", "b", "c"]) room.write("notes", key, "old");
  const client = new ModelClient(room, "ada");
  void client.client.join();
  client.sync();
  const exchange = async () => {
    while (client.socket?.deliverUp() || client.socket?.deliverDown());
    await settle();
  };
  // Waits until the part is on its way: it was read when the client asked for it.
  for (let round = 0; round < 5; round += 1) await exchange();
  room.write("notes", "a", "new");
  room.write("notes", "b", "new");
  await exchange();
  await client.deliverAll();
  expect(["a", "b", "c"].map((key) => client.store.get(key))).toEqual(["new", "new", "old"]);
});
