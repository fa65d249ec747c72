/** Quotas of an organization: exact counts, refusals that name the quota, and limits that the operator sets. */
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import type { Quota } from "../../src/features/quotas/schema.ts";
import { type Account, account } from "../support/api.ts";
import { costOf } from "../support/counting.ts";

const usesOf = async ({ api }: Account): Promise<Record<string, number>> => {
  const { data } = await api.get<{ quotas: Quota[] }>("/quotas");
  return Object.fromEntries(data.quotas.map(({ name, used }) => [name, used]));
};

const setLimit = ({ id }: Account, quota: string, max: number | null) =>
  env.DB.prepare("UPDATE quotas SET max = ? WHERE account_id = ? AND quota = ?").bind(max, id, quota).run();

const WEBHOOK = { url: "https://hooks.example.com", events: ["user.created"], enabled: false };
const WORKFLOW = { name: "A workflow", code: "export default () => 1;", events: ["session.started"] };
const NOTHING = {
  rooms: 0,
  users: 0,
  webhooks: 0,
  workflows: 0,
  members: 0,
  invitations: 0,
  api_keys: 1,
  file_bytes: 0,
  store_bytes: 0,
  online_users: 0,
  waiting_events: 0,
  waiting_bytes: 0,
  requests_per_second: 0,
};

const fileOf = (bytes: number) => new File(["x".repeat(bytes)], "a.txt", { type: "text/plain" });

const refusal = (quota: string, used: number, limit: number) => ({
  ...{ module: "Accounts", code: "FORBIDDEN" },
  message: expect.stringMatching(
    `^The quota ${quota} is exceeded: ${used} of ${limit} are used; (delete|revoke|withdraw) `,
  ),
});

describe("the use of quotas", () => {
  it("is exact, whatever creates and deletes", async () => {
    const owner = await account();
    expect(await usesOf(owner)).toEqual(NOTHING);
    const [room, other] = [await owner.api.createRoom(), await owner.api.createRoom()];
    const [user, second] = [await owner.api.createUser(room.id), await owner.api.createUser(room.id)];
    await owner.api.createUser(other.id);
    const webhook = await owner.api.post<{ webhook: { id: string } }>("/webhooks", WEBHOOK);
    const workflow = await owner.api.post<{ workflow: { id: string } }>("/workflows", WORKFLOW);
    const upload = (bytes: number) => owner.api.upload({ roomId: room.id, userId: user.id }, fileOf(bytes));
    const { key } = (await upload(5)).data.file;
    await upload(7);
    expect(await usesOf(owner)).toEqual({
      ...NOTHING,
      rooms: 2,
      users: 3,
      webhooks: 1,
      workflows: 1,
      file_bytes: 12,
    });
    await owner.api.deleteFile(key);
    await owner.api.delete(`/users/${second.id}?roomId=${room.id}`);
    await owner.api.delete(`/webhooks/${webhook.data.webhook.id}`);
    expect(await usesOf(owner)).toEqual({ ...NOTHING, rooms: 2, users: 2, workflows: 1, file_bytes: 7 });
    await owner.api.delete(`/rooms/${room.id}`);
    await owner.api.delete(`/workflows/${workflow.data.workflow.id}`);
    expect(await usesOf(owner)).toEqual({ ...NOTHING, rooms: 1, users: 1 });
  });

  it("does not grow by what is refused", async () => {
    const owner = await account();
    const { id } = await owner.api.createRoom({ customId: "taken" });
    await owner.api.post("/rooms", { name: "Again", customId: "taken" });
    await owner.api.post("/users", { name: "Ada", roomId: crypto.randomUUID() });
    await owner.api.upload({ roomId: id, userId: crypto.randomUUID() }, fileOf(5));
    expect(await usesOf(owner)).toEqual({ ...NOTHING, rooms: 1 });
  });

  it("is that of one organization, and goes with it", async () => {
    const [owner, neighbour] = [await account(), await account()];
    await owner.api.createRoom();
    expect(await usesOf(neighbour)).toEqual(NOTHING);
    await env.DB.prepare("DELETE FROM accounts WHERE id = ?").bind(owner.id).run();
    const left = env.DB.prepare("SELECT * FROM quotas WHERE account_id = ?").bind(owner.id);
    expect((await left.all()).results).toEqual([]);
  });

  it("costs one trip to list, and none when something is created", async () => {
    const owner = await account();
    const room = await owner.api.createRoom();
    expect(await costOf(owner, "GET", "/quotas")).toMatchObject({ status: 200, trips: 1 });
    // The second trip of a room or user clears the outbox of its event.
    for (const [path, body, trips] of [
      ["/rooms", { name: "A room" }, 2],
      ["/users", { name: "Ada", roomId: room.id }, 2],
      ["/webhooks", WEBHOOK, 1],
      ["/workflows", WORKFLOW, 1],
      ["/api-keys", {}, 1],
      ["/invitations", {}, 1],
    ] as const) {
      expect(await costOf(owner, "POST", path, body)).toMatchObject({ status: 201, trips });
    }
  });
});

