/** Rights of identities in a room, over REST. */

import { env } from "cloudflare:workers";
import { BAN, PRESETS } from "@atrium/contract/resources/permissions.ts";
import {
  type AccessDecision,
  MAX_NAMED,
  type RoomAccess,
  type RoomAccessInput,
} from "@atrium/contract/rest/access.ts";
import type { AuditEntry } from "@atrium/contract/rest/audit.ts";
import { MAX_GROUPS } from "@atrium/contract/rest/identities.ts";
import { beforeAll, describe, expect, it } from "vitest";

import { purgeDeletedRooms } from "../../src/features/rooms/commands.ts";
import { openDirectory } from "../../src/platform/d1/databases.ts";
import { WorkBudget } from "../../src/platform/flow/work-budget.ts";
import { RecordingSubscriber } from "../delivery/recording-subscriber.ts";
import { type Account, type Api, account, refusalOf } from "../support/api.ts";
import { costOf } from "../support/counting.ts";
import { expectLogged } from "../support/log-guard.ts";
import { addMember } from "../support/person.ts";
import { setLimit, usesOf } from "../support/quotas.ts";
import { rowsReadBy } from "../support/rows-read.ts";

/** An organization with a room, two identities, and two groups that have the first one. */
interface Stage {
  readonly owner: Account;
  readonly api: Api;
  readonly roomId: string;
  readonly ada: string;
  readonly bo: string;
  readonly team: string;
  readonly crew: string;
}

const idOf = async (api: Api, path: string, body: object): Promise<string> => {
  const { data } = await api.post<Record<string, { id: string }>>(path, body);
  return Object.values(data)[0]?.id ?? "";
};

async function stage(): Promise<Stage> {
  const owner = await account();
  const { api } = owner;
  const ids = {
    roomId: await idOf(api, "/rooms", { name: "Plan" }),
    ada: await idOf(api, "/identities", { name: "Ada", customId: "ada" }),
    bo: await idOf(api, "/identities", { name: "Bo" }),
    team: await idOf(api, "/groups", { name: "Team" }),
    crew: await idOf(api, "/groups", { name: "Crew", customId: "crew" }),
  };
  for (const group of [ids.team, ids.crew]) await api.put(`/groups/${group}/members/${ids.ada}`);
  return { owner, api, ...ids };
}

type Changed = Partial<RoomAccess> & { readonly pending_rooms: number };
type Shown = RoomAccess & { readonly total: number; readonly cursor: string | null };

const put = ({ api, roomId }: Pick<Stage, "api" | "roomId">, body: RoomAccessInput | object) =>
  api.put<Changed>(`/rooms/${roomId}/access`, body);

const get = async ({ api, roomId }: Pick<Stage, "api" | "roomId">, query = "") =>
  (await api.get<Shown>(`/rooms/${roomId}/access${query}`)).data;

const check = async ({ api, roomId }: Pick<Stage, "api" | "roomId">, identityId: string) =>
  (await api.post<AccessDecision>(`/rooms/${roomId}/access/check`, { identityId })).data;

/** The entries by name. */
const brief = ({
  default_accesses,
  groups_accesses,
  identities_accesses,
}: RoomAccess): Record<string, unknown> => ({
  all: default_accesses,
  ...Object.fromEntries(
    [...groups_accesses, ...identities_accesses].map(({ name, permissions }) => [name, permissions]),
  ),
});

const [VIEWER, COMMENTER, EDITOR] = [PRESETS.viewer, PRESETS.commenter, PRESETS.editor];

