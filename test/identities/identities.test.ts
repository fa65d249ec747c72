/** Identities, groups and their members over REST. */

import { env } from "cloudflare:workers";
import type { Group, Identity } from "@atrium/contract/resources/identity.ts";
import type { GroupMember } from "@atrium/contract/rest/identities.ts";
import { MAX_GROUPS } from "@atrium/contract/rest/identities.ts";
import { describe, expect, it } from "vitest";
import type { Env } from "../../src/env.ts";

import { type Account, account, refusalOf } from "../support/api.ts";
import { answerOf } from "../support/person.ts";
import { usesOf } from "../support/quotas.ts";

const identify = async ({ api }: Account, fields: object = {}): Promise<Identity> =>
  (await api.post<{ identity: Identity }>("/identities", { name: "Ada", ...fields })).data.identity;

const makeGroup = async ({ api }: Account, fields: object = {}): Promise<Group> =>
  (await api.post<{ group: Group }>("/groups", { name: "Designers", ...fields })).data.group;

const membersOf = async ({ api }: Account, { id }: Group, query = "") =>
  (
    await api.get<{ members: GroupMember[]; total: number; cursor: string | null }>(
      `/groups/${id}/members${query}`,
    )
  ).data;

const groupsOf = async ({ api }: Account, { id }: Identity) =>
  (await api.get<{ groups: Group[] }>(`/identities/${id}/groups`)).data.groups;

describe("an identity", () => {
  it("has what it was given, by its ID and by its custom ID", async () => {
    const owner = await account();
    const fields = { profilePicture: "https://pictures.test/ada.png", email: " Ada@Example.com" };
    const identity = await identify(owner, { ...fields, customId: "a/1", kind: "agent" });
    expect(identity).toEqual({
      id: expect.any(String),
      account_id: owner.id,
      kind: "agent",
      name: "Ada",
      custom_id: "a/1",
      profile_picture: fields.profilePicture,
      email: "ada@example.com",
      created_at: expect.any(String),
    });
    for (const path of [identity.id, "custom/a%2F1"])
      expect((await owner.api.get(`/identities/${path}`)).data).toEqual({ identity });
  });

  it("is a person without more than a name, and never made a guest", async () => {
    const owner = await account();
    expect(await identify(owner)).toMatchObject({ kind: "person", name: "Ada" });
    const guest = await owner.api.post("/identities", { name: "Gast", kind: "guest" });
    expect(refusalOf(guest)).toEqual([400, "Identities", "VALIDATION_ERROR"]);
  });

  it("changes field by field, keeps its custom ID to itself, and frees it", async () => {
    const owner = await account();
    const [ada, bo] = [await identify(owner, { customId: "ada" }), await identify(owner, { name: "Bo" })];
    const patch = (id: string, changes: object) =>
      owner.api.patch<{ identity: Identity }>(`/identities/${id}`, changes);
    expect((await patch(ada.id, { name: "Ada L." })).data.identity).toEqual({ ...ada, name: "Ada L." });
    for (const taken of [
      await patch(bo.id, { customId: "ada" }),
      await owner.api.post("/identities", { name: "Cleo", customId: "ada" }),
    ])
      expect(refusalOf(taken)).toEqual([409, "Identities", "CONFLICT"]);
    expect((await patch(ada.id, { customId: null })).data.identity).not.toHaveProperty("custom_id");
    expect((await patch(bo.id, { customId: "ada" })).data.identity.custom_id).toBe("ada");
    expect((await identify(await account(), { customId: "ada" })).custom_id).toBe("ada");
  });

  it("is found by its name and the start of its ID, page by page", async () => {
    const owner = await account();
    const made: Identity[] = [];
    for (const name of ["Ada", "Bo", "Çelik", "çetin"]) made.push(await identify(owner, { name }));
    const list = async (query: string) =>
      (
        await owner.api.get<{ identities: Identity[]; total: number; cursor: string | null }>(
          `/identities?${query}`,
        )
      ).data;
    const names = async (query: string) => (await list(query)).identities.map(({ name }) => name);
    expect(await names("search=ç&sort=name")).toEqual(["Çelik", "çetin"]);
    expect(await names(`search=${made[1]?.id.slice(0, 8)}`)).toEqual(["Bo"]);
    const first = await list("limit=3&sort=name");
    expect([first.total, first.identities.length]).toEqual([4, 3]);
    expect(await names(`limit=3&sort=name&after=${first.cursor}`)).toEqual(["çetin"]);
    await owner.api.post("/identities", { name: "Çobot", kind: "agent" });
    expect((await list("kind=person")).total).toBe(4);
    expect(await names("kind=agent,guest&search=ç")).toEqual(["Çobot"]);
    expect((await list("kind=guest&limit=1")).total).toBe(0);
    expect(refusalOf(await owner.api.get("/identities?kind=robot"))[0]).toBe(400);
  });

  it("leaves its groups when it is deleted, and its quotas go down", async () => {
    const owner = await account();
    const [identity, group] = [await identify(owner), await makeGroup(owner)];
    await owner.api.put(`/groups/${group.id}/members/${identity.id}`);
    expect(await usesOf(owner)).toMatchObject({ identities: 1, groups: 1, group_members: 1 });
    expect((await owner.api.delete(`/identities/${identity.id}`)).status).toBe(200);
    expect((await membersOf(owner, group)).members).toEqual([]);
    expect(await usesOf(owner)).toMatchObject({ identities: 0, groups: 1, group_members: 0 });
    expect(refusalOf(await owner.api.delete(`/identities/${identity.id}`))).toEqual([
      ...[404, "Identities", "NOT_FOUND"],
    ]);
  });
});

