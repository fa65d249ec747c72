/** A program's bindings: they reach the event's room and nothing else. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterAll, describe, expect, it } from "vitest";
import * as Y from "yjs";
import { selectRunner } from "../../src/sandbox/runners/select-runner.ts";
import { store, textFile } from "../files/upload-form.ts";
import { type RunOptions, runProgram, type Stage, stage } from "./support.ts";

const runner = selectRunner(env);
afterAll(() => runner[Symbol.dispose]?.());

/** The result of a program whose function has this body. */
async function answer(at: Stage, body: string, options: RunOptions = {}): Promise<unknown> {
  const source = `export default async (event, { store, room, documents, files }) => {\n${body}\n};`;
  const report = await runProgram(runner, at, source, options);
  if (report.status === "failed") throw new Error(report.result);
  return JSON.parse(report.result);
}

const refusal = (at: Stage, expression: string, options: RunOptions = {}) =>
  answer(
    at,
    `return ${expression}.then(() => "done", (error) => [error.constructor === Error, error.message]);`,
    options,
  );

const plain = (message: string) => [true, message];

const setEntry = ({ api, roomId }: Stage, key: string, value: unknown) =>
  api.put(`/rooms/${roomId}/stores/board/${encodeURIComponent(key)}`, { value });

describe("store", () => {
  it("returns a value, or null", async () => {
    const at = await stage();
    await setEntry(at, "a", { done: true });
    expect(
      await answer(
        at,
        `return [await store.get("board", "a"), await store.get("board", "b"), await store.get("x", "a")];`,
      ),
    ).toEqual([{ done: true }, null, null]);
  });

  it("returns all values of a store by key, for any keys", async () => {
    const at = await stage();
    for (const key of ["a", "__proto__", "constructor"]) await setEntry(at, key, `of ${key}`);
    const body = `
      const all = await store.getAll("board");
      return [Object.entries(all), Object.getPrototypeOf(all), Object.keys(await store.getAll("empty"))];`;
    expect(await answer(at, body)).toEqual([
      expect.arrayContaining([
        ["a", "of a"],
        ["__proto__", "of __proto__"],
        ["constructor", "of constructor"],
      ]),
      null,
      [],
    ]);
  });

  it("refuses to return a store whole that has more than 8 MiB", async () => {
    const at = await stage();
    await setEntry(at, "a", 1);
    await runInDurableObject(env.ROOMS.getByName(at.roomId), (_, { storage }) => {
      for (let count = 0; count < 60; count += 1)
        storage.sql.exec(
          "INSERT INTO entries VALUES ('board', ?, ?, 1)",
          `${count}`,
          `"${"x".repeat(180_000)}"`,
        );
    });
    expect(await refusal(at, "store.getAll('board')")).toEqual([
      true,
      "store.getAll: the store is too large to read whole: it has more than 8 MiB; use store.get",
    ]);
  });

  it("cannot be written to", async () => {
    expect(await answer(await stage(), "return Object.keys(store);")).toEqual(["get", "getAll"]);
  });
});

describe("room", () => {
  it("returns the current room", async () => {
    const at = await stage("Planning");
    const { data } = await at.api.get<{ room: unknown }>(`/rooms/${at.roomId}`);
    expect(await answer(at, "return room.get();")).toEqual(data.room);
  });

  it("returns the room's users, newest first, without their tokens", async () => {
    const at = await stage();
    const ada = await at.api.createUser(at.roomId, { name: "Ada" });
    const bo = await at.api.createUser(at.roomId, { name: "Bo", role: "viewer" });
    const bare = ({ token: _, ...user }: typeof ada) => user;
    expect(await answer(at, "return room.getUsers();")).toEqual([bare(bo), bare(ada)]);
  });

  it("is null once it is deleted, and has no users and no stores", async () => {
    const at = await stage();
    await at.api.delete(`/rooms/${at.roomId}`);
    expect(await answer(at, "return [await room.get(), await room.getUsers()];")).toEqual([null, []]);
    expect(await refusal(at, "store.get('board', 'a')")).toEqual(plain("store.get: Room not found"));
  });
});

