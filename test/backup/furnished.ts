/**
 * An organization with one of everything, and its visible data: in its database, over the API, and anywhere at
 * all.
 */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { InboxNotification } from "@atrium/contract/rest/inbox.ts";
import { sql } from "drizzle-orm";
import { expect } from "vitest";
import { shardName } from "../../src/delivery/inboxes.ts";
import { ORGANIZATION_TABLES, type OrganizationTable } from "../../src/features/organizations/tables.ts";
import { openDatabase, type Statement, statement } from "../../src/platform/d1/d1.ts";
import { runScheduledTasks } from "../../src/scheduled.ts";
import { type Account, type Answer, makeGuest, narrowedKey, type PlaceName } from "../support/api.ts";
import type { Archive } from "./operator.ts";

const MINUTE_MS = 60_000;
/** More than goes in one part. */
const LARGE_BYTES = 9 * 1024 * 1024;

export interface Furnished {
  readonly roomId: string;
  readonly token: string;
  readonly identityId: string;
}

/** Something of everything. */
export async function furnish({ api, id }: Account, place: PlaceName): Promise<Furnished> {
  const room = await api.createRoom({
    ...{ customId: "first", name: "Kitchen", expiresAt: "2035-01-31T09:30:00Z" },
    limits: { users: 100, documentBytes: 1_000_000 },
  });
  const user = await api.createUser(room.id, { customId: "ada" });
  await api.post("/rooms", { name: "Retried" }, { headers: { "Idempotency-Key": "once" } });
  await api.upload({ roomId: room.id, userId: user.id }, new File(["Hello"], "hello.txt"));
  await api.upload(
    { roomId: room.id, userId: user.id },
    new File([new Uint8Array(LARGE_BYTES).fill(7)], "large.bin"),
  );
  await api.post("/webhooks", { url: "https://hooks.example.com", events: ["participant.left"] });
  const code = "export default () => 1;";
  const workflow = await api.post<{ workflow: { id: string } }>("/workflows", {
    ...{ name: "W", code, events: ["participant.left"] },
  });
  await api.put(`/workflows/${workflow.data.workflow.id}/secrets/TOKEN`, { value: "secret" });
  await api.put(`/rooms/${room.id}/stores/pages/a`, { value: { text: "Hello" } });
  await api.post(`/rooms/${room.id}/comments`, { userId: user.id, text: "First" });
  const stream = `/rooms/${room.id}/streams/answer`;
  await api.raw("PUT", stream, { headers: { "Content-Type": "text/plain" }, body: "Hello" });
  const identity = await api.post<{ identity: { id: string } }>("/identities", { name: "Ada" });
  const identityId = identity.data.identity.id;
  const notification = { identityId, kind: "$order", data: { table: 7 } };
  for (const subjectId of ["read", "unread"])
    await api.post("/inbox-notifications/trigger", { ...notification, subjectId });
  const inbox = `/identities/${identityId}/inbox-notifications`;
  const { data } = await api.get<{ notifications: InboxNotification[] }>(inbox);
  const notificationId = data.notifications.find(({ subject_id }) => subject_id === "read")?.id;
  await api.post(`${inbox}/read`, { notificationId });
  const group = await api.post<{ group: { id: string } }>("/groups", { name: "Cooks" });
  await api.put(`/groups/${group.data.group.id}/members/${identityId}`);
  await api.put("/access/default", { defaultAccesses: "viewer" });
  await api.patch("/notification-defaults", { email: { sender: "none" } });
  await api.put(`/rooms/${room.id}/access`, {
    defaultAccesses: ["*:read"],
    groupsAccesses: { [group.data.group.id]: "editor" },
    identitiesAccesses: { [identityId]: ["none"] },
  });
  await makeGuest(api, room.id);
  await narrowedKey({ id, api }, { permissions: ["comments:write"], rooms: [room.id, "board-*"] });
  await env[place]
    .prepare(
      "UPDATE quotas SET max = 50 WHERE account_id = ? AND quota IN ('rooms', 'requests_per_second', 'waiting_events')",
    )
    .bind(id)
    .run();
  await env.DB.prepare("UPDATE quotas SET max = 70 WHERE account_id = ? AND quota IN ('members', 'api_keys')")
    .bind(id)
    .run();
  return { roomId: room.id, token: user.token, identityId };
}

/** Tables that change by themselves: rows on their way, and copies of stats. */
const PASSING = /^(outbox|outbox_events|receipts|audit_entries|retired_scripts)$/;

const OTHERS = ["quotas", "accounts"].map((name) => ({
  ...{ name, where: (of: string) => sql`${sql.raw(name === "accounts" ? "id" : "account_id")} = ${of}` },
}));

type Owned = Pick<OrganizationTable, "name" | "where">;