describe("a group", () => {
  it("has members, those first who were added last, each once", async () => {
    const owner = await account();
    const group = await makeGroup(owner, { customId: "team" });
    expect((await owner.api.get("/groups/custom/team")).data).toEqual({ group });
    const [ada, bo] = [await identify(owner), await identify(owner, { name: "Bo" })];
    for (const { id } of [ada, bo, ada])
      expect((await owner.api.put(`/groups/${group.id}/members/${id}`)).status).toBe(200);
    const { members, total } = await membersOf(owner, group);
    expect(new Set(members.map(({ identity }) => identity.id))).toEqual(new Set([ada.id, bo.id]));
    expect([members.length, total]).toEqual([2, 2]);
    const page = await membersOf(owner, group, "?limit=1");
    const rest = await membersOf(owner, group, `?limit=1&after=${page.cursor}`);
    expect([...page.members, ...rest.members]).toEqual(members);
    expect(await groupsOf(owner, ada)).toEqual([group]);
    await owner.api.delete(`/groups/${group.id}/members/${ada.id}`);
    expect(await groupsOf(owner, ada)).toEqual([]);
    const again = await owner.api.delete(`/groups/${group.id}/members/${ada.id}`);
    expect(refusalOf(again)).toEqual([404, "Identities", "NOT_FOUND"]);
  });

  it("takes its memberships along, and leaves the identities", async () => {
    const owner = await account();
    const [identity, group] = [await identify(owner), await makeGroup(owner)];
    await owner.api.put(`/groups/${group.id}/members/${identity.id}`);
    await owner.api.delete(`/groups/${group.id}`);
    expect(await groupsOf(owner, identity)).toEqual([]);
    expect(await usesOf(owner)).toMatchObject({ identities: 1, groups: 0, group_members: 0 });
  });

  it("takes no identity of another organization, and none that is in as many groups as one can be", async () => {
    const [owner, stranger] = [await account(), await account()];
    const [ada, group] = [await identify(owner), await makeGroup(owner)];
    const foreign = await identify(stranger);
    const refused = await owner.api.put(`/groups/${group.id}/members/${foreign.id}`);
    expect(refusalOf(refused)).toEqual([404, "Identities", "NOT_FOUND"]);
    const add = ({ id }: Group) => owner.api.put(`/groups/${id}/members/${ada.id}`);
    const first = await makeGroup(owner);
    const others = JSON.stringify(Array.from({ length: MAX_GROUPS - 1 }, () => crypto.randomUUID()));
    await env.DB.batch([
      env.DB.prepare(
        `INSERT INTO identity_groups (account_id, id, name, name_folded, created_at)
         SELECT ?, value, 'Team', 'TEAM', 0 FROM json_each(?)`,
      ).bind(owner.id, others),
      env.DB.prepare(
        `INSERT INTO group_members (account_id, group_id, identity_id, added_at)
         SELECT ?, value, ?, 0 FROM json_each(?)`,
      ).bind(owner.id, ada.id, others),
    ]);
    expect((await add(first)).status).toBe(200);
    expect(refusalOf(await add(group))).toEqual([409, "Identities", "CONFLICT"]);
    expect((await add(first)).status).toBe(200);
    await owner.api.delete(`/groups/${first.id}/members/${ada.id}`);
    expect((await add(group)).status).toBe(200);
    expect(await groupsOf(owner, ada)).toHaveLength(MAX_GROUPS);
  });
});

