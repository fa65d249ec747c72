/** Floods of credentials, valid or not: each request is counted before the database is asked about it. */
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { createApiKey } from "../../src/features/accounts/api-key.ts";
import { apiKeyScheme } from "../../src/features/accounts/verify-key.ts";
import { SIGN_IN_LIFETIME_MS } from "../../src/features/people/cookies.ts";
import { tokensFor } from "../../src/features/users/tokens.ts";
import { CredentialBuckets, Tarpit } from "../../src/http/authenticate.ts";
import { jwtSecrets } from "../../src/platform/config.ts";
import { openTenant } from "../../src/platform/d1/databases.ts";
import { networkOf } from "../../src/platform/network.ts";
import { type Account, Api, account, bearer } from "../support/api.ts";
import { costOf } from "../support/counting.ts";
import { addMember } from "../support/person.ts";

/** A binding that lets `limit` requests of each key pass. */
function limitOf(limit: number): RateLimit {
  const counts = new Map<string, number>();
  return {
    async limit({ key }) {
      counts.set(key, (counts.get(key) ?? 0) + 1);
      return { success: (counts.get(key) ?? 0) <= limit };
    },
  };
}

const withKey = (accountId: string, apiKey: string) => ({
  api: new Api(accountId, bearer(accountId, apiKey)),
});

/** The statuses and the D1 round trips of requests, one after the other. */
async function flood(
  callers: readonly Pick<Account, "api">[],
  bindings: Partial<typeof env>,
  path = "/rooms?limit=1",
) {
  const costs = [];
  for (const caller of callers) costs.push(await costOf(caller, "GET", path, undefined, bindings));
  return { statuses: costs.map(({ status }) => status), trips: costs.map(({ trips }) => trips) };
}

const times = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item);

