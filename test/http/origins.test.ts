/** The service's own origin: the setting, or else that of each request. */
import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { app } from "../../src/app.ts";
import { admit } from "../../src/http/security.ts";
import worker from "../../src/index.ts";
import { addressOf } from "../../src/platform/network.ts";
import { type Account, account, ORIGIN } from "../support/api.ts";
import { expectLogged } from "../support/log-guard.ts";
import { addMember } from "../support/person.ts";

const PUBLIC_ORIGIN = "https://atrium.public.dev";
/** How a client reaches the service that has its own idea of the host. */
const REACHED_AT = "https://attacker.example";
const CONFIGURED = { ...env, PUBLIC_ORIGIN, OWN_HOSTS: "atrium.me.workers.dev,www.public.dev" };

interface Answer {
  readonly status: number;
  readonly data: { readonly url?: string; readonly members?: readonly object[] };
  readonly error: { readonly code: string; readonly message: string } | null;
}

async function send(
  { id, api }: Account,
  path: string,
  body: object,
  { settings = CONFIGURED, headers = {} }: { settings?: typeof env; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const authorization = "Cookie" in headers ? {} : { Authorization: api.authorization ?? "" };
  const request = new Request(`${REACHED_AT}/v1/accounts/${id}${path}`, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...authorization, ...headers },
    body: JSON.stringify(body),
  });
  const response = await app.fetch(request, settings, createExecutionContext());
  return { ...(await response.json<Answer>()), status: response.status };
}

