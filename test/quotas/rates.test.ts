/** The quota of requests in a second: several isolates count, one object per organization sums up and divides the limit. */
import {
  createExecutionContext,
  runDurableObjectAlarm,
  runInDurableObject,
  waitOnExecutionContext,
} from "cloudflare:test";
import { env } from "cloudflare:workers";
import { AppError } from "@atrium/contract/errors.ts";
import type { Quota } from "@atrium/contract/rest/quotas.ts";
import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { app } from "../../src/app.ts";
import {
  OrganizationRate,
  type RequestRates,
  WINDOW_MS,
} from "../../src/features/quotas/organization-rate.ts";
import { openRequestRates, RequestCounters } from "../../src/features/quotas/request-counters.ts";
import { RequestRateObject } from "../../src/features/quotas/request-rate-object.ts";
import { type Account, account } from "../support/api.ts";
import { costOf } from "../support/counting.ts";
import { expectLogged } from "../support/log-guard.ts";
import { setLimit } from "../support/quotas.ts";

const START = Date.UTC(2100, 0, 1);
const MINUTE_MS = 60_000;

const QUOTA = "requests_per_second";

const rateOf = async ({ api }: Account): Promise<Quota | undefined> =>
  (await api.get<{ quotas: Quota[] }>("/quotas")).data.quotas.find(({ name }) => name === QUOTA);

/** What an organization sends in the whole world, with a clock and windows that only the test moves. */
class RequestRateFixture {
  readonly owner: Account;
  now = START;

  private constructor(owner: Account) {
    this.owner = owner;
  }

  static async create(limit: number): Promise<RequestRateFixture> {
    const fixture = new RequestRateFixture(await account());
    await setLimit(fixture.owner, QUOTA, limit);
    await fixture.inside(() => undefined);
    return fixture;
  }

  get stub(): DurableObjectStub<RequestRateObject> {
    return env.REQUEST_RATES.getByName(this.owner.id);
  }

  inside<T>(work: (object: RequestRateObject, state: DurableObjectState) => T | Promise<T>): Promise<T> {
    return runInDurableObject(this.stub, (object: RequestRateObject, state) => {
      object.clock = () => this.now;
      return work(object, state);
    });
  }

  isolate(rates: RequestRates = openRequestRates(env)): Isolate {
    return new Isolate(this, rates);
  }

  /** All send for a window; returns how many requests of each were let through. */
  async window(...sent: readonly (readonly [Isolate, number])[]): Promise<number[]> {
    const admitted = sent.map(([isolate, times]) => isolate.send(times));
    this.now += WINDOW_MS;
    for (const [isolate] of sent) await isolate.endWindow();
    return admitted;
  }
}

class Isolate {
  readonly counters: RequestCounters;
  readonly #fixture: RequestRateFixture;
  #ends: (() => void)[] = [];
  #reports: Promise<unknown>[] = [];
  refusal: unknown = null;