describe("a change of access", () => {
  it.each<[title: string, changes: (stage: Stage) => readonly RoomAccessInput[], after: object]>([
    ["is nothing at first", () => [], { all: [] }],
    [
      "takes presets and permissions, in any order and repeated",
      ({ team, ada }) => [
        {
          defaultAccesses: "viewer",
          groupsAccesses: { [team]: "commenter" },
          identitiesAccesses: { [ada]: ["files:write", "*:read", "*:read"] },
        },
      ],
      { all: VIEWER, Team: COMMENTER, Ada: ["*:read", "files:write"] },
    ],
    [
      "leaves what it does not name",
      ({ team, crew, ada, bo }) => [
        {
          defaultAccesses: "viewer",
          groupsAccesses: { [team]: "editor" },
          identitiesAccesses: { [ada]: "editor" },
        },
        { groupsAccesses: { [crew]: "viewer" } },
        { identitiesAccesses: { [bo]: "viewer" } },
      ],
      { all: VIEWER, Team: EDITOR, Crew: VIEWER, Ada: EDITOR, Bo: VIEWER },
    ],
    [
      "replaces an entry as a whole",
      ({ team }) => [
        { groupsAccesses: { [team]: ["*:read", "comments:write"] } },
        { groupsAccesses: { [team]: ["stores:read"] } },
      ],
      { all: [], Team: ["stores:read"] },
    ],
    [
      "removes by null, sets others beside it, and removes what is not there",
      ({ team, crew, ada, bo }) => [
        { groupsAccesses: { [team]: "editor" }, identitiesAccesses: { [ada]: "editor" } },
        {
          groupsAccesses: { [team]: null, [crew]: "viewer" },
          identitiesAccesses: { [ada]: null, [bo]: null },
        },
        { identitiesAccesses: { [crypto.randomUUID()]: null } },
      ],
      { all: [], Crew: VIEWER },
    ],
    [
      "closes the default by an empty array, and nothing else",
      ({ ada }) => [
        { defaultAccesses: "editor", identitiesAccesses: { [ada]: "viewer" } },
        { defaultAccesses: [] },
      ],
      { all: [], Ada: VIEWER },
    ],
    [
      "bans an identity, and takes it back",
      ({ ada, bo }) => [
        { identitiesAccesses: { [ada]: [BAN], [bo]: [BAN] } },
        { identitiesAccesses: { [bo]: "editor" } },
      ],
      { all: [], Ada: [BAN], Bo: EDITOR },
    ],
    ["is nothing without entries", () => [{ groupsAccesses: {}, identitiesAccesses: {} }], { all: [] }],
  ])("%s", async (_, changes, after) => {
    const room = await stage();
    for (const change of changes(room)) expect((await put(room, change)).status).toBe(200);
    expect(brief(await get(room))).toEqual(after);
  });

  it("answers with what it named, each entry with its name", async () => {
    const room = await stage();
    await put(room, { groupsAccesses: { [room.team]: "viewer" } });
    const { data } = await put(room, {
      groupsAccesses: { [room.crew]: "editor", [room.team]: null },
      identitiesAccesses: { [room.ada]: [BAN] },
    });
    expect(data).toEqual({
      groups_accesses: [{ id: room.crew, name: "Crew", custom_id: "crew", permissions: EDITOR }],
      identities_accesses: [{ id: room.ada, name: "Ada", custom_id: "ada", permissions: [BAN] }],
      pending_rooms: 0,
    });
    expect((await put(room, { defaultAccesses: [] })).data).toEqual({
      default_accesses: [],
      pending_rooms: 0,
    });
  });

  it.each<[title: string, body: (stage: Stage) => object, message: RegExp]>([
    ["without a field", () => ({}), /at least one of defaultAccesses, groupsAccesses, identitiesAccesses/],
    ["with another field", () => ({ default: "viewer" }), /default: is not a known field/],
    [
      "with another preset",
      () => ({ defaultAccesses: "admin" }),
      /^defaultAccesses: must be an array .*presets/,
    ],
    [
      "with another permission",
      ({ team }) => ({ groupsAccesses: { [team]: ["rooms:write"] } }),
      /^groupsAccesses\..*documents:write/,
    ],
    [
      "with an empty array for a group",
      ({ team }) => ({ groupsAccesses: { [team]: [] } }),
      /at least one of/,
    ],
    [
      "with an empty array for an identity",
      ({ ada }) => ({ identitiesAccesses: { [ada]: [] } }),
      /at least one of/,
    ],
    ["with a ban by default", () => ({ defaultAccesses: [BAN] }), /^defaultAccesses/],
    ["with a ban of a group", ({ team }) => ({ groupsAccesses: { [team]: [BAN] } }), /^groupsAccesses/],
    [
      "with a ban beside permissions",
      ({ ada }) => ({ identitiesAccesses: { [ada]: [BAN, "*:read"] } }),
      /^identitiesAccesses/,
    ],
    ["with null by default", () => ({ defaultAccesses: null }), /^defaultAccesses/],
    [
      "with an ID that is none",
      () => ({ groupsAccesses: { designers: "viewer" } }),
      /^groupsAccesses\.designers: is no group's ID/,
    ],
    ["with an array of groups", () => ({ groupsAccesses: [] }), /^groupsAccesses/],
    [
      "with a group as an identity",
      ({ team }) => ({ identitiesAccesses: { [team]: "viewer" } }),
      /^identitiesAccesses\..*: there is no such identity$/,
    ],
    [
      "with an identity as a group",
      ({ ada }) => ({ groupsAccesses: { [ada]: "viewer" } }),
      /^groupsAccesses\..*: there is no such group$/,
    ],
  ])("is refused %s", async (_, body, message) => {
    const room = await stage();
    const answer = await put(room, body(room));
    expect(refusalOf(answer)).toEqual([400, "Access", "VALIDATION_ERROR"]);
    expect(answer.error?.message).toMatch(message);
    expect(brief(await get(room))).toEqual({ all: [] });
  });

  it("names groups and identities that do not exist or are another organization's, and changes nothing", async () => {
    const [room, other] = [await stage(), await stage()];
    await put(room, { groupsAccesses: { [room.crew]: "viewer" } });
    const before = [await get(room), await usesOf(room.owner)];
    const answer = await put(room, {
      defaultAccesses: "editor",
      groupsAccesses: { [room.team]: "editor", [room.crew]: null, [other.team]: "editor" },
      identitiesAccesses: { [room.ada]: "editor", [other.ada]: "editor" },
    });
    expect(refusalOf(answer)).toEqual([400, "Access", "VALIDATION_ERROR"]);
    expect(answer.error?.message).toBe(
      `groupsAccesses.${other.team}: there is no such group; identitiesAccesses.${other.ada}: there is no such identity`,
    );
    expect([await get(room), await usesOf(room.owner)]).toEqual(before);
    expect(await auditOf(room)).toHaveLength(1);
  });

  it("leaves the entries of other rooms, which give nothing here", async () => {
    const here = await stage();
    const there = { ...here, roomId: await idOf(here.api, "/rooms", { name: "Other" }) };
    const { team, bo } = here;
    const entries = { groupsAccesses: { [team]: "editor" }, identitiesAccesses: { [bo]: "viewer" } } as const;
    for (const room of [here, there]) await put(room, { defaultAccesses: "viewer", ...entries });
    const nothing = { groupsAccesses: { [team]: null }, identitiesAccesses: { [bo]: null } };
    await put(here, { defaultAccesses: [], ...nothing });
    expect(brief(await get(there))).toEqual({ all: VIEWER, Team: EDITOR, Bo: VIEWER });
    expect(await Promise.all([here.ada, here.bo].map((id) => check(here, id)))).toMatchObject([
      { permissions: [] },
      { permissions: [] },
    ]);
  });

  it("is one of a room that exists", async () => {
    const [room, other] = [await stage(), await stage()];
    for (const roomId of [other.roomId, crypto.randomUUID()]) {
      const answer = await put({ ...room, roomId }, { identitiesAccesses: { [room.ada]: "editor" } });
      expect(refusalOf(answer)).toEqual([404, "Rooms", "NOT_FOUND"]);
    }
    expect(brief(await get(other))).toEqual({ all: [] });
  });

  it("leaves an entry in the audit log, however many it names, and none if it changes nothing", async () => {
    const room = await stage();
    const body: RoomAccessInput = {
      defaultAccesses: [],
      groupsAccesses: { [room.team]: "commenter" },
      identitiesAccesses: { [room.ada]: [BAN], [room.bo]: null },
    };
    for (const _ of [1, 2]) await put(room, body);
    const [entry, ...others] = await auditOf(room);
    expect(others).toEqual([]);
    expect(entry).toMatchObject({
      operation: "updateRoomAccess",
      changes: {
        defaultAccesses: "nothing",
        groupsAccesses: `${room.team}: *:read presence:write comments:write`,
        identitiesAccesses: `${room.ada}: none; ${room.bo}: removed`,
      },
    });
    const many = Array.from({ length: MAX_NAMED }, () => [crypto.randomUUID(), null]);
    await put(room, { defaultAccesses: "viewer", identitiesAccesses: Object.fromEntries(many) });
    const [large] = await auditOf(room);
    expect(large?.changes.identitiesAccesses).toMatch(/removed; 995 more$/);
  });

  it("is an event of its room, unless it changes nothing", async () => {
    const room = await stage();
    const receiver = await RecordingSubscriber.create(room.api, { events: ["access.changed"] });
    for (const access of ["viewer", "viewer", "editor"] as const)
      await put(room, { defaultAccesses: access });
    const changed = { event: "access.changed", room: { id: room.roomId }, data: { roomId: room.roomId } };
    expect(await receiver.receivedEvents(2)).toMatchObject([changed, changed]);
  });

  it("costs one trip to the database, and reaches the room only if there is a change and it was ever joined", async () => {
    const room = await stage();
    const path = `/rooms/${room.roomId}/access`;
    const cost = (defaultAccesses: string) => costOf(room.owner, "PUT", path, { defaultAccesses });
    // Two more trips clear the outbox, and find the inboxes that the default concerns; no response waits for them.
    expect(await cost("viewer")).toMatchObject({ status: 200, trips: 3, objectCalls: 0 });
    await env.DB.prepare("UPDATE rooms SET first_join_at = 1 WHERE id = ?").bind(room.roomId).run();
    expect(await cost("editor")).toMatchObject({ status: 200, trips: 3, objectCalls: 1 });
    expect(await cost("editor")).toMatchObject({ status: 200, trips: 1, objectCalls: 0 });
    expect(await costOf(room.owner, "GET", path)).toMatchObject({ trips: 1, objectCalls: 0 });
    const question = { identityId: room.ada };
    expect(await costOf(room.owner, "POST", `${path}/check`, question)).toMatchObject({
      trips: 1,
      objectCalls: 0,
    });
  });

  it("at the same time as others is whole, and loses none of them", async () => {
    const room = await stage();
    const both = [EDITOR, VIEWER] as const;
    const answers = await Promise.all([
      ...both.map((access) =>
        put(room, { groupsAccesses: { [room.team]: access }, identitiesAccesses: { [room.ada]: access } }),
      ),
      put(room, { groupsAccesses: { [room.crew]: "commenter" } }),
      put(room, { identitiesAccesses: { [room.bo]: [BAN] } }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const { Team: team, Ada: ada, ...others } = brief(await get(room));
    expect(team).toEqual(ada);
    expect(both).toContainEqual(team);
    expect(others).toEqual({ all: [], Crew: COMMENTER, Bo: [BAN] });
    expect(await usesOf(room.owner)).toMatchObject({ access_entries: 4 });
  });

  it("at the same time as the deletion of its group leaves no entry of it", async () => {
    const room = await stage();
    const groups = await Promise.all(
      Array.from({ length: 20 }, () => idOf(room.api, "/groups", { name: "Short-lived" })),
    );
    const answers = await Promise.all(
      groups.map(async (id) => {
        const [answer] = await Promise.all([
          put(room, { groupsAccesses: { [id]: "editor" } }),
          room.api.delete(`/groups/${id}`),
        ]);
        return answer.status;
      }),
    );
    expect(answers.filter((status) => status !== 200 && status !== 400)).toEqual([]);
    expect(brief(await get(room))).toEqual({ all: [] });
    expect(await usesOf(room.owner)).toMatchObject({ access_entries: 0 });
  });

  it("is refused beyond the quota as a whole, and what removes or closes is not", async () => {
    const room = await stage();
    await put(room, {
      defaultAccesses: "viewer",
      groupsAccesses: { [room.team]: "viewer", [room.crew]: "viewer" },
    });
    expect(await usesOf(room.owner)).toMatchObject({ access_entries: 2 });
    await setLimit(room.owner, "access_entries", 2);
    const answer = await put(room, {
      groupsAccesses: { [room.team]: null },
      identitiesAccesses: { [room.ada]: "viewer", [room.bo]: "viewer" },
    });
    expect(refusalOf(answer)).toEqual([403, "Accounts", "FORBIDDEN"]);
    expect(answer.error?.message).toContain("remove groups and identities from the access of rooms");
    expect(brief(await get(room))).toEqual({ all: VIEWER, Team: VIEWER, Crew: VIEWER });
    await setLimit(room.owner, "access_entries", 0);
    expect((await put(room, { defaultAccesses: [], groupsAccesses: { [room.team]: null } })).status).toBe(
      200,
    );
    expect(await usesOf(room.owner)).toMatchObject({ access_entries: 1 });
  });

  it("above a lowered quota changes and exchanges entries, and adds none", async () => {
    const room = await stage();
    await put(room, { groupsAccesses: { [room.team]: "viewer", [room.crew]: "viewer" } });
    await setLimit(room.owner, "access_entries", 0);
    await setLimit(room.owner, "identities", 0);
    await setLimit(room.owner, "group_members", 0);
    const status = async (change: RoomAccessInput) => (await put(room, change)).status;
    expect(await status({ groupsAccesses: { [room.team]: "editor" } })).toBe(200);
    const exchanged: RoomAccessInput = {
      groupsAccesses: { [room.crew]: null },
      identitiesAccesses: { [room.ada]: "viewer" },
    };
    expect(await status(exchanged)).toBe(200);
    expect(await status({ identitiesAccesses: { [room.bo]: "viewer" } })).toBe(403);
    expect(brief(await get(room))).toEqual({ all: [], Team: EDITOR, Ada: VIEWER });
    // Changes of an identity or its groups do so, too.
    const renamed = { customId: "ada", name: "Ada L." };
    expect((await room.api.post("/identify", renamed)).status).toBe(200);
    expect((await room.api.post("/identify", { ...renamed, groups: ["crew"] })).status).toBe(200);
    expect((await room.api.put(`/groups/${room.crew}/members/${room.ada}`)).status).toBe(200);
    expect((await room.api.put(`/groups/${room.crew}/members/${room.bo}`)).status).toBe(403);
    expect((await room.api.post("/identify", { customId: "new", name: "Cleo" })).status).toBe(403);
  });

  it("ends with its identity and its group", async () => {
    const room = await stage();
    await put(room, {
      groupsAccesses: { [room.team]: "viewer", [room.crew]: "viewer" },
      identitiesAccesses: { [room.ada]: "viewer", [room.bo]: "viewer" },
    });
    await room.api.delete(`/identities/${room.ada}`);
    await room.api.delete(`/groups/${room.team}`);
    expect(brief(await get(room))).toEqual({ all: [], Crew: VIEWER, Bo: VIEWER });
    expect(await usesOf(room.owner)).toMatchObject({ access_entries: 2 });
  });
});

const auditOf = async ({ api, roomId }: Stage): Promise<AuditEntry[]> =>
  (await api.get<{ entries: AuditEntry[] }>(`/audit?resource=access&resourceId=${roomId}`)).data.entries;

describe("the access to a room", () => {
  it("is read page by page: groups, then identities, each by ID, and the default on each page", async () => {
    const room = await stage();
    await put(room, {
      defaultAccesses: "viewer",
      groupsAccesses: { [room.team]: "editor", [room.crew]: "viewer" },
      identitiesAccesses: { [room.ada]: "editor", [room.bo]: [BAN] },
    });
    const whole = await get(room);
    const ids = ({ groups_accesses, identities_accesses }: RoomAccess) =>
      [...groups_accesses, ...identities_accesses].map(({ id }) => id);
    expect(ids(whole)).toEqual([...[room.team, room.crew].sort(), ...[room.ada, room.bo].sort()]);
    expect([whole.total, whole.cursor]).toEqual([4, null]);
    const pages: Shown[] = [];
    let after = "";
    do {
      const page = await get(room, `?limit=1${after}`);
      pages.push(page);
      after = `&after=${page.cursor}`;
    } while (pages.at(-1)?.cursor !== null);
    expect(pages.flatMap(ids)).toEqual(ids(whole));
    expect(pages.map(({ total, default_accesses }) => [total, default_accesses])).toEqual(
      pages.map(() => [4, VIEWER]),
    );
    expect(ids(await get(room, "?limit=2&offset=1"))).toEqual(ids(whole).slice(1, 3));
  });
});

describe("a check", () => {
  let room: Stage;
  beforeAll(async () => {
    room = await stage();
  });

  it.each<
    [
      title: string,
      access: (stage: Stage) => RoomAccessInput,
      permissions: readonly string[],
      sources: object,
    ]
  >([
    [
      "finds no entry",
      () => ({ defaultAccesses: [] }),
      [],
      { stores: "none by null", comments: "none by null" },
    ],
    [
      "falls back to the default",
      () => ({ defaultAccesses: "commenter" }),
      COMMENTER,
      { stores: "read by default", comments: "write by default" },
    ],
    [
      "takes the highest of the groups, and names them",
      ({ team, crew }) => ({
        groupsAccesses: { [team]: ["comments:write"], [crew]: ["stores:write", "comments:write"] },
      }),
      ["*:read", "presence:write", "stores:write", "comments:write"],
      {
        stores: "write by groups: Crew",
        comments: "write by groups: Crew, Team",
        presence: "write by default",
      },
    ],
    [
      "puts the identity's own entry first",
      ({ ada }) => ({ identitiesAccesses: { [ada]: ["comments:read"] } }),
      ["*:read", "presence:write", "stores:write"],
      { stores: "write by groups: Crew", comments: "read by identity", presence: "write by default" },
    ],
    [
      "says that a banned identity may not enter",
      ({ ada }) => ({ identitiesAccesses: { [ada]: [BAN] } }),
      [],
      { stores: "none by identity", comments: "none by identity" },
    ],
  ])("%s", async (_, access, permissions, expected) => {
    expect((await put(room, access(room))).status).toBe(200);
    const decision = await check(room, room.ada);
    expect(decision.permissions).toEqual(permissions);
    const names = new Map([
      [room.team, "Team"],
      [room.crew, "Crew"],
    ]);
    const sources = decision.sources.map(({ resource, level, source, group_ids }) => {
      const groups = group_ids?.map((id) => names.get(id) ?? id).sort();
      return [resource, `${level} by ${source}${groups ? `: ${groups.join(", ")}` : ""}`] as const;
    });
    expect(Object.fromEntries(sources)).toMatchObject(expected);
  });

  it("is about an identity and a room that exist", async () => {
    const ask = (roomId: string, identityId: string) =>
      room.api.post(`/rooms/${roomId}/access/check`, { identityId });
    const missing = crypto.randomUUID();
    expect(refusalOf(await ask(room.roomId, missing))).toEqual([404, "Identities", "NOT_FOUND"]);
    expect(refusalOf(await ask(missing, room.ada))).toEqual([404, "Rooms", "NOT_FOUND"]);
  });
});

describe("the default of new rooms", () => {
  it("is copied into each room that is created from then on", async () => {
    const { api, roomId } = await stage();
    expect((await api.get("/access/default")).data).toEqual({ default_accesses: [] });
    const set = (defaultAccesses: unknown) => api.put("/access/default", { defaultAccesses });
    expect((await set("viewer")).data).toEqual({ default_accesses: VIEWER });
    const second = (await api.createRoom()).id;
    expect((await set(["comments:write", "*:read"])).status).toBe(200);
    expect((await api.get("/access/default")).data).toEqual({
      default_accesses: ["*:read", "comments:write"],
    });
    const third = (await api.createRoom()).id;
    expect((await set([])).status).toBe(200);
    const fourth = (await api.createRoom()).id;
    const defaults = await Promise.all(
      [roomId, second, third, fourth].map(async (id) => (await get({ api, roomId: id })).default_accesses),
    );
    expect(defaults).toEqual([[], VIEWER, ["*:read", "comments:write"], []]);
    for (const wrong of [null, "none", [BAN], {}])
      expect(refusalOf(await set(wrong))).toEqual([400, "Access", "VALIDATION_ERROR"]);
  });

  it("is set by owners, read by members, and recorded", async () => {
    const { owner, api } = await stage();
    const { browser } = await addMember(owner.id, "member");
    const member = browser.api(owner.id);
    expect(refusalOf(await member.put("/access/default", { defaultAccesses: "editor" }))).toEqual([
      ...[403, "Auth", "FORBIDDEN"],
    ]);
    for (const _ of [1, 2]) await api.put("/access/default", { defaultAccesses: "editor" });
    expect((await member.get("/access/default")).data).toEqual({ default_accesses: EDITOR });
    const { entries } = (await api.get<{ entries: AuditEntry[] }>("/audit?resource=access")).data;
    expect(entries.map(({ resource, changes }) => [resource.id, changes])).toEqual([
      [null, { defaultAccesses: "*:write" }],
    ]);
  });
});

describe("a room with many entries", () => {
  /** Inserts entries of identities that need not exist. */
  const insertEntries = ({ owner, roomId }: Stage, count: number) =>
    env.DB.prepare(
      `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers LIMIT ?3)
       INSERT INTO room_access SELECT ?1, ?2, 'identity', printf('%08x-0000-4000-8000-%012d', n, n), '["*:read"]' FROM numbers`,
    )
      .bind(owner.id, roomId, count)
      .run();

  it(`takes ${MAX_NAMED} in one request, and no more`, async () => {
    const room = await stage();
    const ids = Array.from({ length: MAX_NAMED }, () => crypto.randomUUID());
    await env.DB.prepare(
      `INSERT INTO identities (account_id, id, kind, name, name_folded, created_at)
       SELECT ?, value, 'person', 'Person', 'PERSON', 1 FROM json_each(?)`,
    )
      .bind(room.owner.id, JSON.stringify(ids))
      .run();
    const all = Object.fromEntries(ids.map((id) => [id, ["*:read", "presence:write", "comments:write"]]));
    const answer = await put(room, { identitiesAccesses: all });
    expect(answer.data.identities_accesses).toHaveLength(MAX_NAMED);
    expect((await get(room)).total).toBe(MAX_NAMED);
    const refused = await put(room, { groupsAccesses: { [room.team]: "viewer" }, identitiesAccesses: all });
    expect(refusalOf(refused)).toEqual([400, "Access", "VALIDATION_ERROR"]);
    expect(refused.error?.message).toContain(`at most ${MAX_NAMED}`);
  });

  it("is checked and changed by as few rows as one with few, whatever groups an identity is in", async () => {
    const room = await stage();
    const groups = JSON.stringify(Array.from({ length: MAX_GROUPS - 2 }, () => crypto.randomUUID()));
    await env.DB.batch(
      [
        "INSERT INTO identity_groups SELECT ?1, value, 'G', 'G', NULL, 1 FROM json_each(?2) WHERE ?3 <> ''",
        "INSERT INTO group_members SELECT ?1, value, ?3, 1 FROM json_each(?2)",
      ].map((sql) => env.DB.prepare(sql).bind(room.owner.id, groups, room.ada)),
    );
    const costs = async () => [
      await rowsReadBy(() => check(room, room.ada)),
      await rowsReadBy(() => put(room, { identitiesAccesses: { [room.bo]: "editor" } })),
      await rowsReadBy(() => put(room, { identitiesAccesses: { [room.bo]: null } })),
    ];
    const few = await costs();
    await insertEntries(room, 5_000);
    const many = await costs();
    for (const [at, rows] of many.entries()) expect(rows).toBeLessThanOrEqual((few[at] ?? 0) + 20);
    await env.DB.prepare(
      `INSERT INTO room_access SELECT ?1, ?2, 'group', group_id, '["stores:read"]' FROM group_members
       WHERE account_id = ?1 AND identity_id = ?3`,
    )
      .bind(room.owner.id, room.roomId, room.ada)
      .run();
    const rows = await rowsReadBy(async () => {
      const { sources } = await check(room, room.ada);
      const stores = sources.find(({ resource }) => resource === "stores");
      expect(stores?.group_ids).toHaveLength(MAX_GROUPS);
    });
    expect(rows).toBeLessThan(4 * MAX_GROUPS);
    const { cursor } = await get(room, "?limit=1&offset=4000");
    const page = await rowsReadBy(() => get(room, `?limit=10&after=${cursor}`));
    expect(page).toBeLessThan(40);
  });

  it("is deleted in chunks", async () => {
    const room = await stage();
    const db = openDirectory(env);
    await purgeDeletedRooms(db); // remains of earlier tests
    await insertEntries(room, 2_500);
    await put(room, { defaultAccesses: "viewer" });
    const left = async () => {
      const counted = env.DB.prepare("SELECT count(*) AS n FROM room_access WHERE account_id = ?");
      return (await counted.bind(room.owner.id).first<{ n: number }>())?.n;
    };
    expect((await room.api.delete(`/rooms/${room.roomId}`)).status).toBe(200);
    expect(refusalOf(await put(room, { defaultAccesses: [] }))).toEqual([404, "Rooms", "NOT_FOUND"]);
    expect(await left()).toBe(1_501);
    await purgeDeletedRooms(db, new WorkBudget(1));
    expect(await left()).toBe(501);
    await purgeDeletedRooms(db);
    const row = env.DB.prepare("SELECT 1 FROM rooms WHERE id = ?").bind(room.roomId);
    expect([await left(), await row.first()]).toEqual([0, null]);
    expect(await usesOf(room.owner)).toMatchObject({ access_entries: 0 });
  });

  /** Gives a group access to `many` new rooms, and as many members; an identity access alone. */
  async function insertRooms({ owner, team, ada }: Stage, kind: "group" | "identity", many: number) {
    const ids = JSON.stringify(Array.from({ length: many }, () => crypto.randomUUID()));
    const insert = (sql: string) =>
      env.DB.prepare(sql).bind(owner.id, ids, kind, kind === "group" ? team : ada);
    for (const statement of [
      insert(`INSERT INTO rooms (account_id, id, name, name_folded, state, created_at)
        SELECT ?1, value, 'R', 'R', 'active', 1 FROM json_each(?2) WHERE ?3 = ?3 AND ?4 = ?4`),
      insert(`INSERT INTO room_access SELECT ?1, value, ?3, ?4, '["*:read"]' FROM json_each(?2)`),
      insert(`INSERT INTO identities (account_id, id, kind, name, name_folded, created_at)
        SELECT ?1, value, 'person', 'A', 'A', 1 FROM json_each(?2) WHERE ?3 = 'group' AND ?4 = ?4`),
      insert(`INSERT INTO group_members SELECT ?1, ?4, value, 1 FROM json_each(?2) WHERE ?3 = 'group'`),
    ])
      await statement.run();
  }

  it("of an identity ends behind its tokens, so that no ban ends before them", async () => {
    const room = await stage();
    const { owner, api, ada } = room;
    await put(room, { defaultAccesses: "viewer" });
    await insertRooms(room, "identity", 1_001);
    const body = { name: "Ada", roomId: room.roomId, identityId: ada };
    const { user } = (await api.post<{ user: { token: string } }>("/users", body)).data;
    const statusOf = async () => (await api.as(user.token).get(`/users?roomId=${room.roomId}`)).status;
    expect(await statusOf()).toBe(200);
    await env.DB.prepare(
      `CREATE TRIGGER refusing BEFORE DELETE ON room_access WHEN old.account_id = '${owner.id}'
       BEGIN SELECT RAISE(ABORT, 'the request died'); END`,
    ).run();
    expect((await api.delete(`/identities/${ada}`)).status).toBe(500);
    await env.DB.prepare("DROP TRIGGER refusing").run();
    expectLogged("the request died");
    expect(await statusOf()).toBe(401);
    expect((await api.delete(`/identities/${ada}`)).status).toBe(200);
  });

  it.each(["group", "identity"] as const)(
    "ends with its %s in chunks, and so do memberships, before the rest goes with the row",
    async (kind) => {
      const room = await stage();
      const { owner, api, ada, team } = room;
      const MANY = 6_000;
      await insertRooms(room, kind, MANY);
      // No statement may write this many, as `recordPlans` asserts.
      expect((await usesOf(owner)).access_entries).toBe(MANY);
      const path = kind === "group" ? `/groups/${team}` : `/identities/${ada}`;
      expect((await api.delete(path)).data).toEqual({ pending_rooms: 0 });
      expect((await api.get(path)).status).toBe(404);
      expect(await usesOf(owner)).toMatchObject({
        access_entries: 0,
        group_members: kind === "group" ? 1 : 0,
      });
    },
  );
});