describe("a quota that is used up", () => {
  it.each([
    ["rooms", "/rooms", () => ({ name: "A room" })],
    ["users", "/users", (roomId: string) => ({ name: "Ada", roomId })],
    ["webhooks", "/webhooks", () => WEBHOOK],
    ["workflows", "/workflows", () => WORKFLOW],
    ["api_keys", "/api-keys", () => ({})],
    ["invitations", "/invitations", () => ({})],
  ])(
    "refuses more %s, and accepts one when one was deleted or the limit was raised",
    async (quota, path, body) => {
      const owner = await account();
      const { id: roomId } = await owner.api.createRoom();
      const used = (await usesOf(owner))[quota] ?? 0;
      await setLimit(owner, quota, used + 1);
      expect((await owner.api.post(path, body(roomId))).status).toBe(201);
      const refused = await owner.api.post(path, body(roomId));
      expect([refused.status, refused.error]).toEqual([403, refusal(quota, used + 1, used + 1)]);
      expect((await usesOf(owner))[quota]).toBe(used + 1);
      await setLimit(owner, quota, null);
      expect((await owner.api.post(path, body(roomId))).status).toBe(201);
      await setLimit(owner, quota, 0);
      const lowered = await owner.api.post(path, body(roomId));
      expect(lowered.error).toEqual(refusal(quota, used + 2, 0));
    },
  );

  it("lets exactly one of a hundred concurrent creations through when one is left", async () => {
    const owner = await account();
    await owner.api.createRoom();
    await setLimit(owner, "rooms", 2);
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => owner.api.post("/rooms", { name: "A room" })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 403)).toHaveLength(99);
    expect(await usesOf(owner)).toMatchObject({ rooms: 2 });
  });

  it("refuses a file that does not fit, leaves nothing of it, and refuses the next before its first byte", async () => {
    const owner = await account();
    const { id: roomId } = await owner.api.createRoom();
    const { id: userId } = await owner.api.createUser(roomId);
    const upload = (bytes: number) => owner.api.upload({ roomId, userId }, fileOf(bytes));
    await setLimit(owner, "file_bytes", 10);
    expect((await upload(6)).status).toBe(201);
    const refused = await upload(5);
    expect([refused.status, refused.error]).toEqual([403, refusal("file_bytes", 6, 10)]);
    const rows = env.DB.prepare("SELECT count(*) AS total FROM files WHERE account_id = ?").bind(owner.id);
    expect(await rows.first("total")).toBe(1);
    expect((await upload(4)).status).toBe(201);
    const form = new FormData();
    form.append("roomId", roomId);
    form.append("userId", userId);
    form.append("file", fileOf(1));
    expect(await costOf(owner, "POST", "/upload", form)).toMatchObject({ status: 403, r2Calls: 0 });
  });

  it("replays a creation that went through before it was used up", async () => {
    const owner = await account();
    await setLimit(owner, "rooms", 1);
    const options = { headers: { "Idempotency-Key": crypto.randomUUID() } };
    const first = await owner.api.post("/rooms", { name: "A room" }, options);
    const again = await owner.api.post("/rooms", { name: "A room" }, options);
    expect([first.status, again.status, again.data]).toEqual([201, 201, first.data]);
  });
});

describe("the defaults of a deployment", () => {
  it("are settings", async () => {
    const owner = await account();
    await owner.api.createRoom();
    const cost = await costOf(owner, "POST", "/rooms", { name: "Second" }, { QUOTA_ROOMS: "1" });
    expect(cost.status).toBe(403);
    await setLimit(owner, "rooms", 2);
    const raised = await costOf(owner, "POST", "/rooms", { name: "Second" }, { QUOTA_ROOMS: "1" });
    expect(raised.status).toBe(201);
  });
});
