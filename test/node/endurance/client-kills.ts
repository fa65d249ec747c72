/** Users of the SDK write as fast as they are acknowledged, while the service is killed again and again. */

import { AtriumClient, type Written } from "atrium/client";
import { expect } from "vitest";
import type { Random } from "../../support/random.ts";
import { eventually } from "../cli/processes.ts";
import { EAGER } from "../sdk/clients.ts";
import { Mirror, sorted } from "../sdk/mirror.ts";
import { BreakableProxy } from "../sdk/proxy.ts";
import { Customer } from "../stories/client.ts";
import { type KilledWriter, killWhile } from "./kill-while.ts";
import type { KillableService } from "./killable-service.ts";

const STORE = "notes";
const WRITERS = 3;
/** The writes of one user that are unanswered at any time. */
const UNDER_WAY = 6;
/** The service is killed after up to this many more answers. */
const MAX_ANSWERS = 60;
const LIMIT_MS = 60_000;

/** A user whose application keeps a copy of the store. */
class StoreWriter implements KilledWriter {
  readonly client: AtriumClient;
  readonly mirror: Mirror;
  /** The versions of the entries that are written once, by key. */
  readonly versions = new Map<string, number | undefined>();
  readonly #random: Random;
  #count = 0;
  #isWriting = true;
  readonly #writing: Promise<void>[] = [];

  constructor(serverUrl: string, authToken: string, random: Random) {
    this.client = new AtriumClient({ serverUrl, authToken }, EAGER);
    this.mirror = new Mirror(this.client.store(STORE));
    this.#random = random;
  }

  /** Keeps some writes under way until {@link stop}; calls `answered` after each. */
  start(answered: () => void): void {
    for (let lane = 0; lane < UNDER_WAY; lane += 1) this.#writing.push(this.#write(answered));
  }

  async #write(answered: () => void): Promise<void> {
    while (this.#isWriting) {
      await (this.#random(2) === 0 ? this.#writeOnce() : this.#race());
      expect(this.mirror.isTrue).toBe(true);
      answered();
    }
  }

  /** Writes an entry of its own. Writing it twice would give it another version. */
  async #writeOnce(): Promise<void> {
    this.#count += 1;
    const key = `${this.client.userId} ${this.#count}`;
    const { version } = await this.mirror.set(key, this.#count);
    this.versions.set(key, version);
  }

  /** Writes an entry that the others write too. */
  #race(): Promise<Written> {
    this.#count += 1;
    const [key, value] = [`${this.#random(4)}`, { [`by ${this.client.userId}`]: this.#count }];
    if (this.#random(4) === 0) return this.mirror.delete(key);
    return this.#random(2) === 0 ? this.mirror.set(key, value) : this.mirror.update(key, value);
  }

  async stop(): Promise<void> {
    this.#isWriting = false;
    await Promise.all(this.#writing);
    await this.client.flush({ timeoutMs: LIMIT_MS });
  }
}

/** Kills the service that often. In the end, each acknowledged write is there once, and all copies agree. */
export async function killUnderClients(
  service: KillableService,
  kills: number,
  random: Random,
): Promise<{ readonly acknowledged: number }> {
  const customer = new Customer(service, service.organization);
  const { id: roomId } = await customer.createRoom();
  const proxy = await BreakableProxy.before(service);
  const writers: StoreWriter[] = [];
  try {
    for (let user = 0; user < WRITERS; user += 1) {
      const { token } = await customer.createUser(roomId, `Writer ${user}`);
      const writer = new StoreWriter(proxy.url, token, random);
      writers.push(writer);
      await writer.client.join();
      await writer.mirror.store.sync();
    }
    await killWhile(writers, service, { kills, maxSteps: MAX_ANSWERS, random });
    return { acknowledged: await expectAgreement(writers, customer, roomId) };
  } finally {
    for (const { client } of writers) client.disconnect();
    await proxy.close();
  }
}

/** Returns how many writes were acknowledged of those that were made once. */
async function expectAgreement(
  writers: readonly StoreWriter[],
  customer: Customer,
  roomId: string,
): Promise<number> {
  type Entries = Record<string, { readonly value: unknown; readonly version: number }>;
  const path = `/rooms/${roomId}/stores/${STORE}?limit=10000`;
  const { data } = await customer.send<{ entries: Entries }>("GET", path);
  const stored = JSON.stringify(
    sorted(Object.fromEntries(Object.entries(data.entries).map(([key, { value }]) => [key, value]))),
  );
  const acknowledged = writers.flatMap(({ versions }) => [...versions]);
  for (const [key, version] of acknowledged)
    expect([key, data.entries[key]?.version]).toEqual([key, version]);
  for (const { mirror } of writers) {
    await eventually("all to agree", () => JSON.stringify(sorted(mirror.store.getAll())) === stored);
    expect(mirror.isTrue).toBe(true);
  }
  return acknowledged.length;
}
