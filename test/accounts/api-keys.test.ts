/** API keys over REST: creation, use, listing and revocation. */
import { env } from "cloudflare:workers";
import type { ApiKey } from "@atrium/contract/rest/api-keys.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createApiKey, fingerprintOf, isApiKey } from "../../src/features/accounts/api-key.ts";
import { evictKey, verifyKey } from "../../src/features/accounts/verify-key.ts";
import { openDatabase } from "../../src/platform/d1/d1.ts";
import { Api, account, bearer } from "../support/api.ts";
import { addMember, DashboardBrowser, tokenIn } from "../support/person.ts";
import { usesOf } from "../support/quotas.ts";
import { batchesOf } from "../support/rows-read.ts";

const MINUTE_MS = 60_000;

describe("API keys", () => {
  it("are shown once, then listed by their first and last characters", async () => {
    const { id, api } = await account();
    const made = await api.post<{ api_key: ApiKey; key: string }>("/api-keys", { name: "Back end" });
    const { key, api_key } = made.data;
    expect([made.status, made.description]).toEqual([201, "API key created"]);
    expect(api_key).toMatchObject({
      account_id: id,
      name: "Back end",
      prefix: key.slice(0, 14),
      last_four: key.slice(-4),
      last_used_at: null,
    });
    const listed = await api.get<{ api_keys: ApiKey[] }>("/api-keys");
    expect(listed.data).toMatchObject({ total: 2, limit: 50, offset: 0 });
    expect(JSON.stringify(listed.data)).not.toContain(key.slice(14, -4));
    expect((await new Api(id, bearer(id, key)).get("/rooms")).status).toBe(200);
  });

  it("are accepted with the line end of a file or of `echo`, and with blanks in the header", async () => {
    const { id, apiKey } = await account();
    for (const end of ["\n", "\r\n", " ", "\n\n"])
      for (const pair of [`${id}:${apiKey}${end}`, `${id}${end}:${apiKey}`])
        expect((await new Api(id, `Bearer ${btoa(pair)}`).get("/rooms")).status).toBe(200);
    expect((await new Api(id, `Bearer\t ${btoa(`${id}:${apiKey}`)} \t`).get("/rooms")).status).toBe(200);
    expect((await new Api(id, `Bearer ${btoa(`${id}:${apiKey.slice(0, -1)}\n`)}`).get("/rooms")).status).toBe(
      401,
    );
  });

  it("are accepted in standard and URL-safe Base64, padded or not", async () => {
    const { id, apiKey } = await account();
    const standard = btoa(`${id}:${apiKey}`);
    const urlSafe = standard.replaceAll("+", "-").replaceAll("/", "_");
    for (const token of [standard, urlSafe, standard.replace(/=+$/, ""), urlSafe.replace(/=+$/, "")]) {
      expect((await new Api(id, `bearer ${token}`).get("/rooms")).status).toBe(200);
    }
  });

  it("can be revoked by another key and are rejected from then on", async () => {
    const { id, apiKey, keyId, api } = await account();
    const made = await api.post<{ api_key: ApiKey; key: string }>("/api-keys", {});
    const second = new Api(id, bearer(id, made.data.key));
    expect((await second.delete(`/api-keys/${keyId}`)).data).toEqual({});
    expect((await new Api(id, bearer(id, apiKey)).get("/rooms")).status).toBe(401);
    expect((await second.delete(`/api-keys/${keyId}`)).status).toBe(404);
    expect((await second.delete(`/api-keys/${made.data.api_key.id}`)).error?.code).toBe("CONFLICT");
  });

  it("end what they made: keys, invitations and links for a new password, but not the key that revokes them", async () => {
    const { id, keyId, api } = await account();
    const member = await addMember(id);
    const keyBy = async (maker: Api) => {
      const { data } = await maker.post<{ api_key: ApiKey; key: string }>("/api-keys", {});
      return { id: data.api_key.id, made: data.api_key, api: new Api(id, bearer(id, data.key)) };
    };
    const child = await keyBy(api);
    const [grandchild, successor] = [await keyBy(child.api), await keyBy(api)];
    const kept = await keyBy(successor.api);
    expect([child.made.created_by_key, grandchild.made.created_by_key]).toEqual([keyId, child.id]);
    const statuses = async () => {
      const guest = new DashboardBrowser();
      const pages = [`/invitations/${invitation}`, `/password-links/${link}`].map((path) => guest.get(path));
      const uses = [child, grandchild, successor, kept].map((key) => key.api.get("/rooms"));
      return (await Promise.all([...pages, ...uses])).map(({ status }) => status);
    };
    const invitation = tokenIn((await child.api.post<{ url: string }>("/invitations", {})).data.url);
    const link = tokenIn((await api.post<{ url: string }>(`/members/${member.id}/password-link`)).data.url);
    expect(await statuses()).toEqual([200, 200, 200, 200, 200, 200]);
    expect((await successor.api.delete(`/api-keys/${keyId}`)).status).toBe(200);
    expect(await statuses()).toEqual([404, 404, 401, 401, 200, 200]);
    const listed = await successor.api.get<{ api_keys: ApiKey[] }>("/api-keys");
    expect(listed.data.api_keys.map((key) => [key.id, key.created_by_key]).toSorted()).toEqual(
      [
        [successor.id, null],
        [kept.id, successor.id],
      ].toSorted(),
    );
    expect((await usesOf(successor)).invitations).toBe(0);
  });

  it("make nothing that is valid where an isolate still takes them for valid", async () => {
    const { id, keyId, api } = await account();
    const member = await addMember(id);
    const { data: warm } = await api.post<{ key: string }>("/api-keys", {});
    await env.DB.prepare("DELETE FROM api_keys WHERE id = ?").bind(keyId).run();
    const { data: made } = await api.post<{ key: string }>("/api-keys", {});
    const invited = await api.post<{ url: string }>("/invitations", {});
    const linked = await api.post<{ url: string }>(`/members/${member.id}/password-link`);
    expect([invited.status, linked.status]).toEqual([201, 201]);
    for (const key of [warm.key, made.key])
      expect((await new Api(id, bearer(id, key)).get("/rooms")).status).toBe(401);
    const guest = new DashboardBrowser();
    expect((await guest.get(`/invitations/${tokenIn(invited.data.url)}`)).status).toBe(404);
    expect((await guest.get(`/password-links/${tokenIn(linked.data.url)}`)).status).toBe(404);
  });

  it("are cached for 10 seconds at most by an isolate that did not revoke them", async () => {
    const { id, apiKey, keyId } = await account();
    const db = openDatabase(env.DB);
    const now = Date.now();
    const { hash } = await fingerprintOf(apiKey);
    const verify = (at: number) => verifyKey(db, hash, at, () => undefined);
    expect(await verify(now)).toMatchObject({ accountId: id, keyId });
    await env.DB.prepare("DELETE FROM api_keys WHERE id = ?").bind(keyId).run();
    expect(await verify(now + 9_999)).toMatchObject({ accountId: id, keyId });
    expect(await verify(now + 10_000)).toBeNull();
  });

  it("end with their organization, and none is made by a request that was let in before", async () => {
    const { id, apiKey, api } = await account();
    const { hash } = await fingerprintOf(apiKey);
    const db = openDatabase(env.DB);
    const verify = () => verifyKey(db, hash, Date.now(), () => undefined);
    expect((await api.get("/rooms")).status).toBe(200);
    await env.DB.prepare("UPDATE accounts SET deleted_at = 1 WHERE id = ?").bind(id).run();
    expect((await api.post("/api-keys", { name: "Late" })).error?.code).toBe("NOT_FOUND");
    const count = "SELECT count(*) AS n FROM api_keys WHERE account_id = ?";
    expect(await env.DB.prepare(count).bind(id).first("n")).toBe(1);
    evictKey(hash);
    expect(await batchesOf(verify)).toMatchObject([{ read: 2 }]);
    expect(await verify()).toBeNull();
  });

  it("record when they were last used, to the minute", async () => {
    const { apiKey, keyId } = await account();
    const db = openDatabase(env.DB);
    const { hash } = await fingerprintOf(apiKey);
    const start = Math.ceil(Date.now() / MINUTE_MS) * MINUTE_MS;
    const lastUsed = () =>
      env.DB.prepare("SELECT last_used_at FROM api_keys WHERE id = ?").bind(keyId).first("last_used_at");
    for (const [at, expected] of [
      [start + 1_000, start],
      [start + 59_000, start],
      [start + 61_000, start + MINUTE_MS],
    ] as const) {
      evictKey(hash);
      const deferred: Promise<unknown>[] = [];
      await verifyKey(db, hash, at, (work) => deferred.push(work));
      await Promise.all(deferred);
      expect(await lastUsed()).toBe(expected);
    }
  });
});