describe("an identity that is deleted while a request is about it", () => {
  /** The database, where `change` comes between a request's read and its first batch with such a statement. */
  function overtakenAt(pattern: RegExp, change: () => Promise<unknown>): Partial<Env> {
    let isDue: boolean | null = null;
    const prepare = (sql: string) => {
      isDue ??= pattern.test(sql) || null;
      return env.DB.prepare(sql);
    };
    const batch = async (statements: D1PreparedStatement[]) => {
      if (isDue === true) {
        isDue = false;
        await change();
      }
      return env.DB.batch(statements);
    };
    const DB = new Proxy(env.DB, {
      get: (target, name) => ({ prepare, batch })[String(name)] ?? Reflect.get(target, name),
    });
    return { DB };
  }

  const send = <Data>(bindings: Partial<Env>, { api }: Account, path: string, body: object) => {
    const headers = { "Content-Type": "application/json" };
    return answerOf<Data>(bindings, api.request("POST", path, { headers, body: JSON.stringify(body) }));
  };

  it.each([
    ["with groups", { groups: ["team"] }],
    ["without groups", {}],
    ["that it leaves", { groups: [] }],
  ])("is created anew by identify %s", async (_, fields) => {
    const owner = await account();
    const group = await makeGroup(owner, { customId: "team" });
    const before = await identify(owner, { customId: "ada" });
    await owner.api.put(`/groups/${group.id}/members/${before.id}`, {});
    const gone = overtakenAt(/^update "identities"/, () => owner.api.delete(`/identities/${before.id}`));
    const body = { customId: "ada", name: "Ada L.", ...fields };
    const answer = await send<{ identity: Identity; token: string }>(gone, owner, "/identify", body);
    expect([answer.status, answer.error]).toEqual([200, null]);
    const { identity, token } = answer.data;
    expect(identity.id).not.toBe(before.id);
    expect((await owner.api.get(`/identities/${identity.id}`)).data).toEqual({ identity });
    expect((await owner.api.as(token).get("/me/inbox-notifications/count")).status).toBe(200);
    expect((await groupsOf(owner, identity)).length).toBe(
      (fields as { groups?: string[] }).groups?.length ?? 0,
    );
  });

  it("has a token of its present epoch when its tokens end meanwhile", async () => {
    const owner = await account();
    const { id } = await identify(owner, { customId: "ada" });
    const ended = overtakenAt(/^update "identities"/, () => owner.api.delete(`/identities/${id}/tokens`));
    const body = { customId: "ada", name: "Ada L." };
    const { data } = await send<{ token: string }>(ended, owner, "/identify", body);
    expect((await owner.api.as(data.token).get("/me/inbox-notifications/count")).status).toBe(200);
  });

  it("gets no user, access or group", async () => {
    const owner = await account();
    const [room, group] = [await owner.api.createRoom(), await makeGroup(owner)];
    const make = async () => (await identify(owner)).id;
    const [first, second, third] = [await make(), await make(), await make()];
    const gone = (pattern: RegExp, id: string) =>
      overtakenAt(pattern, () => owner.api.delete(`/identities/${id}`));
    const user = { name: "Ada", roomId: room.id, identityId: first };
    const created = await send(gone(/^insert into "users"/, first), owner, "/users", user);
    expect(refusalOf(created)).toEqual([404, "Users", "NOT_FOUND"]);
    const put = (bindings: Partial<Env>, path: string, body: object) => {
      const headers = { "Content-Type": "application/json" };
      return answerOf(bindings, owner.api.request("PUT", path, { headers, body: JSON.stringify(body) }));
    };
    const access = { identitiesAccesses: { [second]: "editor" } };
    const granted = await put(gone(/INSERT INTO room_access/, second), `/rooms/${room.id}/access`, access);
    expect(refusalOf(granted)).toEqual([400, "Access", "VALIDATION_ERROR"]);
    const path = `/groups/${group.id}/members/${third}`;
    expect(refusalOf(await put(gone(/INSERT INTO group_members/, third), path, {}))).toEqual([
      ...[404, "Identities", "NOT_FOUND"],
    ]);
    const { results } = await env.DB.prepare(
      "SELECT 1 FROM users WHERE account_id = ?1 UNION ALL SELECT 1 FROM room_access WHERE account_id = ?1",
    )
      .bind(owner.id)
      .all();
    expect(results).toEqual([]);
  });
});
