/** Lists that may lack the latest changes are read from the nearest replica, when the caller accepts that. */
import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { app } from "../../src/app.ts";
import type { Env } from "../../src/env.ts";
import { type Account, account, type PlaceName } from "../support/api.ts";

/** The binding as it is, but for noting each session that is opened, by its constraint. */
const noting = (d1: D1Database, sessions: unknown[]): D1Database =>
  new Proxy(d1, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      return (...args: unknown[]) => {
        if (name === "withSession") sessions.push(...args);
        return Reflect.apply(member, target, args);
      };
    },
  });

/** The sessions that a request opens in the organization's database. */
async function sessionsOf(
  { api }: Account,
  place: PlaceName,
  method: string,
  path: string,
  cacheControl: string,
): Promise<unknown[]> {
  const sessions: unknown[] = [];
  const bindings: Env = { ...env, [place]: noting(env[place], sessions) };
  const execution = createExecutionContext();
  const headers = { "Cache-Control": cacheControl, "Content-Type": "application/json" };
  const body = method === "GET" ? {} : { body: JSON.stringify({ name: "Another" }) };
  const response = await app.fetch(api.request(method, path, { headers, ...body }), bindings, execution);
  await waitOnExecutionContext(execution);
  expect(response.status).toBeLessThan(300);
  const listed = (await response.json<{ data: { rooms?: unknown[] } }>()).data.rooms;
  if (listed !== undefined) expect(listed).not.toEqual([]);
  return sessions;
}

it.each<PlaceName>(["DB", "DB_2"])("of an organization in %s", async (place) => {
  const owner = await account(place);
  const { id } = await owner.api.createRoom();
  const lists = [
    "/rooms",
    "/rooms?search=room",
    `/users?roomId=${id}`,
    `/files?roomId=${id}`,
    "/webhooks",
    "/workflows",
  ];
  for (const list of lists) {
    expect(await sessionsOf(owner, place, "GET", list, "no-transform, Max-Stale")).toEqual([
      "first-unconstrained",
    ]);
    for (const other of ["", "no-cache", "max-stale=60"])
      expect(await sessionsOf(owner, place, "GET", list, other)).toEqual([]);
  }
  expect(await sessionsOf(owner, place, "GET", `/rooms/${id}`, "max-stale")).toEqual([]);
  expect(await sessionsOf(owner, place, "GET", "/overview", "max-stale")).toEqual([]);
  expect(await sessionsOf(owner, place, "POST", "/rooms", "max-stale")).toEqual([]);
});
