/** Organizations in a database beside the directory: everything works there, and nothing of theirs is elsewhere. */
import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { AuditEntry } from "@atrium/contract/rest/audit.ts";
import type { Me } from "@atrium/contract/rest/people.ts";
import { describe, expect, inject, it } from "vitest";
import { app } from "../../src/app.ts";
import type { HandledEvent } from "../../src/delivery/subscriber/handler.ts";
import { ORGANIZATION_TABLES, organizationTable } from "../../src/features/organizations/tables.ts";
import { WebhookHandler } from "../../src/features/webhooks/webhook-handler.ts";
import { WorkflowHandler } from "../../src/features/workflows/workflow-handler.ts";
import { choosePlace } from "../../src/platform/d1/place.ts";
import { runScheduledTasks } from "../../src/scheduled.ts";
import { rowsOf } from "../backup/furnished.ts";
import { joinRoom } from "../room/support/join.ts";
import { type Account, Api, account, bearer, type PlaceName } from "../support/api.ts";
import { expectLogged } from "../support/log-guard.ts";
import { addMember, answerOf, freshEmail, PASSWORD, pageRequest } from "../support/person.ts";
import type { Received } from "../support/receiver.ts";
import { TestWorkflow } from "../workflows/test-workflow.ts";

const { port } = inject("receiver");
const RECEIVER = `http://127.0.0.1:${port}`;
const MINUTE_MS = 60_000;
const PLACES: readonly PlaceName[] = ["DB", "DB_2", "DB_3"];
const DIRECTORY = ["api_keys", "memberships", "invitations"];

/** How many rows an organization has in each table of a database, none left out that has some. */
async function rowsIn(place: PlaceName, accountId: string): Promise<Record<string, number>> {
  const further = [...DIRECTORY, "quotas"].map((name) => organizationTable(name, []));
  const tables = [...ORGANIZATION_TABLES, ...further];
  const rows = await rowsOf(place, tables, accountId);
  const counts: Record<string, number> = {};
  for (const [index, { name }] of tables.entries()) {
    const found = rows[index]?.length ?? 0;
    if (found > 0) counts[name] = (counts[name] ?? 0) + found;
  }
  return counts;
}

const received = async (name: string): Promise<readonly string[]> => {
  const requests: readonly Received[] = await (await fetch(`${RECEIVER}/received/${name}`)).json();
  return requests.map(({ body }) => (JSON.parse(body) as { event: string }).event);
};

/** Everything that an organization can own, and all that happens with it. */
async function liveThrough(owner: Account): Promise<{ roomId: string; userId: string }> {
  const { api, id: name } = owner;
  const url = `${RECEIVER}/ok/${name}`;
  expect((await api.post("/webhooks", { url, events: ["user.created", "participant.joined"] })).status).toBe(
    201,
  );
  const workflow = await TestWorkflow.create(api);
  const room = await api.createRoom({ name: "Älteste", customId: "first" });
  const retried = { headers: { "Idempotency-Key": "once" } };
  const user = await api.post<{ user: { id: string; token: string } }>(
    "/users",
    { name: "Ada", roomId: room.id },
    retried,
  );
  const again = await api.post("/users", { name: "Ada", roomId: room.id }, retried);
  expect(again.headers.get("Idempotency-Replayed")).toBe("true");
  expect(await workflow.results(1)).toEqual([{ heard: "user.created" }]);
  const { id: userId, token } = user.data.user;
  const socket = await joinRoom(owner.id, room.id, token);
  await expect.poll(() => received(name)).toEqual(["user.created", "participant.joined"]);
  await expect
    .poll(
      async () => (await api.get<{ room: { active_participants: number } }>(`/rooms/${room.id}`)).data.room,
    )
    .toMatchObject({ active_participants: 1 });
  socket.close();
  const file = new File(["Hello"], "hello.txt", { type: "text/plain" });
  const asUser = api.as(token);
  const uploaded = await asUser.upload({ roomId: room.id, userId }, file);
  expect(uploaded.status).toBe(201);
  expect((await asUser.get(`/users?roomId=${room.id}`)).status).toBe(200);
  return { roomId: room.id, userId };
}

