/** The order of lists: by `sort`, where rooms have it in `lists.test.ts`. */

import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { app } from "../../src/app.ts";
import type { Env } from "../../src/env.ts";
import { selectKeys } from "../../src/features/accounts/store.ts";
import { selectMembers } from "../../src/features/members/store.ts";
import { openDirectory } from "../../src/platform/d1/databases.ts";
import { type Account, account, type PlaceName } from "../support/api.ts";
import { addMember, signUp, tokenIn } from "../support/person.ts";
import { planOf } from "../support/plan-guard.ts";

/** Walks the pages of a list by their cursors, and maps each item. */
async function walk(
  owner: Account,
  list: string,
  query: Record<string, string>,
  path = list,
): Promise<Record<string, unknown>[]> {
  const found: Record<string, unknown>[] = [];
  let after: string | null = "";
  while (after !== null) {
    const parameters = new URLSearchParams(after === "" ? query : { ...query, after });
    const { data, status } = await owner.api.get<Record<string, unknown>>(`/${path}?${parameters}`);
    expect([status, data.offset]).toEqual([200, found.length]);
    found.push(...(data[list] as Record<string, unknown>[]));
    after = data.cursor as string | null;
  }
  return found;
}

/** Values of a field in the order that a query asks for. */
async function values(
  owner: Account,
  list: string,
  field: string,
  query: Record<string, string>,
  path = list,
) {
  const { data } = await owner.api.get<Record<string, Record<string, unknown>[]>>(
    `/${path}?${new URLSearchParams(query)}`,
  );
  return data[list]?.map((item) => item[field]);
}

it("is that of users by name, in their list and beside their room, page after page", async () => {
  const owner = await account();
  const { id: roomId } = await owner.api.createRoom();
  for (const name of ["bo", "Ada", "Cleo", "ADAM"]) await owner.api.createUser(roomId, { name });
  expect(await values(owner, "users", "name", { roomId, sort: "name" })).toEqual([
    "Ada",
    "ADAM",
    "bo",
    "Cleo",
  ]);
  const query = { roomId, sort: "-name", limit: "3" };
  const first = await owner.api.get<{ cursor: string }>(`/users?${new URLSearchParams(query)}`);
  const next = { roomId, limit: "3", after: first.data.cursor };
  expect(await values(owner, "users", "name", next)).toEqual(["Ada"]);
  const { data } = await owner.api.get<{ users: { name: string }[] }>(`/rooms/${roomId}?sort=-name&search=o`);
  expect(data.users.map(({ name }) => name)).toEqual(["Cleo", "bo"]);
});

it("is that of files by their names and sizes, page after page", async () => {
  const owner = await account();
  const { id: roomId } = await owner.api.createRoom();
  const { id: userId } = await owner.api.createUser(roomId);
  for (const [name, text] of [
    ["b.txt", "1"],
    ["C.txt", "333"],
    ["a.txt", "22"],
  ] as const)
    await owner.api.upload({ roomId, userId }, new File([text], name));
  const names = (sort: string) => values(owner, "files", "filename", { roomId, sort });
  expect(await names("filename")).toEqual(["a.txt", "b.txt", "C.txt"]);
  expect(await names("-filename")).toEqual(["C.txt", "b.txt", "a.txt"]);
  expect(await names("size")).toEqual(["b.txt", "a.txt", "C.txt"]);
  const query = { roomId, sort: "-filename", limit: "1" };
  const first = await owner.api.get<{ cursor: string }>(`/files?${new URLSearchParams(query)}`);
  const next = { roomId, after: first.data.cursor };
  expect(await values(owner, "files", "filename", next)).toEqual(["b.txt", "a.txt"]);
});

it.each([
  ["webhooks", "url", (name: string) => ({ url: `https://hooks.example.com/${name}` })],
  ["workflows", "name", (name: string) => ({ name, code: "export default async () => ({});" })],
] as const)("is that of %s by their %s and changes", async (list, field, fieldsOf) => {
  const owner = await account();
  const ids: Record<string, string> = {};
  for (const name of ["b", "A", "c"]) {
    const body = { ...fieldsOf(name), events: ["user.created"] };
    const { data } = await owner.api.post<Record<string, { id: string }>>(`/${list}`, body);
    ids[name] = Object.values(data)[0]?.id ?? "";
  }
  await owner.api.patch(`/${list}/${ids.b}`, { enabled: false });
  const found = (query: Record<string, string>) => values(owner, list, "id", query);
  expect(await found({ sort: field })).toEqual([ids.A, ids.b, ids.c]);
  expect(await found({ sort: `-${field}`, offset: "1" })).toEqual([ids.b, ids.A]);
  expect((await found({ sort: "-updated_at" }))?.[0]).toBe(ids.b);
});