it("documents returns their list, and the content of one as text or JSON, or null", async () => {
  const at = await stage();
  const doc = new Y.Doc();
  doc.getText("default").insert(0, "Hello");
  doc.getMap("tasks").set("first", { done: true });
  const update = btoa(String.fromCharCode(...Y.encodeStateAsUpdate(doc)));
  await at.api.put(`/rooms/${at.roomId}/documents/notes`, { update });
  const body = `
      const tasks = await documents.get("notes", { type: "map", root: "tasks" });
      return [await documents.list(), await documents.get("notes"), tasks, await documents.get("others")];`;
  expect(await answer(at, body)).toEqual([
    [
      {
        ...{ name: "notes", seq: 1, bytes: expect.any(Number) },
        ...{ created_at: expect.any(String), updated_at: expect.any(String) },
      },
    ],
    "Hello",
    { first: { done: true } },
    null,
  ]);
});

describe("files", () => {
  async function roomWithFile(): Promise<Stage & { readonly key: string; readonly userId: string }> {
    const at = await stage();
    const { id: userId } = await at.api.createUser(at.roomId);
    const key = await store(at.api, { roomId: at.roomId, userId }, textFile("plan.txt", '{"a":1}'));
    return { ...at, key, userId };
  }

  it("are listed as in the API, with filters by type and uploader", async () => {
    const at = await roomWithFile();
    const { data } = await at.api.get<{ files: unknown[] }>(`/files?roomId=${at.roomId}`);
    const body = `
      const lists = [{}, { mimeType: "text/*" }, { mimeType: "image/png" }, { userId: "${at.userId}" }, { userId: "other" }];
      return Promise.all([files.list(), ...lists.map((filter) => files.list(filter))]);`;
    expect(await answer(at, body)).toEqual([data.files, data.files, data.files, [], data.files, []]);
  });

  it("are returned with their content", async () => {
    const at = await roomWithFile();
    const body = `
      const { data, text, json, ...file } = await files.get(${JSON.stringify(at.key)});
      return [file, data.byteLength, text(), json()];`;
    expect(await answer(at, body)).toEqual([
      expect.objectContaining({ key: at.key, filename: "plan.txt", mimeType: "text/plain", size: 7 }),
      7,
      '{"a":1}',
      { a: 1 },
    ]);
  });

  it.each([
    ["text", "'Grüße'", "text/plain;charset=utf-8", "Grüße"],
    ["bytes", "new Uint8Array([72, 105])", "application/octet-stream", "Hi"],
    [
      "a part of a buffer",
      "new DataView(new Uint8Array([1, 72, 105, 2]).buffer, 1, 2)",
      "application/octet-stream",
      "Hi",
    ],
    ["a Blob", "new Blob(['Hi'], { type: 'text/csv' })", "text/csv", "Hi"],
    ["nothing", "''", "text/plain;charset=utf-8", ""],
    ["text of a given media type", "'<b>', 'text/html'", "text/html", "<b>"],
  ])("are stored from %s", async (_, data, mimeType, content) => {
    const at = await stage();
    const scriptId = crypto.randomUUID();
    const stored = await answer(at, `return files.put("../a\\u0000 b.txt", ${data});`, { scriptId });
    const listed = await at.api.get<{ files: { url: string }[] }>(`/files?roomId=${at.roomId}`);
    expect(listed.data.files).toEqual([
      expect.objectContaining({
        ...(stored as object),
        filename: "a b.txt",
        mimeType,
        uploadedBy: `workflow:${scriptId}`,
      }),
    ]);
    const url = new URL((stored as { url: string }).url);
    expect(await (await at.api.raw("GET", url.pathname)).text()).toBe(content);
  });

  it("may have up to 8 MiB", async () => {
    const at = await stage();
    const put = (bytes: number) => `files.put("a", new Uint8Array(${bytes}))`;
    expect(await answer(at, `await ${put(8 * 1024 * 1024)}; return (await files.list())[0].size;`)).toBe(
      8 * 1024 * 1024,
    );
    expect(await refusal(at, put(8 * 1024 * 1024 + 1))).toEqual(
      plain("files.put: bytes: may have at most 8388608 bytes"),
    );
    const { id: userId } = await at.api.createUser(at.roomId);
    const large = new File([new Uint8Array(8 * 1024 * 1024 + 1)], "b");
    const key = await store(at.api, { roomId: at.roomId, userId }, large);
    expect(await refusal(at, `files.get(${JSON.stringify(key)})`)).toEqual([
      true,
      expect.stringMatching(/^files\.get: The file is too large to read: it has more than 8388608 bytes/),
    ]);
  });

  it("cannot be stored in a closed or deleted room", async () => {
    const at = await stage();
    await at.api.patch(`/rooms/${at.roomId}`, { state: "closed" });
    expect(await refusal(at, `files.put("a", "b")`)).toEqual(
      plain("files.put: The room is closed; reopen it to upload files"),
    );
    await at.api.delete(`/rooms/${at.roomId}`);
    expect(await refusal(at, `files.put("a", "b")`)).toEqual(plain("files.put: Room not found"));
  });

  it("are deleted once", async () => {
    const at = await roomWithFile();
    const call = `files.delete(${JSON.stringify(at.key)})`;
    expect(await answer(at, `return [await ${call}, await ${call}, await files.list()];`)).toEqual([
      true,
      false,
      [],
    ]);
  });
});

