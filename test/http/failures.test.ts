/** Answers of a deployment that is not ready, and secrets that no answer gives away. */
import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { app } from "../../src/app.ts";
import type { Env } from "../../src/env.ts";
import { fingerprintOf } from "../../src/features/accounts/api-key.ts";
import { type Account, type Answer, account, ORIGIN } from "../support/api.ts";
import { answerOf } from "../support/person.ts";

const ask = ({ api }: Account, bindings: Partial<Env>, path = "/rooms") =>
  answerOf(bindings, api.request("GET", path));

const failing = (message: string): D1Database =>
  new Proxy(env.DB, {
    get() {
      throw new Error(message);
    },
  });

describe("a deployment that is not ready", () => {
  it.each([undefined, "", "short"])("says which command makes the secret when it is %j", async (secret) => {
    const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const { status, error } = await ask(await account(), { JWT_SECRET: secret } as Partial<Env>);
    log.mockRestore();
    expect([status, error?.code]).toEqual([500, "INTERNAL_ERROR"]);
    expect(error?.message).toContain("npm start");
    expect(error?.message).toContain("wrangler secret put JWT_SECRET");
  });

  it("says which command makes the tables", async () => {
    const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const answer = await ask(await account(), {
      DB: failing("D1_ERROR: no such table: api_keys: SQLITE_ERROR"),
    });
    log.mockRestore();
    expect([answer.status, answer.error?.code]).toEqual([500, "INTERNAL_ERROR"]);
    expect(answer.error?.message).toContain("npx wrangler d1 migrations apply DB --local");
  });
});

it("a failure of our own is one fixed sentence with the request id, which the log line names too", async () => {
  const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const owner = await account();
  const answer = await ask(owner, {
    DB: failing("D1_ERROR: disk I/O error in SELECT secret FROM t WHERE x = 'y'"),
  });
  const lines = log.mock.calls.map(([line]) => String(line));
  log.mockRestore();
  expect(answer).toMatchObject({
    status: 500,
    success: false,
    data: {},
    error: { module: "Rooms", code: "INTERNAL_ERROR" },
  });
  expect(JSON.stringify(answer)).not.toMatch(/SELECT|D1_|SQLITE|\.ts|at /);
  expect(lines.join()).toContain(answer.requestId);
  expect(lines.join()).not.toContain(owner.apiKey);
});

describe("beside the API", () => {
  it("unknown paths answer in the envelope", async () => {
    const owner = await account();
    for (const path of [
      "/v1",
      "/v1/",
      "/v2/accounts",
      "/v1/accounts",
      "/nothing",
      "/v1/openapi.yaml",
      "/favicon.ico",
    ]) {
      const response = await app.fetch(new Request(ORIGIN + path), env, createExecutionContext());
      const { error } = await response.json<Answer>();
      expect([response.status, error?.module, error?.code], path).toEqual([404, "Server", "NOT_FOUND"]);
    }
    expect((await ask(owner, {}, "/nothing")).status).toBe(404);
  });

  it("HEAD answers as GET does, without the body", async () => {
    const { api } = await account();
    const response = await api.raw("HEAD", "/rooms");
    expect([response.status, await response.text()]).toEqual([200, ""]);
    expect((await api.raw("HEAD", "/rooms/unknown")).status).toBe(404);
  });
});

describe("the rate limit", () => {
  const binding = (success: boolean, keys: string[]): RateLimit => ({
    limit: async ({ key }) => {
      keys.push(key);
      return { success };
    },
  });

  it.each(["ACCOUNT_RATE_LIMIT", "CREDENTIAL_RATE_LIMIT"] as const)(
    "refuses what is beyond %s",
    async (name) => {
      const owner = await account();
      const keys: string[] = [];
      const answer = await ask(owner, { [name]: binding(false, keys) });
      expect([answer.status, answer.error?.code, answer.headers.get("Retry-After")]).toEqual([
        429,
        "RATE_LIMITED",
        "10",
      ]);
      const { hash } = await fingerprintOf(owner.apiKey);
      expect(keys).toEqual([name === "ACCOUNT_RATE_LIMIT" ? owner.id : `key:${hash}`]);
    },
  );

  it("refuses an organization that has had its thousand requests of ten seconds, and no other one", async () => {
    const [busy, calm] = [await account(), await account()];
    let counted = 0;
    // A window may end between its last request and ours: then the next one is filled.
    const refused = async () => {
      for (let isFull = false; !isFull; ) {
        const tries = Array.from({ length: 100 }, () => env.ACCOUNT_RATE_LIMIT.limit({ key: busy.id }));
        const taken = (await Promise.all(tries)).filter(({ success }) => success).length;
        counted += taken;
        isFull = taken < tries.length;
      }
      return busy.api.get("/rooms?limit=1");
    };
    await expect.poll(async () => (await refused()).status).toBe(429);
    expect(counted).toBeGreaterThanOrEqual(1_000);
    expect((await calm.api.get("/rooms")).status).toBe(200);
  });
});

// Requests that break off while their body is read: the client's failure, and logged as such.

const encoder = new TextEncoder();

function brokenAfter(text: string): ReadableStream<Uint8Array> {
  let isSent = false;
  return new ReadableStream({
    type: "bytes",
    pull(controller) {
      if (isSent) controller.error(new Error("Network connection lost."));
      else controller.enqueue(encoder.encode(text));
      isSent = true;
    },
  });
}

it.each([
  [
    "/upload",
    "multipart/form-data; boundary=x",
    '--x\r\nContent-Disposition: form-data; name="roomId"\r\n\r\na',
  ],
  ["/rooms", "application/json", '{"name":"A'],
])("a POST to %s that breaks off is a warning, and no error", async (path, type, start) => {
  const { api } = await account();
  const warned = vi.spyOn(console, "warn").mockImplementation(() => undefined);
  const context = createExecutionContext();
  const request = api.request("POST", path, {
    headers: { "Content-Type": type },
    body: brokenAfter(start),
  });
  const response = await app.fetch(request, env, context);
  await waitOnExecutionContext(context);
  const entries = warned.mock.calls.map(([entry]) => JSON.parse(String(entry)));
  warned.mockRestore();
  expect(await response.json()).toMatchObject({ error: { code: "BAD_REQUEST" } });
  expect(entries).toMatchObject([{ message: "A request broke off", error: "Network connection lost." }]);
});

it.each(["/nothing", "/docs/nothing", "/demo/nothing", "/dashboard/api/nothing"])(
  "a 404 outside the API, at %s, cannot be read by other origins",
  async (path) => {
    const response = await app.fetch(
      new Request(`https://atrium.test${path}`),
      env,
      createExecutionContext(),
    );
    expect(response.status).toBe(404);
    expect(response.headers.has("Access-Control-Allow-Origin")).toBe(false);
  },
);
