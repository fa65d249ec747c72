/** Listing a room's files: order, pages, and filters by type and uploader. */

import type { StorageFile } from "@atrium/contract/resources/file.ts";
import type { FoundFile } from "@atrium/contract/rest/files.ts";
import { beforeAll, describe, expect, it } from "vitest";
import { type Account, account } from "../support/api.ts";
import { insertFiles, type OwnerWithRoom, ownerWithRoom, store, textFile } from "./upload-form.ts";

interface Listed {
  readonly files: StorageFile[];
  readonly total: number;
  readonly limit: number;
  readonly offset: number;
}

let owner: OwnerWithRoom;
let bo: string;

beforeAll(async () => {
  owner = await ownerWithRoom();
  bo = (await owner.api.createUser(owner.roomId, { name: "Bo" })).id;
  const types = ["image/png", "IMAGE/GIF", "image/svg+xml", "text/plain; charset=utf-8", "imagery/png", ""];
  for (const [index, type] of types.entries()) {
    const userId = index % 2 === 0 ? owner.userId : bo;
    await store(owner.api, { ...owner.fields, userId }, textFile(`${index}`, "x".repeat(index), type));
  }
  const elsewhere = await owner.api.createRoom();
  const user = await owner.api.createUser(elsewhere.id);
  await store(owner.api, { roomId: elsewhere.id, userId: user.id }, textFile("elsewhere"));
});

const list = async (query = "") =>
  (await owner.api.get<Listed>(`/files?roomId=${owner.roomId}${query}`)).data;
const namesOf = async (query: string) => (await list(query)).files.map(({ filename }) => filename).toSorted();

describe("a list of files", () => {
  it("contains each file once, newest first, for any page size", async () => {
    const { files, ...page } = await list();
    expect(page).toEqual({ total: 6, limit: 50, offset: 0, cursor: null });
    const times = files.map(({ uploadedAt }) => uploadedAt);
    expect(times).toEqual(times.toSorted().toReversed());
    const paged: StorageFile[] = [];
    for (let offset = 0; offset < 6; offset += 4) {
      const part = await list(`&limit=4&offset=${offset}`);
      expect(part).toMatchObject({ total: 6, limit: 4, offset });
      paged.push(...part.files);
    }
    expect(paged).toEqual(files);
    expect((await list("&offset=100")).files).toEqual([]);
    expect((await list("&limit=1000")).limit).toBe(100);
  });

  it.each([
    ["mimeType=image/png", ["0"]],
    ["mimeType=Image/Gif", ["1"]],
    ["mimeType=image/", ["0", "1", "2"]],
    ["mimeType=image/*", ["0", "1", "2"]],
    ["mimeType=text/plain", ["3"]],
    ["mimeType=text/plain;%20charset=ascii", ["3"]],
    ["mimeType=image/svg%2Bxml", ["2"]],
    ["mimeType=image/png&mimeType=text/&mimeType=image/png", ["0", "3"]],
    ["mimeType=application/octet-stream", ["5"]],
    ["mimeType=image/p", []],
    ["mimeType=image/%25", []],
    ["mimeType=video/", []],
  ])("with %s shows %j", async (query, names) => {
    expect(await namesOf(`&${query}`)).toEqual(names);
    expect((await list(`&${query}&limit=1`)).total).toBe(names.length);
  });

  it("can be filtered by uploader", async () => {
    expect(await namesOf(`&userId=${bo}`)).toEqual(["1", "3", "5"]);
    expect(await namesOf(`&userId=${bo}&mimeType=image/`)).toEqual(["1"]);
    expect(await namesOf("&userId=unknown")).toEqual([]);
  });

  it("keeps the files of a deleted user", async () => {
    const other = await ownerWithRoom();
    const key = await store(other.api, other.fields, textFile());
    await other.api.delete(`/users/${other.userId}?roomId=${other.roomId}`);
    const { data } = await other.api.get<Listed>(`/files?roomId=${other.roomId}`);
    expect(data.files).toMatchObject([{ key, uploadedBy: other.userId }]);
  });

  it("of an unknown room is not found", async () => {
    const answer = await owner.api.get(`/files?roomId=${crypto.randomUUID()}`);
    expect([answer.status, answer.error?.module]).toEqual([404, "Rooms"]);
  });

  it("accepts up to a hundred types", async () => {
    const types = (count: number) => "&mimeType=image/png".repeat(count);
    expect((await list(types(100))).total).toBe(1);
    const answer = await owner.api.get(`/files?roomId=${owner.roomId}${types(101)}`);
    expect([answer.status, answer.error?.code]).toEqual([400, "BAD_REQUEST"]);
  });
});

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
  await insertFiles(owner, 5_001, { name: "n || '.txt'" });
  const first = await find(owner, { search: "0.txt", userId: owner.userId, limit: "1" });
  expect(first.files.map(({ filename }) => filename)).toEqual(["5000.txt"]);
  const none = await find(owner, { search: "none" });
  expect([none.files, typeof none.cursor]).toEqual([[], "string"]);
  const rest = await find(owner, { search: "none", after: none.cursor ?? "" });
  expect(rest).toEqual({ files: [], cursor: null });
  const last = await find(owner, { search: "0", after: none.cursor ?? "" });
  expect(last.files.map(({ filename }) => filename)).toEqual(["0.txt"]);
});
