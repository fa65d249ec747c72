/** Producers append to one stream while the service is killed, and a reader follows them. */
import { expect } from "vitest";
import type { Random } from "../../support/random.ts";
import { Customer } from "../stories/client.ts";
import { type KilledWriter, killWhile } from "./kill-while.ts";
import type { KillableService } from "./killable-service.ts";

const PRODUCERS = 5;
/** The service is killed after up to this many more appends. */
const MAX_APPENDS = 60;

/** Asks again, at once, for as long as the service is away or has too much to do. */
async function insist(ask: () => Promise<Response>): Promise<Response> {
  const response = await ask().catch(() => null);
  return response === null || response.status === 429 || response.status >= 500 ? insist(ask) : response;
}

class Producer implements KilledWriter {
  appended = 0;
  readonly #append: (seq: number) => Promise<Response>;
  #isWriting = true;
  #writing: Promise<void> = Promise.resolve();

  constructor(append: (seq: number) => Promise<Response>) {
    this.#append = append;
  }

  start(stepped: () => void): void {
    this.#writing = this.#write(stepped);
  }

  async #write(stepped: () => void): Promise<void> {
    while (this.#isWriting) {
      stepped();
      const { status } = await insist(() => this.#append(this.appended));
      expect([200, 204]).toContain(status);
      this.appended += 1;
    }
  }

  stop(): Promise<void> {
    this.#isWriting = false;
    return this.#writing;
  }
}

/** Returns the number of appends that were acknowledged. Each is in the stream once, in the order of its producer. */
export async function killUnderStreams(
  service: KillableService,
  kills: number,
  random: Random,
): Promise<{ appends: number }> {
  const { id } = await new Customer(service, service.organization).createRoom();
  const { accountId, bearer } = service.organization;
  const address = () => `${service.url}/v1/accounts/${accountId}/rooms/${id}/streams/log`;
  const authorized = { Authorization: `Bearer ${bearer}` };
  const sent = { ...authorized, "Content-Type": "application/json" };
  await insist(() => fetch(address(), { method: "PUT", headers: sent }));
  const producers = Array.from(
    { length: PRODUCERS },
    (_, producer) =>
      new Producer((seq) =>
        fetch(address(), {
          method: "POST",
          headers: {
            ...sent,
            "Producer-Id": `p${producer}`,
            "Producer-Epoch": "0",
            "Producer-Seq": `${seq}`,
          },
          body: JSON.stringify([[producer, seq]]),
        }),
      ),
  );
  await killWhile(producers, service, { kills, maxSteps: MAX_APPENDS, random });

  const counted = producers.map(() => 0);
  for (let offset = "-1", isAll = false; !isAll; ) {
    const response = await insist(() => fetch(`${address()}?offset=${offset}`, { headers: authorized }));
    expect(response.status, offset).toBe(200);
    for (const [producer, seq] of (await response.json()) as [number, number][]) {
      expect(seq).toBe(counted[producer]);
      counted[producer] = seq + 1;
    }
    offset = response.headers.get("Stream-Next-Offset") ?? "";
    isAll = response.headers.has("Stream-Up-To-Date");
  }
  expect(counted).toEqual(producers.map(({ appended }) => appended));
  return { appends: counted.reduce((sum, count) => sum + count, 0) };
}