it.each([
  ["store.get(1, 'a')", /^store\.get: store: must be a string/],
  ["store.get('a')", /^store\.get: key is required$/],
  ["store.get('', 'a')", /^store\.get: store: must have 1 to 128 characters$/],
  ["store.get({ toString: () => 'a' }, 'a')", /^store\.get: store: must be a string/],
  ["store.getAll(['a'])", /^store\.getAll: store: must be a string/],
  ["documents.get('notes', { type: 'other' })", /^documents\.get: content\.type/],
  ["files.put('', 'a')", /^files\.put: name: must not be empty$/],
  ["files.put(1, 'a')", /^files\.put: name: must be a string/],
  [
    "files.list({ mimeType: '*/*' })",
    /^files\.list: filter\.mimeType: must be a media type such as image\/png/,
  ],
  ["files.list({ roomId: 'b' })", /^files\.list: filter\.roomId: is not a known field$/],
  ["files.list(null)", /^files\.list: filter: /],
  ["files.get(undefined)", /^files\.get: key is required$/],
  ["files.delete(7)", /^files\.delete: key: /],
])("%s is refused", async (call, message) => {
  expect(await refusal(await stage(), call)).toEqual([true, expect.stringMatching(message)]);
});

it("event is the first argument, and also one of the bindings", async () => {
  const source =
    "export default (event, bindings) => [event, event === bindings.event, Object.keys(bindings)];";
  const at = await stage();
  const event = { id: "1", event: "user.created", data: { roomId: at.roomId, userId: "ada" } };
  const { result } = await runProgram(runner, at, source, { event });
  expect(JSON.parse(result)).toEqual([
    event,
    true,
    ["event", "attempt", "env", "store", "room", "documents", "files", "actions"],
  ]);
});

it("an internal failure does not show its cause to the program", async () => {
  const logged: unknown[] = [];
  const db = { run: () => Promise.reject(new Error("D1_ERROR: secret")) };
  const log = (...line: unknown[]) => logged.push(line);
  expect(await refusal(await stage(), "room.get()", { db, log })).toEqual(
    plain("room.get: an internal error occurred; try again later"),
  );
  expect(logged).toHaveLength(1);
});