describe("a flood of", () => {
  it("invented keys is refused without the database once its network has had its failures", async () => {
    const { id } = await account();
    const [first, second] = [new Api(id, null), new Api(id, null)];
    const callers = Array.from({ length: 6 }, (_, index) => {
      const authorization = bearer(id, createApiKey());
      // One client has all addresses of a /64.
      const address = `2001:db8:7:7::${index + 1}`;
      return { api: Object.assign(Object.create(index % 2 ? first : second), { authorization, address }) };
    });
    const { statuses, trips } = await flood(callers, { AUTH_FAILURE_RATE_LIMIT: limitOf(3) });
    expect(statuses).toEqual([401, 401, 401, 429, 429, 429]);
    expect(trips).toEqual([1, 1, 1, 0, 0, 0]);
  });

  it("one invented key reads it once", async () => {
    const { id } = await account();
    const { statuses, trips } = await flood(times(3, withKey(id, createApiKey())), {});
    expect(statuses).toEqual([401, 401, 401]);
    expect(trips).toEqual([1, 0, 0]);
  });

  it("wrong secrets of links is refused once its network has had its failures, mistyped ones without the database", async () => {
    const { id } = await account();
    const guesser = { api: new Api(id, null) };
    const bindings = { AUTH_FAILURE_RATE_LIMIT: limitOf(3) };
    const known = createApiKey(undefined, "atrium_link_");
    const costs = [];
    for (const secret of [known, `${known}0`, known, known, known])
      costs.push(await costOf(guesser, "POST", "/links/redeem", { secret, name: "Gale" }, bindings));
    expect(costs.map(({ status }) => status)).toEqual([404, 404, 404, 429, 429]);
    expect(costs.map(({ trips }) => trips)).toEqual([1, 0, 1, 1, 1]);
  });

  it("credentials of another organization reads a key once, and nothing for a token", async () => {
    const [victim, attacker] = [await account(), await account()];
    const foreign = { api: new Api(victim.id, bearer(attacker.id, attacker.apiKey)) };
    const { statuses, trips } = await flood(times(3, foreign), {});
    // The second trip of the first request notes the use of the key.
    expect([statuses, trips]).toEqual([
      [403, 403, 403],
      [2, 0, 0],
    ]);
    const room = await attacker.api.createRoom();
    const { token } = await attacker.api.createUser(room.id);
    const user = { api: new Api(victim.id, `Bearer ${token}`) };
    expect(await flood([user], {})).toEqual({ statuses: [403], trips: [0] });
  });

  it("expired tokens of another organization is refused as such, and reads nothing", async () => {
    const [victim, attacker] = [await account(), await account()];
    const tokens = tokensFor(jwtSecrets(env));
    const iat = Math.floor(Date.now() / 1000) - 3_600;
    const ids = { accountId: attacker.id, roomId: crypto.randomUUID() };
    const epochs = { tokenEpoch: 0, accountTokenEpoch: 0, identityId: null, identityEpoch: null };
    const user = { ...ids, ...epochs, id: crypto.randomUUID(), role: "editor", createdAt: 0 } as const;
    const claims = { accountId: attacker.id, identityId: user.id, accountEpoch: 0, identityEpoch: 0 };
    const expired = [
      await tokens.signShortLived(user, { issuedAt: iat, ttlSeconds: 60, role: "editor" }),
      await tokens.signIdentity({ ...claims, iat, exp: iat + 60 }),
    ];
    for (const path of ["/rooms?limit=1", `/users?roomId=${ids.roomId}`, "/me/notification-settings"])
      for (const token of expired) {
        const caller = { api: new Api(victim.id, `Bearer ${token}`) };
        expect(await flood([caller], {}, path)).toEqual({ statuses: [401], trips: [0] });
      }
  });

  it("another organization's credentials leaves the requests of the one in the path alone", async () => {
    const [victim, attacker] = [await account(), await account()];
    const counted: string[] = [];
    const counting: RateLimit = {
      async limit({ key }) {
        counted.push(key);
        return { success: true };
      },
    };
    const foreign = { api: new Api(victim.id, bearer(attacker.id, attacker.apiKey)) };
    const invented = withKey(victim.id, createApiKey());
    await flood([foreign, invented, invented], { ACCOUNT_RATE_LIMIT: counting });
    expect(counted).toEqual([]);
    await flood([victim], { ACCOUNT_RATE_LIMIT: counting });
    expect(counted).toEqual([victim.id]);
  });

  it.each(["USER_RATE_LIMIT", "ACCOUNT_RATE_LIMIT"])(
    "a user's token stops before the database by the %s",
    async (name) => {
      const owner = await account();
      const room = await owner.api.createRoom();
      const { token } = await owner.api.createUser(room.id);
      const users = times(4, { api: owner.api.as(token) });
      const { statuses, trips } = await flood(users, { [name]: limitOf(2) }, `/users?roomId=${room.id}`);
      expect(statuses).toEqual([200, 200, 429, 429]);
      expect(trips).toEqual([2, 2, 0, 0]);
    },
  );

  it("the tokens of users uses up neither the requests of other users nor those of the organization", async () => {
    const owner = await account();
    const room = await owner.api.createRoom();
    const users = [await owner.api.createUser(room.id), await owner.api.createUser(room.id)];
    const [first, second] = users.map(({ token }) => ({ api: owner.api.as(token) }));
    if (first === undefined || second === undefined) throw new Error("There are two users");
    const ask = async (caller: typeof first, bindings: Partial<typeof env>) =>
      (await costOf(caller, "GET", `/users?roomId=${room.id}`, undefined, bindings)).status;
    const ofUser = { USER_RATE_LIMIT: limitOf(1) };
    expect([await ask(first, ofUser), await ask(first, ofUser), await ask(second, ofUser)]).toEqual([
      200, 429, 200,
    ]);
    const ofAll = { ACCOUNT_RATE_LIMIT: limitOf(1) };
    expect([await ask(first, ofAll), await ask(second, ofAll), await ask(owner, ofAll)]).toEqual([
      200, 429, 200,
    ]);
  });

  it("a key that no isolate has seen stops before the database", async () => {
    const stranger = await account();
    const bindings = { CREDENTIAL_RATE_LIMIT: limitOf(0) };
    const cost = await costOf(stranger, "GET", "/rooms", undefined, bindings);
    expect([cost.status, cost.trips]).toEqual([429, 0]);
  });

  it("a person's cookie stops before the database, in the dashboard too", async () => {
    const { browser } = await addMember((await account()).id, "owner", {
      expiresAt: Date.now() + SIGN_IN_LIFETIME_MS,
    });
    const dashboard = { api: Object.assign(browser.api(""), { base: "/dashboard/api" }) };
    const bindings = { CREDENTIAL_RATE_LIMIT: limitOf(2) };
    const { statuses, trips } = await flood(times(4, dashboard), bindings, "/me");
    expect(statuses).toEqual([200, 200, 429, 429]);
    expect(trips).toEqual([1, 1, 0, 0]);
  });

  it("a person's requests for an organization of others reads it as often as a network may fail", async () => {
    const [own, others] = [await account(), await account()];
    const { browser } = await addMember(own.id);
    const { statuses, trips } = await flood(times(5, { api: browser.api(others.id) }), {
      AUTH_FAILURE_RATE_LIMIT: limitOf(2),
    });
    expect(statuses).toEqual([403, 403, 403, 429, 429]);
    expect(trips).toEqual([1, 1, 1, 0, 0]);
  });
});

