/** `GET /health` with dependencies that respond, and with some that do not. */
import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { app } from "../../src/app.ts";
import { ORIGIN } from "../support/api.ts";
import { expectLogged } from "../support/log-guard.ts";

/** A binding whose every call fails. */
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