it("is that of members by what the list shows of them, and of API keys by their names and last uses", async () => {
  const owner = await account();
  for (const role of ["member", "owner", "member"] as const) await addMember(owner.id, role);
  const members = (field: string, sort: string) => values(owner, "members", field, { sort });
  const emails = await members("email", "email");
  expect(emails).toHaveLength(3);
  expect(emails).toEqual(emails?.toSorted());
  expect(await members("email", "-email")).toEqual(emails?.toReversed());
  expect(await members("role", "-role")).toEqual(["owner", "member", "member"]);
  expect((await owner.api.get("/members?sort=role2")).error?.code).toBe("BAD_REQUEST");
  for (const name of ["b", "A", "c"]) await owner.api.post("/api-keys", { name });
  const keys = (field: string, sort: string) => values(owner, "api_keys", field, { sort }, "api-keys");
  expect(await keys("name", "name")).toEqual(["A", "b", "c", "Tests"]);
  expect(await keys("name", "-name")).toEqual(["Tests", "c", "b", "A"]);
  const used = await keys("last_used_at", "-last_used_at");
  expect(used?.map((at) => at !== null)).toEqual([true, false, false, false]);
});

it("is the same of members, invitations and API keys, however their pages are cut", async () => {
  const owner = await account();
  for (const role of ["member", "owner", "member", "member", "owner"] as const)
    await addMember(owner.id, role);
  for (const name of ["b", "A", "c", "b"]) await owner.api.post("/api-keys", { name });
  for (let made = 0; made < 5; made += 1) await owner.api.post("/invitations", {});
  await env.DB.batch([
    env.DB.prepare("UPDATE memberships SET joined_at = 1 WHERE account_id = ? AND role = 'owner'").bind(
      owner.id,
    ),
    env.DB.prepare("UPDATE api_keys SET last_used_at = 60000 WHERE account_id = ? AND name = 'b'").bind(
      owner.id,
    ),
    env.DB.prepare("UPDATE invitations SET created_at = 1 WHERE account_id = ?").bind(owner.id),
  ]);
  const both = (...fields: string[]) => fields.flatMap((field) => [{ sort: field }, { sort: `-${field}` }]);
  const cases = [
    ["members", "members", [{}, ...both("joined_at", "name", "email", "role")], 5],
    ["api_keys", "api-keys", [{}, ...both("created_at", "name", "last_used_at")], 5],
    ["invitations", "invitations", [{}], 5],
  ] as const;
  for (const [list, path, queries, total] of cases) {
    for (const query of queries) {
      const whole = await walk(owner, list, query, path);
      expect(whole).toHaveLength(total);
      for (const limit of ["1", "2", "3"])
        expect(await walk(owner, list, { ...query, limit }, path)).toEqual(whole);
    }
  }
});

it("of members is that of their present names", async () => {
  const owner = await signUp({ name: "Ada" });
  const api = owner.browser.api(owner.organization.id);
  for (const name of ["bo", "Cleo"]) {
    const { data } = await api.post<{ url: string }>("/invitations", {});
    await signUp({ name, invitation: tokenIn(data.url) });
  }
  const names = async () => {
    const { data } = await api.get<{ members: { name: string }[] }>("/members?sort=name");
    return data.members.map(({ name }) => name);
  };
  expect(await names()).toEqual(["Ada", "bo", "Cleo"]);
  expect((await owner.browser.send("PATCH", "/me", { name: "Dora" })).status).toBe(200);
  expect(await names()).toEqual(["bo", "Cleo", "Dora"]);
});

it("of members and API keys is read from an index, without sorting", async () => {
  const tenant = { accountId: "account", db: openDirectory(env) };
  const fields = {
    members: ["joined_at", "name", "email", "role"],
    keys: ["created_at", "name", "last_used_at"],
  };
  const statements = Object.entries(fields).flatMap(([list, names]) =>
    names.flatMap((by) =>
      [true, false].flatMap((descending) =>
        [undefined, { key: 1, id: "id" }].map((after) => {
          const page = { limit: 20, offset: 0, search: "", from: 0, to: 1, order: { by, descending }, after };
          return list === "members" ? selectMembers(tenant, page) : selectKeys(tenant, page);
        }),
      ),
    ),
  );
  for (const each of statements)
    expect((await planOf(each)).join()).toMatch(/^SEARCH (memberships|api_keys) USING INDEX \w+ \([^()]*\)$/);
});

// Lists that may lack the latest changes are read from the nearest replica, when the caller accepts that.

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