it("a key that was valid minutes ago is not held up by a flood from its own network", async () => {
  const owner = await account();
  const request = owner.api.request("GET", "/rooms");
  const claimAt = (at: number) =>
    apiKeyScheme(request, {
      ...openTenant(env, owner.id),
      roomId: null,
      isCounted: true,
      now: () => at,
      defer: () => undefined,
      countRequest: () => undefined,
    });
  const now = Date.now();
  const first = await claimAt(now);
  expect(first?.isOurs).toBe(false);
  expect(await first?.verify()).toMatchObject({ type: "key", keyId: owner.keyId });
  expect((await claimAt(now + 10_000))?.isOurs).toBe(true);
  await env.DB.prepare("DELETE FROM api_keys WHERE id = ?").bind(owner.keyId).run();
  expect(await (await claimAt(now + 10_000))?.verify()).toBeNull();
  expect((await claimAt(now + 10_000))?.isOurs).toBe(false);
});

it.each([
  ["198.51.100.7", "198.51.100.7"],
  ["::ffff:198.51.100.7", "198.51.100.7"],
  ["::ffff:c633:6407", "198.51.100.7"],
  ["2001:DB8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["2001:db8:1:2::", "2001:db8:1:2::/64"],
  ["::1", "0:0:0:0::/64"],
  ["unknown", "unknown"],
  ["", ""],
])("the network of an address of %j is %j", (address, network) => {
  expect(networkOf(address)).toBe(network);
});

// Requests of one credential beside those of others, in one isolate.

const waits = (buckets: CredentialBuckets, count: number, credential: string, now: number) =>
  Array.from({ length: count }, () => buckets.waitMs(credential, now));

describe("a credential that sends 700 requests at once", () => {
  it("waits for none of them while it has the isolate for itself", () => {
    const buckets = new CredentialBuckets();
    expect(new Set(waits(buckets, 700, "a", 0))).toEqual(new Set([0]));
    expect(buckets.waitMs("b", 0)).toBe(0);
    expect(buckets.waitMs("a", 0)).toBe(1); // the bucket owes nothing
  });

  it("has a hundred in each second, and is refused what would wait for more than five, beside another one", () => {
    const buckets = new CredentialBuckets();
    waits(buckets, 1, "b", 0);
    const ofMany = waits(buckets, 700, "a", 0);
    expect(ofMany.slice(0, 100)).toEqual(Array<number>(100).fill(0));
    expect([ofMany[200], ofMany[300], ofMany[599]]).toEqual([1_001, 2_001, 4_991]);
    expect(ofMany.slice(601)).toEqual(Array<null>(99).fill(null));
    expect(buckets.waitMs("b", 0)).toBe(0);
    expect(waits(buckets, 50, "b", 500)).toEqual(Array<number>(50).fill(0));
  });

  it("is alone again a second after the other one's last request", () => {
    const buckets = new CredentialBuckets();
    waits(buckets, 1, "b", 0);
    waits(buckets, 200, "a", 0);
    expect(buckets.waitMs("a", 500)).toBeGreaterThan(0);
    expect(buckets.waitMs("a", 1_000)).toBe(0);
  });
});

// The tarpit: delays of a client that continues although it is refused.

const delays = (tarpit: Tarpit, count: number, client = "a", isUpgrade = false, now = 0) =>
  Array.from({ length: count }, () => tarpit.delayMs(client, isUpgrade, now));

describe("a client that is refused", () => {
  it("20 times in ten seconds is answered at once, then later each time, up to a second", () => {
    const tarpit = new Tarpit();
    expect(delays(tarpit, 23)).toEqual([...Array<number>(20).fill(0), 50, 100, 150]);
    expect(Math.max(...delays(tarpit, 100))).toBe(1_000);
    expect(delays(tarpit, 1, "b")).toEqual([0]);
    expect(delays(tarpit, 1, "a", false, 10_000)).toEqual([0]);
  });

  it("an upgrade is answered up to five seconds later", () => {
    expect(Math.max(...delays(new Tarpit(), 200, "a", true))).toBe(5_000);
  });

  it("is answered at once while 4,000 others wait, which take memory", () => {
    const tarpit = new Tarpit();
    const many = delays(tarpit, 4_021);
    expect(many.filter((ms) => ms > 0)).toHaveLength(4_000);
    expect(many.at(-1)).toBe(0);
    const [later = 0] = delays(tarpit, 1, "a", false, 5_000);
    expect(later).toBeGreaterThanOrEqual(500);
  });

  it.each([
    ["requests", false, 500, 1_000],
    ["upgrades", true, 2_500, 5_000],
  ])("with a thousand %s at once does not get all answers at the same moment", (_, isUpgrade, from, to) => {
    const longest = delays(new Tarpit(), 1_120, "a", isUpgrade).slice(120);
    const tenths = Array<number>(10).fill(0);
    for (const ms of longest) {
      const tenth = Math.min(9, Math.floor((10 * (ms - from)) / (to - from)));
      tenths[tenth] = (tenths[tenth] ?? Number.NaN) + 1;
    }
    for (const count of tenths) expect(count).toBeGreaterThan(90);
    expect(Math.min(...longest)).toBeGreaterThanOrEqual(from);
  });
});
