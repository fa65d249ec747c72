/** Guessing passwords and invitations: the pauses that it costs, and whom it does not hold up. */
import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { GuessLimitObject, PauseRule } from "../../src/features/people/guess-limit-object.ts";
import { hashPassword } from "../../src/features/people/password.ts";
import { type SignInLimits, signInLimits } from "../../src/features/people/sign-in-limits.ts";
import { sha256 } from "../../src/platform/crypto/encoding.ts";
import { networkOf } from "../../src/platform/network.ts";
import { freshAddress } from "../support/api.ts";
import { DashboardBrowser, freshEmail, invite, PASSWORD, signUp, tokenIn } from "../support/person.ts";

const SECOND_MS = 1000;
const unlimited: RateLimit = { limit: async () => ({ success: true }) };

beforeAll(() => void vi.useFakeTimers({ toFake: ["Date"] }));
afterAll(() => void vi.useRealTimers());

const RULE: PauseRule = { free: 3, firstMs: 2_000, maxMs: 10_000, forgetMs: 60_000 };

/** Guesses at these times: the pause of each, in milliseconds. */
const pausesAt = (times: readonly number[]): Promise<number[]> =>
  runInDurableObject(env.GUESS_LIMITS.getByName(crypto.randomUUID()), (object: GuessLimitObject) =>
    times.map((now) => {
      object.clock = () => now;
      return object.guess("here", RULE);
    }),
  );

describe("the pause before a guess", () => {
  it.each([
    ["is none for the first ones, and doubles from then on", [0, 0, 0, 0], [0, 0, 0, 2_000]],
    [
      "doubles up to a bound",
      [0, 0, 0, 2_000, 2_000, 6_000, 6_000, 14_000, 14_000, 24_000, 24_000],
      [0, 0, 0, 0, 4_000, 0, 8_000, 0, 10_000, 0, 10_000],
    ],
    [
      "does not grow by guesses that were refused",
      [0, 0, 0, 0, 500, 1_000, 1_999, 2_000],
      [0, 0, 0, 2_000, 1_500, 1_000, 1, 0],
    ],
    ["shrinks while no one guesses", [0, 0, 0, 60_000, 60_000], [0, 0, 0, 0, 2_000]],
    [
      "is none when all guesses are forgotten",
      [0, 0, 0, 180_000, 180_000, 180_000, 180_000],
      [0, 0, 0, 0, 0, 0, 2_000],
    ],
    ["holds when the clock of another machine is behind", [10_000, 9_000, 9_500, 9_000], [0, 0, 0, 2_500]],
  ])("%s", async (_, times, pauses) => {
    const start = Date.UTC(2100, 0);
    expect(await pausesAt(times.map((ms) => start + ms))).toEqual(pauses);
  });
});

describe("an object that counts guesses", () => {
  it("refuses simultaneous guesses beyond the free ones, forgets by its alarm, and leaves nothing behind", async () => {
    const stub = env.GUESS_LIMITS.getByName(crypto.randomUUID());
    await runInDurableObject(stub, async (object: GuessLimitObject, state) => {
      let now = Date.now();
      object.clock = () => now;
      const waits = Array.from({ length: 6 }, () => object.guess("here", RULE));
      expect(waits).toEqual([0, 0, 0, 2_000, 2_000, 2_000]);
      expect(object.guess("elsewhere", RULE)).toBe(0);
      object.forgive("here");
      expect(object.guess("here", RULE)).toBe(0);
      expect(object.guess("here", RULE)).toBe(2_000);
      const stored = await hashPassword(PASSWORD);
      const another = { key: "another", rule: RULE, client: crypto.randomUUID(), isKnown: false };
      for (const [password, isRight] of [
        ["wrong", false],
        [PASSWORD, true],
      ] as const)
        expect(await object.verifyPassword(another, password, stored)).toEqual({ waitMs: 0, isRight });
      const kept = JSON.stringify(state.storage.sql.exec("SELECT * FROM guesses").toArray());
      for (const secret of ["wrong", PASSWORD, stored]) expect(kept).not.toContain(secret);
      expect([...Array(4)].map(() => object.guess("another", RULE))).toEqual([0, 0, 0, 2_000]);
      now += 3 * RULE.forgetMs;
      await object.alarm();
      expect(await state.storage.getAlarm()).toBeNull();
      expect(state.storage.sql.exec("SELECT name FROM sqlite_master").toArray()).toEqual([]);
      expect(object.guess("here", RULE)).toBe(0);
      expect(await state.storage.getAlarm()).toBe(now + RULE.forgetMs);
    });
    expect(await runDurableObjectAlarm(stub)).toBe(true);
  });

  it("keeps what is not forgotten, and wakes for it", async () => {
    const stub = env.GUESS_LIMITS.getByName(crypto.randomUUID());
    await runInDurableObject(stub, async (object: GuessLimitObject, state) => {
      let now = Date.now();
      object.clock = () => now;
      object.guess("first", RULE);
      now += 30_000;
      object.guess("second", RULE);
      now += 30_000;
      await object.alarm();
      expect(state.storage.sql.exec("SELECT key FROM guesses").toArray()).toEqual([{ key: "second" }]);
      expect(await state.storage.getAlarm()).toBe(now + 30_000);
    });
  });
});