/** The rows of an organization in each of these tables of a database. */
export function rowsOf(place: PlaceName, tables: readonly Owned[], id: string) {
  const [first, ...others] = tables.map(
    ({ name, where }): Statement<Record<string, unknown>> =>
      statement`SELECT * FROM ${sql.raw(name)} WHERE ${where(id)}`,
  );
  return first === undefined ? [] : openDatabase(env[place]).run([first, ...others]);
}

/** Rows of an organization in its database, by table. */
export async function contentOf(place: PlaceName, id: string): Promise<Record<string, unknown>> {
  const tables = [...ORGANIZATION_TABLES.filter(({ name }) => !PASSING.test(name)), ...OTHERS];
  const found = await rowsOf(place, tables, id);
  return Object.fromEntries(
    tables.map(({ name }) => [name, found.filter((_, at) => tables[at]?.name === name).flat()]),
  );
}

const shown = ({ data }: Answer) => data;

/** Answers of the API about an organization. */
export async function answersOf({ api }: Account, { roomId, identityId }: Furnished): Promise<unknown> {
  const paths = [
    "/organization",
    "/rooms",
    `/users?roomId=${roomId}`,
    `/files?roomId=${roomId}`,
    "/webhooks",
    "/workflows",
    "/identities",
    `/identities/${identityId}/inbox-notifications`,
    "/groups",
    "/events?events=identity.created&events=group.created&events=group.updated",
    "/access/default",
    "/notification-defaults",
  ];
  const inRoom = ["access", "links", "stores", "stores/pages", "comments"].map(
    (list) => `/rooms/${roomId}/${list}`,
  );
  const answers = await Promise.all(
    [...paths, ...inRoom, "/quotas", "/members", "/api-keys"].map((path) => api.get(path)),
  );
  return answers.map(shown);
}

export const withoutUse = (answers: unknown): string =>
  JSON.stringify(answers).replace(/"last_?[uU]sed(_?[aA]t)?":"[^"]*"/g, "");

/** The files of an archive are as large as they were. */
export async function expectFiles({ api }: Account, { files }: Archive): Promise<void> {
  for (const [key, parts] of files) {
    const response = await api.raw("GET", `/storage/${key}`);
    const size = parts.reduce((sum, { bytes }) => sum + bytes.byteLength, 0);
    expect((await response.arrayBuffer()).byteLength).toBe(size);
  }
}

/** Runs the scheduled tasks until a deleted organization's data is gone. */
export async function purged(id: string, place: PlaceName): Promise<void> {
  const left = async () => [
    await env.DB.prepare("SELECT 1 FROM accounts WHERE id = ?").bind(id).first(),
    await env[place].prepare("SELECT 1 FROM files WHERE account_id = ?").bind(id).first(),
  ];
  await expect
    .poll(async () => {
      await runScheduledTasks(env, Date.now() + 2 * MINUTE_MS);
      return left();
    })
    .toEqual([null, null]);
}

/** Deletes the organization and, a minute later, its data. */
export async function remove({ api, id }: Account, place: PlaceName): Promise<void> {
  const { status } = await api.json("DELETE", "/organization", { confirm: "An organization" });
  expect(status).toBe(200);
  await purged(id, place);
}

const PLACES = ["DB", "DB_2", "DB_3"] as const;
const OF_ACCOUNT = [
  ...["api_keys", "memberships", "invitations", "operator_tokens", "restores", "fences", "moves", "quotas"],
];

/** Tables whose rows go later: responses to repeated requests expire, and scripts go once no run can use them. */
const LATER = /^(receipts|retired_scripts)$/;

/** Remains of an organization in any database, object or bucket. */
export async function remainsOf({ accountId, refs }: Archive): Promise<Record<string, unknown>> {
  const left: Record<string, unknown> = {};
  const note = (name: string, found: readonly unknown[]) => {
    if (found.length > 0) left[name] = found;
  };
  const tables = [
    ...ORGANIZATION_TABLES.filter(({ name }) => !LATER.test(name)),
    ...OF_ACCOUNT.map((name) => ({ name, where: (of: string) => sql`account_id = ${of}` })),
    ...OTHERS,
  ];
  for (const place of PLACES)
    for (const [at, rows] of (await rowsOf(place, tables, accountId)).entries())
      note(`${place} ${tables[at]?.name}`, rows);
  for (const { kind, id } of refs) {
    const stub =
      kind === "room"
        ? env.ROOMS.getByName(id)
        : kind === "log"
          ? env.EVENT_LOGS.getByName(`${accountId}:${id}`)
          : kind === "inbox"
            ? env.INBOXES.getByName(shardName(accountId, id))
            : env.SUBSCRIBERS.getByName(`${kind}:${id}`);
    const stored = await runInDurableObject(stub, async (_, { storage }) => [
      ...storage.sql
        .exec("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB '_cf*'")
        .toArray(),
      ...[await storage.getAlarm()].filter((alarm) => alarm !== null),
    ]);
    note(`${kind} ${id}`, stored);
  }
  note("bytes", (await env.FILES.list({ prefix: `${accountId}/` })).objects);
  return left;
}
