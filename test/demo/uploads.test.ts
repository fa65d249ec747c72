/** What the visitors of the demo may upload: little, and for a day. */
import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { app } from "../../src/app.ts";
import { DEMO_FILE_LIFETIME_MS, DEMO_UPLOADS } from "../../src/demo/uploads.ts";
import { runScheduledTasks } from "../../src/scheduled.ts";
import { type Account, type Answer, account, formOf } from "../support/api.ts";

interface Visitor {
  readonly owner: Account;
  readonly roomId: string;
  readonly userId: string;
  readonly token: string;
}

const settingsOf = ({ id }: Account) => ({ ...env, DEMO_ACCOUNT_ID: id });

async function visitor(owner?: Account, customId = "demo"): Promise<Visitor> {
  const host = owner ?? (await account());
  const found = await host.api.get<{ rooms: { id: string; custom_id?: string }[] }>("/rooms");
  const room = found.data.rooms.find(({ custom_id }) => custom_id === customId);
  const roomId = room?.id ?? (await host.api.createRoom({ customId })).id;
  const { id: userId, token } = await host.api.createUser(roomId);
  return { owner: host, roomId, userId, token };
}

async function upload({ owner, roomId, userId, token }: Visitor, bytes = 1): Promise<Answer> {
  const file = new File([new Uint8Array(bytes)], "a.bin");
  const request = owner.api.as(token).request("POST", "/upload", { body: formOf({ roomId, userId }, file) });
  const execution = createExecutionContext();
  const response = await app.fetch(request, settingsOf(owner), execution);
  await waitOnExecutionContext(execution);
  return { ...(await response.json<Answer>()), status: response.status, headers: response.headers };
}

const filesOf = async ({ owner, roomId }: Visitor): Promise<number> =>
  (await owner.api.get<{ total: number }>(`/files?roomId=${roomId}`)).data.total;

it("each file is small", async () => {
  const ada = await visitor();
  expect((await upload(ada, DEMO_UPLOADS.maxFileBytes)).status).toBe(201);
  for (const bytes of [DEMO_UPLOADS.maxFileBytes + 1, 9 * 1024 * 1024]) {
    const { status, error } = await upload(ada, bytes);
    expect([status, error?.code]).toEqual([400, "BAD_REQUEST"]);
  }
  expect(await filesOf(ada)).toBe(1);
});

it("each visitor keeps a few files, even of uploads at once", async () => {
  const ada = await visitor();
  const attempts = Array.from({ length: DEMO_UPLOADS.maxPerUser - 1 }, () => upload(ada));
  expect((await Promise.all(attempts)).map(({ status }) => status)).toEqual(attempts.map(() => 201));
  await Promise.all([upload(ada), upload(ada), upload(ada)]);
  expect(await filesOf(ada)).toBeLessThanOrEqual(DEMO_UPLOADS.maxPerUser);
  await upload(ada);
  const { status, error } = await upload(ada);
  expect([status, error?.code]).toEqual([403, "FORBIDDEN"]);
  expect((await upload(await visitor(ada.owner))).status).toBe(201);
});

it("the room keeps a hundred, and forgets them after a day", async () => {
  const ada = await visitor();
  const row =
    "SELECT 'k' || value || ?1, ?2, ?3, 'a', 'b/c', 'b/c', 1, 'someone', ?4, 'stored' FROM generate";
  await env.DB.prepare(
    `WITH RECURSIVE generate(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM generate WHERE value < ?5)
     INSERT INTO files (key, account_id, room_id, filename, mime_type, media_type, size, uploaded_by, uploaded_at, state) ${row}`,
  )
    .bind(ada.roomId, ada.owner.id, ada.roomId, Date.now(), DEMO_UPLOADS.maxPerRoom)
    .run();
  const { status, error } = await upload(ada);
  expect([status, error?.message]).toEqual([403, expect.stringContaining("at most 100 files")]);
  await runScheduledTasks(settingsOf(ada.owner), Date.now() + DEMO_FILE_LIFETIME_MS - 60_000);
  expect(await filesOf(ada)).toBe(DEMO_UPLOADS.maxPerRoom);
  await runScheduledTasks(settingsOf(ada.owner), Date.now() + DEMO_FILE_LIFETIME_MS + 1);
  expect(await filesOf(ada)).toBe(0);
  expect((await upload(ada)).status).toBe(201);
});

it("other rooms of the organization have no such bounds", async () => {
  const ada = await visitor(undefined, "board");
  expect((await upload(ada, DEMO_UPLOADS.maxFileBytes + 1)).status).toBe(201);
});