const setClock = (name: string, at: number) =>
  runInDurableObject(env.GUESS_LIMITS.getByName(name), (object: GuessLimitObject) => {
    object.clock = () => at;
  });

const guessesIn = (name: string) =>
  runInDurableObject(env.GUESS_LIMITS.getByName(name), (_, { storage }) => {
    const hasTable = storage.sql.exec("SELECT name FROM sqlite_master WHERE name = 'guesses'").toArray();
    return hasTable.length === 0
      ? []
      : storage.sql.exec<{ key: string; count: number }>("SELECT key, count FROM guesses").toArray();
  });

const personObject = async (email: string) => `person:${await sha256(new TextEncoder().encode(email))}`;
const limitsAt = (address: string) => signInLimits(env, networkOf(address));
const refusal = { module: "Server", code: "RATE_LIMITED" };

/** A person whose object's clock stands still. */
async function stillPerson(): Promise<{ email: string; object: string; now: number }> {
  const [email, now] = [freshEmail(), Date.now()];
  const object = await personObject(email);
  await setClock(object, now);
  return { email, object, now };
}

/** A wrong guess a second after the one before, or all together would be too many. A malformed hash takes no work. */
async function guessOnce(limits: SignInLimits, email: string, knownBrowser: string | null = null) {
  vi.setSystemTime(Date.now() + SECOND_MS);
  return (await limits.countPassword(email, knownBrowser)).verify("a wrong password", "");
}

/** Outcomes of simultaneous guesses. */
async function guess(email: string, address: string, count: number): Promise<string[]> {
  const limits = limitsAt(address);
  const guesses = Array.from({ length: count }, () => guessOnce(limits, email));
  return (await Promise.allSettled(guesses)).map(({ status }) => status).toSorted();
}

describe("guessing a person's password", () => {
  it("is refused after five guesses from a network, even when they are made at once", async () => {
    const { email, object, now } = await stillPerson();
    const address = freshAddress();
    const statuses = await guess(email, address, 8);
    expect(statuses.filter((status) => status === "fulfilled")).toHaveLength(5);
    await expect(guessOnce(limitsAt(address), email)).rejects.toMatchObject({
      ...refusal,
      message: "Too many attempts; wait 2 seconds and try again",
      retryAfterSeconds: 2,
    });
    await setClock(object, now + 2 * SECOND_MS);
    expect(await guess(email, address, 2)).toEqual(["fulfilled", "rejected"]);
    await expect(guessOnce(limitsAt(address), email)).rejects.toMatchObject({
      retryAfterSeconds: 4,
    });
  });

  it("holds up neither the person's browser nor the person on another network", async () => {
    const { email } = await stillPerson();
    const address = freshAddress();
    await guess(email, address, 6);
    await guessOnce(limitsAt(address), email, crypto.randomUUID());
    await guessOnce(limitsAt(freshAddress()), email);
  });

  it("is limited in a known browser, too", async () => {
    const browser = crypto.randomUUID();
    await setClock(`browser:${browser}`, Date.now());
    const limits = limitsAt(freshAddress());
    for (let tries = 0; tries < 5; tries += 1) await guessOnce(limits, freshEmail(), browser);
    await expect(guessOnce(limits, freshEmail(), browser)).rejects.toMatchObject(refusal);
  });

  it("counts all addresses of an IPv6 network, and both spellings of an IPv4 one, together", async () => {
    const [v4, v6] = [await stillPerson(), await stillPerson()];
    for (const address of ["2001:db8:9:9::1", "2001:db8:9:9:ffff::2", "2001:DB8:9:9::3"]) {
      await guess(v6.email, address, 2);
    }
    expect(await guess(v6.email, "2001:db8:9:9::4", 1)).toEqual(["rejected"]);
    expect(await guess(v6.email, "2001:db8:9:a::4", 1)).toEqual(["fulfilled"]);
    const address = freshAddress();
    await guess(v4.email, address, 5);
    expect(await guess(v4.email, `::ffff:${address}`, 1)).toEqual(["rejected"]);
  });

  it("counts a wrong password, and no right one", async () => {
    const { browser, email } = await signUp();
    const stranger = new DashboardBrowser();
    const object = await personObject(email);
    await stranger.post("/sign-in", { email, password: "a wrong password" });
    expect(await guessesIn(object)).toMatchObject([{ key: stranger.address, count: 1 }]);
    await stranger.post("/sign-in", { email, password: PASSWORD });
    expect(await guessesIn(object)).toEqual([]);
    const change = { current: "a wrong password", next: "another good password" };
    const stolen = Object.assign(new DashboardBrowser(), { cookie: browser.cookie });
    await stolen.post("/password", change);
    expect(await guessesIn(object)).toMatchObject([{ key: stolen.address, count: 1 }]);
  });

  it("counts apart in a browser that is known for this very person", async () => {
    const [{ browser, email }, other] = [await signUp(), await signUp()];
    const known = browser.known.slice(browser.known.indexOf("=") + 1).split(".")[0];
    const wrongly = { password: "a wrong password" };
    await browser.post("/sign-in", { email, ...wrongly });
    expect(await guessesIn(`browser:${known}`)).toMatchObject([{ key: "passwords", count: 1 }]);
    expect(await guessesIn(await personObject(email))).toEqual([]);
    // The cookie of a thief's own browser does not help against others.
    await browser.post("/sign-in", { email: other.email, ...wrongly });
    expect(await guessesIn(await personObject(other.email))).toMatchObject([{ key: browser.address }]);
  });
});

