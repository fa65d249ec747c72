/** Idempotency-Key: the work is done once, the first response is replayed, and no secret is stored. */
import { env } from "cloudflare:workers";
import { drizzle } from "drizzle-orm/d1";
import { describe, expect, it } from "vitest";
import { RECEIPT_LIFETIME_MS } from "../../src/http/idempotency/receipt.ts";
import { receipts } from "../../src/http/idempotency/table.ts";
import { runScheduledTasks } from "../../src/scheduled.ts";
import { account } from "../support/api.ts";

const key = (text: string) => ({ headers: { "Idempotency-Key": text } });

async function age(ms: number): Promise<void> {
  await env.DB.prepare("UPDATE receipts SET created_at = created_at - ?").bind(ms).run();
}

describe("an Idempotency-Key", () => {
  it("replays the first answer", async () => {
    const { api } = await account();
    const first = await api.post("/rooms", { name: "Once" }, key("k"));
    const second = await api.post("/rooms", { name: "Once" }, key("k"));
    expect(first.headers.get("Idempotency-Replayed")).toBeNull();
    expect([second.status, second.headers.get("Idempotency-Replayed")]).toEqual([201, "true"]);
    expect(second.data).toEqual(first.data);
    expect(second.requestId).not.toBe(first.requestId);
    expect((await api.get("/rooms")).data.total).toBe(1);
  });

  it("does the work once for many requests at once", async () => {
    const { api } = await account();
    const room = await api.createRoom();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () =>
        api.post<{ user: { id: string } }>("/users", { name: "U", roomId: room.id }, key("k")),
      ),
    );
    expect(answers.map((answer) => answer.status)).toEqual(Array(20).fill(201));
    expect(new Set(answers.map((answer) => answer.data.user.id)).size).toBe(1);
    expect(answers.filter((answer) => answer.headers.get("Idempotency-Replayed") === null)).toHaveLength(1);
    expect((await api.get<{ room: object }>(`/rooms/${room.id}`)).data.room).toMatchObject({
      total_users_created: 1,
    });
  });

  it("refuses another request under the same key", async () => {
    const { api } = await account();
    const room = await api.createRoom();
    await api.post("/rooms", { name: "One" }, key("k"));
    for (const other of [
      await api.post("/rooms", { name: "Two" }, key("k")),
      await api.post(`/rooms/${room.id}/reconcile`, {}, key("k")),
    ]) {
      expect([other.status, other.error?.code]).toEqual([409, "CONFLICT"]);
    }
  });

  it("derives a user's token again instead of storing it", async () => {
    const { api } = await account();
    const room = await api.createRoom();
    const body = {
      name: "U",
      roomId: room.id,
      customId: "c",
      role: "viewer",
      profilePicture: "https://pictures.test/u.png",
    };
    const first = await api.post<{ token: string }>("/users", body, key("k"));
    const second = await api.post<{ token: string }>("/users", body, key("k"));
    expect(second.data).toEqual(first.data);
    const kept = JSON.stringify(await drizzle(env.DB).select().from(receipts));
    expect(kept).not.toContain(first.data.token.split(".")[2]);
  });

  it("never shows a one-time secret again", async () => {
    const { api } = await account();
    const first = await api.post<{ key: string }>("/api-keys", {}, key("k"));
    const second = await api.post("/api-keys", {}, key("k"));
    expect([first.status, second.status, second.error?.code]).toEqual([201, 409, "CONFLICT"]);
    expect((await api.get("/api-keys")).data.total).toBe(2);
    const kept = JSON.stringify(await drizzle(env.DB).select().from(receipts));
    expect(kept).not.toContain(first.data.key.slice(14));
  });

  it("replays a request that does its work without a batch", async () => {
    const { api } = await account();
    const room = await api.createRoom();
    const first = await api.post(`/rooms/${room.id}/reconcile`, {}, key("k"));
    const second = await api.post(`/rooms/${room.id}/reconcile`, {}, key("k"));
    expect(second.headers.get("Idempotency-Replayed")).toBe("true");
    expect(second.data).toEqual(first.data);
  });

  it("stores nothing for a refused request", async () => {
    const { api } = await account();
    const taken = await api.createRoom({ customId: "taken" });
    expect((await api.post("/rooms", { name: "X", customId: "taken" }, key("k"))).status).toBe(409);
    expect((await api.post("/rooms", { name: 7 }, key("k"))).status).toBe(400);
    await api.delete(`/rooms/${taken.id}`);
    expect((await api.post("/rooms", { name: "X", customId: "taken" }, key("k"))).status).toBe(201);
  });

  it("is scoped to the organization", async () => {
    const [mine, theirs] = [await account(), await account()];
    const first = await mine.api.post<{ room: object }>("/rooms", { name: "One" }, key("k"));
    const other = await theirs.api.post<{ room: object }>("/rooms", { name: "One" }, key("k"));
    expect(other.headers.get("Idempotency-Replayed")).toBeNull();
    expect(other.data.room).not.toEqual(first.data.room);
  });

  it("expires after a day", async () => {
    const { api } = await account();
    await api.post("/rooms", { name: "X" }, key("k"));
    await age(RECEIPT_LIFETIME_MS - 60_000);
    expect((await api.post("/rooms", { name: "X" }, key("k"))).headers.get("Idempotency-Replayed")).toBe(
      "true",
    );
    await age(60_000);
    const again = await api.post("/rooms", { name: "X" }, key("k"));
    expect([again.status, again.headers.get("Idempotency-Replayed")]).toEqual([201, null]);
    expect((await api.get("/rooms")).data.total).toBe(2);
    await runScheduledTasks(env, Date.now() + RECEIPT_LIFETIME_MS + 1_000);
    expect(await drizzle(env.DB).select().from(receipts)).toEqual([]);
  });

  it.each(["", "a b", "x".repeat(256), "a\tb"])("is refused if it is %j", async (text) => {
    const { api } = await account();
    const answer = await api.post("/rooms", { name: "X" }, key(text));
    expect([answer.status, answer.error?.code]).toEqual([400, "BAD_REQUEST"]);
  });
});