const randomBytes = fc.uint8Array({ minLength: 32, maxLength: 32 });

describe("an API key", () => {
  it("has a fixed shape and a checksum for any random bits", () => {
    fc.assert(
      fc.property(randomBytes, (bytes) => {
        const key = createApiKey(bytes);
        expect(key).toMatch(/^atrium_sk_[0-9A-Za-z]{49}$/);
        expect(isApiKey(key)).toBe(true);
      }),
    );
  });

  it("differs from a key with a typo by its checksum", () => {
    const key = createApiKey();
    fc.assert(
      fc.property(fc.nat(key.length - 1), fc.string({ minLength: 1, maxLength: 1 }), (at, char) => {
        fc.pre(key[at] !== char);
        expect(isApiKey(key.slice(0, at) + char + key.slice(at + 1))).toBe(false);
      }),
    );
    for (const other of ["", key.slice(1), `${key}0`, key.toUpperCase()]) expect(isApiKey(other)).toBe(false);
  });

  it("is stored as a hash that shows its first and last characters only", async () => {
    const key = createApiKey(new Uint8Array(32));
    const stored = await fingerprintOf(key);
    expect(stored).toEqual({
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      prefix: "atrium_sk_0000",
      lastFour: key.slice(-4),
    });
    expect(JSON.stringify(stored)).not.toContain(key.slice(14, -4));
  });
});