  constructor(fixture: RequestRateFixture, rates: RequestRates) {
    this.#fixture = fixture;
    this.counters = new RequestCounters({
      rates,
      now: () => fixture.now,
      wait: () => new Promise<void>((resolve) => this.#ends.push(resolve)),
    });
  }

  /** Sends requests; returns how many were let through. */
  send(times: number, isOfUser = false): number {
    let admitted = 0;
    for (let time = 0; time < times; time += 1) {
      try {
        this.counters.count(this.#fixture.owner.id, isOfUser, (work) => this.#reports.push(work));
        admitted += 1;
      } catch (error) {
        this.refusal = error;
      }
    }
    return admitted;
  }

  /** Rejects when a report fails. */
  async endWindow(): Promise<void> {
    for (const end of this.#ends.splice(0)) end();
    await Promise.all(this.#reports.splice(0));
  }
}

describe("a limit", () => {
  const wishes = fc.array(fc.double({ min: 0, max: 5_000, noNaN: true }), { minLength: 1, maxLength: 30 });
  const limits = fc.double({ min: 0, max: 5_000, noNaN: true });
  const fairShare = (limit: number, wanted: readonly number[]): number => {
    const rates = new OrganizationRate();
    for (const [index, wish] of wanted.entries())
      rates.add({ counter: `${index}`, admitted: 0, refused: (wish * WINDOW_MS) / 1000 }, START);
    return rates.shareOf("this one", limit, START).perSecond;
  };
  const without = (all: readonly number[], index: number) => all.filter((_, other) => other !== index);

  it("is used up by those who want more than it, and by no one beyond it", () => {
    fc.assert(
      fc.property(limits, wishes, (limit, wanted) => {
        const taken = wanted.map((wish, index) => Math.min(wish, fairShare(limit, without(wanted, index))));
        const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
        expect(sum(taken)).toBeCloseTo(Math.min(limit, sum(wanted)), 5);
      }),
    );
  });

  it("leaves each an equal part, however much the others want, and one that is alone everything", () => {
    fc.assert(
      fc.property(limits, wishes, (limit, others) => {
        expect(fairShare(limit, others)).toBeGreaterThanOrEqual(limit / (others.length + 1) - 1e-9);
        expect(fairShare(limit, [])).toBe(limit);
      }),
    );
  });
});

it("a counter that reports no more counts nothing after two windows", () => {
  const rates = new OrganizationRate();
  rates.add({ counter: "a", admitted: 50, refused: 10 }, START);
  expect([rates.total("admitted", START), rates.total("wanted", START)]).toEqual([10, 12]);
  expect(rates.shareOf("b", 20, START)).toEqual({ perSecond: 10, others: 10, limit: 20 });
  expect(rates.total("wanted", START + 2 * WINDOW_MS)).toBe(0);
});

describe("the requests of several isolates", () => {
  it("are bounded together from the second report on, and one that sends little is not refused", async () => {
    const fixture = await RequestRateFixture.create(60);
    const [loud, louder, quiet] = [fixture.isolate(), fixture.isolate(), fixture.isolate()];
    const send = (loudly: number) => fixture.window([loud, loudly], [louder, loudly], [quiet, 10]);
    expect(await send(200)).toEqual([200, 200, 10]); // nothing is known yet
    await send(400);
    expect(await send(400)).toEqual([145, 145, 10]);
    await send(400);
    expect(await rateOf(fixture.owner)).toEqual({ name: "requests_per_second", used: 60, limit: 60 });
    loud.send(400);
    expect(loud.refusal).toBeInstanceOf(AppError);
    expect(loud.refusal).toMatchObject({ code: "RATE_LIMITED", retryAfterSeconds: WINDOW_MS / 1000 });
    expect(String(loud.refusal)).toContain(
      "The quota requests_per_second is exceeded: 60 of 60 are used; wait and retry, or ask",
    );
  });

  it("may take what others leave", async () => {
    const fixture = await RequestRateFixture.create(60);
    const [here, there] = [fixture.isolate(), fixture.isolate()];
    await fixture.window([here, 50], [there, 50]);
    await fixture.window([here, 50], [there, 50]);
    expect(await fixture.window([here, 500], [there, 50])).toEqual([250, 50]);
    expect(await fixture.window([here, 500])).toEqual([250]);
    await fixture.window([here, 500]);
    expect(await fixture.window([here, 500])).toEqual([300]);
  });

  it("follow a limit that the operator changes", async () => {
    const fixture = await RequestRateFixture.create(10);
    const isolate = fixture.isolate();
    await fixture.window([isolate, 100]);
    expect(await fixture.window([isolate, 100])).toEqual([50]);
    await setLimit(fixture.owner, QUOTA, 0);
    fixture.now += MINUTE_MS / 4;
    await fixture.window([isolate, 100]);
    expect(await fixture.window([isolate, 100])).toEqual([0]);
    await setLimit(fixture.owner, QUOTA, null);
    fixture.now += MINUTE_MS / 4;
    await fixture.window([isolate, 100]);
    expect(await fixture.window([isolate, 100])).toEqual([100]);
  });

  it("by users leave the back end what it needs", async () => {
    const fixture = await RequestRateFixture.create(100);
    const isolate = fixture.isolate();
    for (const _ of [1, 2]) {
      isolate.send(5_000, true);
      await fixture.window([isolate, 50]);
    }
    expect(isolate.send(5_000, true)).toBe(450);
    expect(await fixture.window([isolate, 50])).toEqual([50]);
  });

  it("are shown until they end, and leave nothing in storage", async () => {
    const fixture = await RequestRateFixture.create(100);
    await fixture.window([fixture.isolate(), 200]);
    expect(await rateOf(fixture.owner)).toMatchObject({ used: 40 });
    fixture.now += MINUTE_MS / 4;
    expect(await runDurableObjectAlarm(fixture.stub)).toBe(true);
    expect(await rateOf(fixture.owner)).toMatchObject({ used: 0 });
    expect(await fixture.inside((_, { storage }) => storage.list())).toEqual(new Map());
    expect(await runDurableObjectAlarm(fixture.stub)).toBe(false);
  });

  it("fall although the object is cut off while it writes their rate", async () => {
    const fixture = await RequestRateFixture.create(100);
    const alarmAt = await fixture.inside(async (_, state) => {
      const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<never>()];
      const batch = () => {
        asked.resolve();
        return answer.promise;
      };
      const DB = { prepare: (sql: string) => env.DB.prepare(sql), batch } as unknown as D1Database;
      const object = new RequestRateObject(state, { ...env, DB });
      object.clock = () => fixture.now;
      const reporting = object.report(fixture.owner.id, { counter: "a", admitted: 200, refused: 0 });
      await asked.promise;
      const at = await state.storage.getAlarm();
      answer.reject(new Error("The database was cut off"));
      await reporting;
      return at;
    });
    expect(alarmAt).toBe(START + MINUTE_MS / 4);
    expectLogged("The database was cut off");
  });

  it("are bounded by the earlier limit, and no failure is logged, while the organization is moved or restored", async () => {
    const fixture = await RequestRateFixture.create(100);
    const isolate = fixture.isolate();
    const fence = "INSERT INTO fences (account_id, fencing_token) VALUES (?, 1)";
    await env.DB.prepare(fence).bind(fixture.owner.id).run();
    await fixture.window([isolate, 200]);
    expect(await rateOf(fixture.owner)).toMatchObject({ used: 0 });
    await env.DB.prepare("DELETE FROM fences WHERE account_id = ?").bind(fixture.owner.id).run();
    expect(await runDurableObjectAlarm(fixture.stub)).toBe(true);
    expect(await rateOf(fixture.owner)).toMatchObject({ used: 40 });
  });

  it("cost the database nothing while they are few", async () => {
    const fixture = await RequestRateFixture.create(100);
    await fixture.window([fixture.isolate(), 2]);
    expect(await runDurableObjectAlarm(fixture.stub)).toBe(false);
  });
});

describe("while the object is away", () => {
  const away: RequestRates = { report: () => Promise.reject(new Error("The object is away")) };

  it("nothing is refused of an organization of which nothing is known", async () => {
    const fixture = await RequestRateFixture.create(1);
    const isolate = fixture.isolate(away);
    expect(isolate.send(100)).toBe(100);
    await expect(isolate.endWindow()).rejects.toThrow("away");
    expect(isolate.send(100)).toBe(100);
  });

  it("the last share holds for a minute", async () => {
    const fixture = await RequestRateFixture.create(10);
    let rates = openRequestRates(env);
    const isolate = fixture.isolate({ report: (...args) => rates.report(...args) });
    await fixture.window([isolate, 100]);
    rates = away;
    await expect(fixture.window([isolate, 100])).rejects.toThrow("away");
    expect(isolate.send(100)).toBe(50);
    fixture.now += MINUTE_MS;
    expect(isolate.send(100)).toBe(100);
  });

  it("a window whose end was cut off is begun anew", async () => {
    const fixture = await RequestRateFixture.create(10);
    const isolate = fixture.isolate();
    await fixture.window([isolate, 100]);
    expect([isolate.send(60), isolate.send(1)]).toEqual([50, 0]);
    fixture.now += 2 * WINDOW_MS;
    expect(isolate.send(60)).toBe(50);
  });
});

describe("a request to the API", () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it("is counted, and refused above the limit from the second window on", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    const owner = await account();
    await setLimit(owner, QUOTA, 1);
    const bindings = { ...env, REQUEST_QUOTA: "on" };
    const execution = createExecutionContext();
    const send = () => app.fetch(owner.api.request("GET", "/rooms"), bindings, execution);
    const statusesOf = async (count: number) => {
      const responses = await Promise.all(Array.from({ length: count }, send));
      return responses.map(({ status }) => status).toSorted();
    };
    expect(await statusesOf(6)).toEqual([200, 200, 200, 200, 200, 200]);
    await vi.advanceTimersByTimeAsync(WINDOW_MS);
    await waitOnExecutionContext(execution);
    expect(await statusesOf(6)).toEqual([200, 200, 200, 200, 200, 429]);
    const refused = await send();
    expect(refused.headers.get("Retry-After")).toMatch(/^[1-5]$/);
    expect(await refused.json()).toMatchObject({
      error: { code: "RATE_LIMITED", message: expect.stringMatching(/^The quota requests_per_second/) },
    });
    await vi.advanceTimersByTimeAsync(WINDOW_MS);
    await waitOnExecutionContext(execution);
  });

  it("costs no more trips than one that is not counted", async () => {
    const owner = await account();
    const cost = (REQUEST_QUOTA: string) =>
      costOf(owner, "GET", "/rooms?limit=50", undefined, { REQUEST_QUOTA });
    await cost("off"); // the key is not known yet
    const uncounted = await cost("off");
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    const counted = cost("on");
    await vi.advanceTimersByTimeAsync(WINDOW_MS);
    vi.useRealTimers();
    expect(await counted).toEqual(uncounted);
  });

  it("waits for no object: while it is away, only the log says so", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    const owner = await account();
    const absent = {
      getByName: () => ({ report: () => Promise.reject(new Error("The object is away")) }),
    } as unknown as typeof env.REQUEST_RATES;
    const bindings = { ...env, REQUEST_QUOTA: "on", REQUEST_RATES: absent };
    const execution = createExecutionContext();
    const response = await app.fetch(owner.api.request("GET", "/rooms"), bindings, execution);
    expect(response.status).toBe(200);
    await vi.advanceTimersByTimeAsync(WINDOW_MS);
    await waitOnExecutionContext(execution);
    expectLogged("The object is away");
  });
});
