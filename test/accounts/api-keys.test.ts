/** API keys over REST: creation, use, listing and revocation. */
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { fingerprintOf } from "../../src/accounts/api-key.ts";
import type { ApiKey } from "../../src/accounts/schema.ts";
import { evictKey, KEY_CACHE_MS, verifyKey } from "../../src/accounts/verify-key.ts";
import { openDatabase } from "../../src/platform/d1.ts";
import { Api, account, bearer } from "../support/api.ts";

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

  it("are cached for 10 seconds at most by an isolate that did not revoke them", async () => {
    const { id, apiKey, keyId } = await account();
    const db = openDatabase(env.DB);
    const now = Date.now();
    const { hash } = await fingerprintOf(apiKey);
    const verify = (at: number) => verifyKey(db, hash, at, () => undefined);
    expect(await verify(now)).toMatchObject({ accountId: id, keyId });
    await env.DB.prepare("DELETE FROM api_keys WHERE id = ?").bind(keyId).run();
    expect(KEY_CACHE_MS).toBeLessThanOrEqual(10_000);
    expect(await verify(now + KEY_CACHE_MS - 1)).toMatchObject({ accountId: id, keyId });
    expect(await verify(now + KEY_CACHE_MS)).toBeNull();
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