it("the cookie of a known browser signs no one in, is hidden from scripts and other sites, and outlives signing out", async () => {
  const { browser, email } = await signUp();
  expect(browser.known).toMatch(/^__Host-atrium_browser=[0-9a-f]{32}\.[\w-]{43}$/);
  await browser.post("/sign-out");
  expect((await browser.get("/me")).status).toBe(401);
  const before = browser.known;
  await browser.post("/sign-in", { email, password: PASSWORD });
  expect(browser.known).toBe(before);
});

it("a service that cannot tell its clients' addresses apart lets strangers who guess one person's password, or many's, hold up no other person", async () => {
  const settings = { CLIENT_ADDRESS: "127.0.0.1", SIGN_IN_ADDRESS_RATE_LIMIT: unlimited };
  const limits = signInLimits({ ...env, ...settings }, "127.0.0.1");
  for (let tries = 0; tries < 61; tries += 1) await guessOnce(limits, freshEmail());
  const { email } = await stillPerson();
  for (let tries = 0; tries < 5; tries += 1) await guessOnce(limits, email);
  await expect(guessOnce(limits, email)).rejects.toMatchObject(refusal);
  await guessOnce(limits, freshEmail());
});

describe("a network", () => {
  it("guesses invitations for all people together, which leaves known browsers alone", async () => {
    const address = freshAddress();
    await setClock(`network:${address}`, Date.now());
    // The binding in front of the objects would refuse first: it is not what this is about.
    const limits = signInLimits({ ...env, SIGN_IN_ADDRESS_RATE_LIMIT: unlimited }, address);
    for (let tries = 0; tries < 60; tries += 1) await limits.countInvitation();
    await expect(limits.countInvitation()).rejects.toMatchObject(refusal);
    await expect(guessOnce(limits, freshEmail())).rejects.toMatchObject(refusal);
    await guessOnce(limits, freshEmail(), crypto.randomUUID());
    await limits.countSignUp();
  });

  it("is kept from the objects by a limit per location when it floods them", async () => {
    const calls: string[] = [];
    const none: RateLimit = {
      limit: async ({ key }) => {
        calls.push(key);
        return { success: false };
      },
    };
    const objects = new Proxy(env.GUESS_LIMITS, {
      get() {
        throw new Error("No object is called");
      },
    });
    const limits = signInLimits({ SIGN_IN_ADDRESS_RATE_LIMIT: none, GUESS_LIMITS: objects }, "here");
    await expect(guessOnce(limits, freshEmail())).rejects.toMatchObject(refusal);
    await expect(guessOnce(limits, freshEmail(), "a browser")).rejects.toMatchObject(refusal);
    await expect(limits.countSignUp()).rejects.toMatchObject(refusal);
    expect(calls).toEqual(["here", "a browser", "here"]);
  });

  it("is counted for a wrong invitation, and not for the right one", async () => {
    const owner = await signUp();
    const other = await signUp();
    const { data } = await owner.api.post<{ url: string }>("/invitations", { role: "member" });
    const failures = async () =>
      (await guessesIn(`network:${other.browser.address}`)).find(({ key }) => key === "failures");
    await other.browser.post("/invitations/wrong/accept");
    expect(await failures()).toMatchObject({ count: 1 });
    await other.browser.post(`/invitations/${tokenIn(data.url)}/accept`);
    expect((await failures())?.count).toBeLessThanOrEqual(1);
    const guest = await invite(owner);
    expect(await guessesIn(`network:${guest.browser.address}`)).toEqual([{ key: "failures", count: 0 }]);
  });
});