describe.each(["DB_2", "DB_3"] as const)("an organization in %s", (place) => {
  const others = PLACES.filter((name) => name !== "DB" && name !== place);

  it("has its rooms, users, files, webhooks, workflows and their events there, and its keys in the directory", async () => {
    const owner = await account(place);
    await liveThrough(owner);
    await expect
      .poll(() => rowsIn(place, owner.id))
      .toMatchObject({ rooms: 1, users: 1, files: 1, webhooks: 1, workflows: 1, receipts: 1, quotas: 21 });
    const [elsewhere] = await Promise.all(others.map((name) => rowsIn(name, owner.id)));
    expect(elsewhere).toEqual({});
    expect(await rowsIn("DB", owner.id)).toEqual({ api_keys: 1, quotas: 21 });
    const { data } = await owner.api.get<{ quotas: { name: string; used: number }[] }>("/quotas");
    expect(data.quotas).toContainEqual(expect.objectContaining({ name: "users", used: 1 }));
    expect((await owner.api.get("/overview")).data).toMatchObject({ rooms_total: 1, users_total: 1 });
  });

  it("has one audit log of what happens in both databases", async () => {
    const owner = await account(place);
    const member = await addMember(owner.id);
    const api = member.browser.api(owner.id);
    const room = await api.createRoom();
    await api.post("/invitations", { role: "member" });
    await api.delete(`/rooms/${room.id}`);
    const key = { headers: { "Idempotency-Key": "key" } };
    expect((await api.post("/api-keys", { name: "Second" }, key)).status).toBe(201);
    expect((await api.post("/api-keys", { name: "Second" }, key)).error?.code).toBe("CONFLICT");
    const list = async (query: string) =>
      (await api.get<{ entries: AuditEntry[]; cursor: string | null }>(`/audit?${query}`)).data;
    const whole = await list("limit=10");
    expect(whole.entries.map(({ operation }) => operation)).toEqual(
      expect.arrayContaining(["createApiKey", "deleteRoom", "createInvitation"]),
    );
    expect(whole.entries.map(({ actor }) => actor.name)).toEqual(["Cleo", "Cleo", "Cleo"]);
    expect(whole.entries.map(({ at }) => at)).toEqual(
      whole.entries
        .map(({ at }) => at)
        .toSorted()
        .toReversed(),
    );
    const first = await list("limit=2");
    const rest = await list(`limit=2&after=${first.cursor}`);
    expect([...first.entries, ...rest.entries]).toEqual(whole.entries);
    expect(rest.cursor).toBe(null);
  });

  it("is reached by the cron trigger, and leaves nothing in any database when it is deleted", async () => {
    const owner = await account(place);
    const { roomId } = await liveThrough(owner);
    const command = JSON.stringify({ type: "room.closed" });
    await env[place].batch([
      env[place]
        .prepare("UPDATE rooms SET state = 'closed' WHERE account_id = ? AND id = ?")
        .bind(owner.id, roomId),
      env[place].prepare("INSERT INTO outbox VALUES (?, ?, ?, ?, 0)").bind(roomId, owner.id, roomId, command),
    ]);
    await runScheduledTasks(env, Date.now() + MINUTE_MS);
    expect((await rowsIn(place, owner.id)).outbox).toBe(undefined);
    await expect.poll(async () => (await rowsIn(place, owner.id)).outbox_events).toBe(undefined);
    const confirm = { confirm: "An organization" };
    expect((await owner.api.json("DELETE", "/organization", confirm)).status).toBe(200);
    await runScheduledTasks(env, Date.now() + 2 * MINUTE_MS);
    // Files' bytes, and then their rows, go in the task that runs beside the deletion.
    await runScheduledTasks(env, Date.now() + 3 * MINUTE_MS);
    const left = await Promise.all(PLACES.map((name) => rowsIn(name, owner.id)));
    expect(left.map(({ receipts: _, ...rows }) => rows)).toEqual([{}, {}, {}]);
    const rows = PLACES.map((name) =>
      env[name].prepare("SELECT id FROM accounts WHERE id = ?").bind(owner.id).first(),
    );
    expect(await Promise.all(rows)).toEqual([null, null, null]);
  });
});

