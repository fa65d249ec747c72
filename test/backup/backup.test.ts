/** Backups of an organization, and restores that are interrupted after any request. */
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import journal from "../../migrations/meta/_journal.json" with { type: "json" };
import { SCHEMA } from "../../src/backup/format.ts";
import { ORGANIZATION_TABLES } from "../../src/organizations/tables.ts";
import { runScheduledTasks } from "../../src/scheduled.ts";
import { type Account, type Answer, account, type PlaceName } from "../support/api.ts";
import { addMember } from "../support/person.ts";
import { backUp, restore } from "./operator.ts";

const MINUTE_MS = 60_000;
const LARGE_BYTES = 9 * 1024 * 1024;

interface Furnished {
  readonly roomId: string;
  readonly token: string;
}

/** Something of everything. */
async function furnish({ api, id }: Account, place: PlaceName): Promise<Furnished> {
  const room = await api.createRoom({ customId: "first", name: "Kitchen" });
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
  await env[place]
    .prepare("UPDATE quotas SET max = 50 WHERE account_id = ? AND quota = 'rooms'")
    .bind(id)
    .run();
  return { roomId: room.id, token: user.token };
}

/** What changes by itself: what is on its way, and how old a copy of stats is. */
const PASSING = /^(outbox|outbox_events|user_events|receipts|audit_entries|retired_scripts)$/;

/** What an organization has in its database, by table. */
async function contentOf(place: PlaceName, id: string): Promise<Record<string, unknown>> {
  const tables = [
    ...ORGANIZATION_TABLES.filter(({ name }) => !PASSING.test(name)),
    ...["quotas", "accounts"].map((name) => ({
      ...{ name, where: `${name === "accounts" ? "id" : "account_id"} = ?`, paramsOf: (of: string) => [of] },
    })),
  ];
  const statements = tables.map(({ name, where, paramsOf }) =>
    env[place].prepare(`SELECT * FROM ${name} WHERE ${where}`).bind(...paramsOf(id)),
  );
  const results = await env[place].batch<Record<string, unknown>>(statements);
  return Object.fromEntries(tables.map(({ name, where }, at) => [`${name} ${where}`, results[at]?.results]));
}

/** The organization, and a minute after it what it owned, is deleted. */
async function remove({ api, id }: Account, place: PlaceName): Promise<void> {
  const { status } = await api.json("DELETE", "/organization", { confirm: "An organization" });
  expect(status).toBe(200);
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

const shown = ({ data }: Answer) => data;

/** What the API answers about an organization. */
async function answersOf({ api }: Account, { roomId }: Furnished): Promise<unknown> {
  const paths = [
    "/organization",
    "/rooms",
    `/users?roomId=${roomId}`,
    `/files?roomId=${roomId}`,
    "/webhooks",
    "/workflows",
  ];
  const inRoom = ["stores", "stores/pages", "comments"].map((list) => `/rooms/${roomId}/${list}`);
  const answers = await Promise.all(
    [...paths, ...inRoom, "/quotas", "/members", "/api-keys"].map((path) => api.get(path)),
  );
  return answers.map(shown);
}

const withoutUse = (answers: unknown): string =>
  JSON.stringify(answers).replace(/"last_?[uU]sed(_?[aA]t)?":"[^"]*"/g, "");

describe("a backup", () => {
  it("names the schema that its rows have", () => {
    expect(SCHEMA).toBe(journal.entries.at(-1)?.idx);
  });

  it.each([
    ["DB", "in one run", 1_000],
    ["DB_2", "however often its restore is killed", 1],
  ] as const)("in %s brings a deleted organization back, %s", async (place, _, first) => {
    const owner = await account(place);
    await addMember(owner.id, "owner");
    const furnished = await furnish(owner, place);
    const [content, answers] = [await contentOf(place, owner.id), await answersOf(owner, furnished)];
    const archive = await backUp(owner.id);
    expect(await restore(archive).catch(String)).toContain("CONFLICT: The organization exists");
    await remove(owner, place);

    let run: number = first;
    while (!(await restore(archive, run, place))) {
      if (run === 2) {
        expect(await owner.api.get("/rooms")).toMatchObject({
          status: 429,
          error: { code: "RATE_LIMITED" },
        });
        const asUser = owner.api.as(furnished.token);
        expect(await asUser.get(`/users?roomId=${furnished.roomId}`)).toMatchObject({ status: 429 });
      }
      run += 1;
    }
    expect(run).toBeGreaterThan(5);
    expect(await contentOf(place, owner.id)).toEqual({
      ...content,
      "accounts id = ?": [expect.objectContaining({ id: owner.id, token_epoch: 0, deleted_at: null })],
    });
    expect(withoutUse(await answersOf(owner, furnished))).toEqual(withoutUse(answers));
    for (const [key, parts] of archive.files) {
      const response = await owner.api.raw("GET", `/storage/${key}`);
      const size = parts.reduce((sum, { bytes }) => sum + bytes.byteLength, 0);
      expect((await response.arrayBuffer()).byteLength).toBe(size);
    }
    const again = await owner.api.post(
      "/rooms",
      { name: "Retried" },
      { headers: { "Idempotency-Key": "once" } },
    );
    expect(again.headers.get("Idempotency-Replayed")).toBe("true");
    expect((await owner.api.as(furnished.token).get(`/users?roomId=${furnished.roomId}`)).status).toBe(200);
    expect((await owner.api.get("/audit")).data).toMatchObject({
      entries: expect.arrayContaining([
        expect.objectContaining({ operation: "restoreOrganization" }),
        expect.objectContaining({ operation: "createWebhook" }),
      ]),
    });
  });
});
