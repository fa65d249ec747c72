/** Finding files of all rooms by their names. */
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import type { FoundFile } from "../../src/features/files/schema.ts";
import { type Account, account } from "../support/api.ts";
import { ownerWithRoom, store, textFile } from "./upload-form.ts";

interface Found {
  readonly files: FoundFile[];
  readonly cursor: string | null;
}
const find = async (owner: Pick<Account, "api">, query: Record<string, string>) =>
  (await owner.api.get<Found>(`/organization/files?${new URLSearchParams(query)}`)).data;

it("finds files of all rooms in any script, with the names of their rooms and users, page after page", async () => {
  const owner = await ownerWithRoom();
  const room = await owner.api.createRoom({ name: "Archive" });
  const bo = await owner.api.createUser(room.id, { name: "Bo" });
  for (const name of ["Straße.txt", "plan.png", "Plan of ŽUPA.txt"])
    await store(owner.api, owner.fields, textFile(name));
  await store(owner.api, { roomId: room.id, userId: bo.id }, textFile("old plan.txt"));
  const names = async (query: Record<string, string>) =>
    (await find(owner, query)).files.map(({ filename }) => filename);
  expect(await names({})).toEqual(["old plan.txt", "Plan of ŽUPA.txt", "plan.png", "Straße.txt"]);
  expect(await names({ search: "PLAN" })).toEqual(["old plan.txt", "Plan of ŽUPA.txt", "plan.png"]);
  expect(await names({ search: "župa" })).toEqual(["Plan of ŽUPA.txt"]);
  expect(await names({ search: "STRASSE" })).toEqual(["Straße.txt"]);
  expect(await names({ search: "plan", userId: bo.id })).toEqual(["old plan.txt"]);
  expect(await names({ search: "plan", roomId: owner.roomId })).toEqual(["Plan of ŽUPA.txt", "plan.png"]);
  const first = await find(owner, { search: "plan", limit: "2" });
  expect(first.files[0]).toMatchObject({ roomId: room.id, roomName: "Archive", uploaderName: "Bo" });
  const next = await find(owner, { search: "plan", limit: "2", after: first.cursor ?? "" });
  expect([next.files.map(({ filename }) => filename), next.cursor]).toEqual([["plan.png"], null]);
  expect((await find(await account(), {})).files).toEqual([]);
  await owner.api.delete(`/rooms/${room.id}`);
  expect(await names({ search: "plan" })).toEqual(["Plan of ŽUPA.txt", "plan.png"]);
});

it("reads a bounded number of names in a request, and goes on behind them", async () => {
  const owner = await ownerWithRoom();
  await env.DB.prepare(
    `INSERT INTO files (key, account_id, room_id, filename, mime_type, media_type, size, uploaded_by, uploaded_at, state)
     WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < 5000)
     SELECT printf('%s/%022d/uploads/%d.txt', ?1, n, n), ?2, ?1, n || '.txt', 'text/plain', 'text/plain', 0, ?3, n, 'stored'
     FROM numbers`,
  )
    .bind(owner.roomId, owner.id, owner.userId)
    .run();
  const first = await find(owner, { search: "0.txt", userId: owner.userId, limit: "1" });
  expect(first.files.map(({ filename }) => filename)).toEqual(["5000.txt"]);
  const none = await find(owner, { search: "none" });
  expect([none.files, typeof none.cursor]).toEqual([[], "string"]);
  const rest = await find(owner, { search: "none", after: none.cursor ?? "" });
  expect(rest).toEqual({ files: [], cursor: null });
  const last = await find(owner, { search: "0", after: none.cursor ?? "" });
  expect(last.files.map(({ filename }) => filename)).toEqual(["0.txt"]);
});