describe("a new organization", () => {
  const signUpIn = (place: string, email = freshEmail()) => {
    const body = { name: "Ada", email, password: PASSWORD, organization: "Engines" };
    const settings = { PLACE_ORGANIZATIONS_IN: place };
    return answerOf<Me | null>(settings, pageRequest("POST", "/dashboard/api/sign-up", body));
  };
  const idsIn = async (place: PlaceName) =>
    (await env[place].prepare("SELECT id FROM accounts").all<{ id: string }>()).results.map(({ id }) => id);

  it("is placed where the setting says, with its owner in the directory", async () => {
    const { data } = await signUpIn("DB_3");
    const id = data?.organizations[0]?.id ?? "";
    expect(await idsIn("DB_3")).toContain(id);
    expect(await idsIn("DB_2")).not.toContain(id);
    expect(await rowsIn("DB", id)).toMatchObject({ memberships: 1, audit_entries: 1 });
  });

  it("leaves nothing where it would have been when it is refused", async () => {
    const email = freshEmail();
    expect((await signUpIn("DB_2", email)).status).toBe(201);
    const before = await idsIn("DB_2");
    expect((await signUpIn("DB_2", email)).status).toBe(409);
    expect(await idsIn("DB_2")).toEqual(before);
  });

  it("goes to any database by default, and to none that is not bound", () => {
    const chosen = Array.from(
      { length: 100 },
      () => choosePlace({ ...env, PLACE_ORGANIZATIONS_IN: "" }).name,
    );
    expect(new Set(chosen)).toEqual(new Set(PLACES));
    const alone = { ...env, PLACE_ORGANIZATIONS_IN: "", DB_2: undefined, DB_3: undefined };
    expect(choosePlace(alone).name).toBe("DB");
    expect(() => choosePlace({ ...env, PLACE_ORGANIZATIONS_IN: "DB_4" })).toThrow(/names DB_4, which is not/);
  });
});

describe("an organization whose database is not bound any more", () => {
  const alone = { ...env, DB_2: undefined, DB_3: undefined };
  const missing = "placed in the database DB_2, which is not bound; bind it again";
  const state = { read: () => "{}", write: () => undefined };
  const event: HandledEvent = {
    ...{ eventId: crypto.randomUUID(), event: "user.created", roomId: "", occurredAt: 0, body: "{}" },
    ...{ replayId: null, isOnce: false },
  };

  it("keeps what waits for its webhooks and workflows, and their schedules", async () => {
    const owner = await account("DB_2");
    const created = await owner.api.post<{ webhook: { id: string } }>("/webhooks", {
      ...{ url: `${RECEIVER}/ok/${owner.id}`, events: ["user.created"] },
    });
    const key = { kind: "webhook", accountId: owner.id, id: created.data.webhook.id } as const;
    const { id } = (await TestWorkflow.create(owner.api)).workflow;
    const webhook = new WebhookHandler(alone, key, Date.now, state);
    const workflow = new WorkflowHandler(alone, { accountId: owner.id, id }, Date.now, state);
    expect((await webhook.deliver(event, 0)).type).toBe("postponed");
    expect((await workflow.deliver(event, 0)).type).toBe("postponed");
    await expect(workflow.timetable(null, Date.now())).rejects.toThrow(missing);
    expectLogged(
      `The database failed during a delivery: An organization is ${missing}`,
      `The database failed before a run: An organization is ${missing}`,
    );
  });

  it("can neither be used nor deleted until it is bound again, and loses nothing meanwhile", async () => {
    const owner = await account("DB_2");
    await owner.api.createRoom();
    const send = async (method: string, path: string, body?: object) => {
      const json = { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
      const request = owner.api.request(method, path, body && json);
      return (await app.fetch(request, alone, createExecutionContext())).status;
    };
    expect(await send("GET", "/rooms")).toBe(500);
    expect(await send("POST", "/rooms", { name: "Lost" })).toBe(500);
    expect(await send("DELETE", "/organization", { confirm: "An organization" })).toBe(500);
    expectLogged(`A request failed: An organization is ${missing}`);
    const deletedAt = Date.now() - 5 * MINUTE_MS;
    await env.DB.prepare("UPDATE accounts SET deleted_at = ? WHERE id = ?").bind(deletedAt, owner.id).run();
    await runScheduledTasks(alone, Date.now());
    expectLogged(`could not be removed yet: An organization is ${missing}`);
    await env.DB.prepare("UPDATE accounts SET deleted_at = NULL WHERE id = ?").bind(owner.id).run();
    expect((await owner.api.get("/rooms")).data).toMatchObject({ rooms: [expect.anything()] });
    expect((await rowsIn("DB", owner.id)).rooms).toBe(undefined);
  });
});

it("an API key of another organization opens no database but its own", async () => {
  const [owner, other] = [await account("DB_2"), await account("DB_3")];
  const foreign = new Api(owner.id, bearer(other.id, other.apiKey));
  expect((await foreign.get("/rooms")).status).toBe(403);
});