describe("with PUBLIC_ORIGIN,", () => {
  it("links begin with it, whatever host a request names", async () => {
    const { data } = await send(await account(), "/invitations", {});
    expect(data.url).toMatch(/^https:\/\/atrium\.public\.dev\/dashboard\/invitations\//);
  });

  it("a member makes changes from its pages, and from no others", async () => {
    const owner = await account();
    const { browser } = await addMember(owner.id);
    const from = (origin: string) =>
      send(owner, "/rooms", { name: "A room" }, { headers: { Cookie: browser.cookie, Origin: origin } });
    expect((await from(PUBLIC_ORIGIN)).status).toBe(201);
    const refused = await from(REACHED_AT);
    expect([refused.status, refused.error?.message]).toEqual([403, expect.stringContaining(PUBLIC_ORIGIN)]);
  });

  it.each(["", "atrium", "https://atrium.example/path", "ftp://atrium.example"])(
    "%j is no origin",
    async (origin) => {
      const answer = await send(
        await account(),
        "/invitations",
        {},
        {
          settings: { ...CONFIGURED, PUBLIC_ORIGIN: origin },
        },
      );
      if (origin === "") {
        expect(answer.data.url).toMatch(new RegExp(`^${REACHED_AT}/`));
        return;
      }
      expect(answer.status).toBe(500);
      expectLogged("The setting PUBLIC_ORIGIN must be an origin such as https://atrium.example");
    },
  );
});

describe("a webhook", () => {
  it.each([
    ["PUBLIC_ORIGIN", "atrium.public.dev"],
    ["OWN_HOSTS", "ATRIUM.me.workers.dev."],
    ["OWN_HOSTS", "www.public.dev:8443"],
  ])("cannot lead back to the service under a name of %s", async (_, host) => {
    const body = { url: `https://${host}/v1`, events: ["user.created"] };
    const { status, error } = await send(await account(), "/webhooks", body);
    expect([status, error?.message]).toEqual([400, "url: must not lead back to this service"]);
  });

  it("may lead to another name of the same domain", async () => {
    const body = { url: "https://hooks.public.dev/v1", events: ["user.created"] };
    expect((await send(await account(), "/webhooks", body)).status).toBe(201);
  });
});

// Requests that a Worker without an edge before it answers, and the address that it assumes.

const LOCAL = { ...env, ALLOWED_HOSTS: "localhost,127.0.0.1,::1", CLIENT_ADDRESS: "127.0.0.1" };

const sendHostCheck = (url: string, headers: HeadersInit = {}, settings = LOCAL): Promise<Response> =>
  worker.fetch(new Request(url, { headers }), settings, createExecutionContext());

describe("with ALLOWED_HOSTS,", () => {
  it.each(["http://localhost:8787", "http://127.0.0.1:9", "http://[::1]:8787", "http://LOCALHOST./"])(
    "a request to %s is answered",
    async (url) => {
      const { host } = new URL(url);
      expect(
        (await sendHostCheck(`${url}/v1/openapi.json`.replace("//v1", "/v1"), { Host: host })).status,
      ).toBe(200);
    },
  );

  it.each([
    ["another name", "http://evil.example", "evil.example"],
    ["a name that begins like ours", "http://localhost.evil.example", "localhost.evil.example"],
    ["another address", "http://10.0.0.1", "10.0.0.1"],
    ["our name in the URL only", "http://localhost", "evil.example"],
    ["our name in the header only", "http://evil.example", "localhost"],
  ])("a request by %s is refused", async (_, url, host) => {
    const response = await sendHostCheck(`${url}/v1/openapi.json`, { Host: host });
    expect(response.status).toBe(403);
    expect(response.headers.has("Access-Control-Allow-Origin")).toBe(false);
    expect(await response.json()).toMatchObject({
      error: { code: "FORBIDDEN", message: expect.stringContaining("ALLOWED_HOSTS") },
    });
  });

  it("every name is answered when it is empty or *", async () => {
    for (const ALLOWED_HOSTS of ["", "*"]) {
      const response = await sendHostCheck(
        "http://any.example/v1/openapi.json",
        {},
        { ...LOCAL, ALLOWED_HOSTS },
      );
      expect(response.status).toBe(200);
    }
  });
});

describe("a client's address", () => {
  const request = new Request("http://localhost/", {
    headers: { Host: "localhost", "CF-Connecting-IP": "203.0.113.7", "X-Forwarded-For": "203.0.113.8" },
  });

  it("is what CLIENT_ADDRESS says, not what the client claims", () => {
    expect(addressOf(admit(request, LOCAL))).toBe("127.0.0.1");
  });

  it("is what the edge says where there is one", () => {
    expect(addressOf(admit(request, env))).toBe("203.0.113.7");
  });
});

// `GET /health` with dependencies that respond, and with some that do not.

const failing = <T extends object>(binding: T): T =>
  new Proxy(binding, {
    get() {
      throw new Error("The binding does not respond");
    },
  });

const NO_DATABASE = { DB: failing(env.DB) };
const NO_SECOND_DATABASE = { DB_2: failing(env.DB_2) };
const NO_ANSWER = { ROOMS: { getByName: () => ({ read: () => new Promise(() => {}) }) } };
const NO_OBJECTS = { ROOMS: failing(env.ROOMS) };

async function ask(bindings: object): Promise<{ response: Response; body: unknown }> {
  const request = new Request(`${ORIGIN}/health`);
  const response = await app.fetch(request, { ...env, ...bindings }, createExecutionContext());
  return { response, body: await response.json() };
}

describe("GET /health", () => {
  it("answers 200 without credentials when the database and a room's object respond", async () => {
    const { response, body } = await ask({});
    expect([response.status, body]).toEqual([200, { status: "ok" }]);
    expect(response.headers.get("Cache-Control")).toBe("no-store");
    expect(response.headers.get("X-Request-Id")).toMatch(/^[0-9a-f-]{36}$/);
  });

  it("warns of what will fail, says what to do, and stays 200", async () => {
    const low = "Only 12 MiB are free on the disk";
    const disk = (fetch: () => Promise<Response>) => ({ DISK: { fetch } });
    const warned = await ask(disk(async () => new Response(low)));
    expect([warned.response.status, warned.body]).toEqual([200, { status: "ok", warnings: [low] }]);
    expect((await ask(disk(async () => new Response(null)))).body).toEqual({ status: "ok" });
    expect((await ask({ ...disk(async () => new Response(low)), ...NO_OBJECTS })).body).toEqual({
      ...{ status: "unavailable", failed: ["rooms"] },
      warnings: [low],
    });
    expect((await ask(disk(() => Promise.reject(new Error("no disk"))))).body).toEqual({ status: "ok" });
    expectLogged(
      "The health check of rooms failed",
      "The warnings of the health check could not be read: no disk",
    );
  });

  it("names the spending cap of the platform's account", async () => {
    const capped = new Error("Exceeded the account's spending cap for Durable Objects");
    const { response, body } = await ask({
      ROOMS: { getByName: () => ({ read: () => Promise.reject(capped) }) },
    });
    expect([response.status, body]).toEqual([
      503,
      {
        ...{ status: "unavailable", failed: ["rooms"] },
        warnings: ["The service has reached the spending cap of its account; wait until it is raised"],
      },
    ]);
    expectLogged("The health check of rooms failed");
  });

  it.each([
    ["database", NO_DATABASE, ["database"]],
    ["a database beside the directory", NO_SECOND_DATABASE, ["database"]],
    ["rooms", NO_OBJECTS, ["rooms"]],
    ["rooms that hang", NO_ANSWER, ["rooms"]],
    ["both", { ...NO_DATABASE, ...NO_OBJECTS }, ["database", "rooms"]],
  ])("answers 503 and names the dependencies that do not respond: %s", async (_, bindings, failed) => {
    const { response, body } = await ask(bindings);
    expect([response.status, body]).toEqual([503, { status: "unavailable", failed }]);
    expectLogged(...failed.map((name) => `The health check of ${name} failed`));
  });
});
