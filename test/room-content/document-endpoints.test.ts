/** Documents over REST: seeds, updates, reading and deletion, beside the sockets that have them open. */

import { createExecutionContext, runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { DOCUMENT_LIMITS } from "@atrium/contract/document-limits.ts";
import { expect, it } from "vitest";
import * as Y from "yjs";
import { app } from "../../src/app.ts";
import type { Env } from "../../src/env.ts";
import { RoomObject } from "../../src/objects.ts";
import { DocumentClient } from "../room/documents/document-client.ts";
import { account, ORIGIN } from "../support/api.ts";

const BYTES = "application/octet-stream";

/** The update of a document with this text. */
function textUpdate(text: string): Uint8Array {
  const doc = new Y.Doc();
  doc.getText("default").insert(0, text);
  return Y.encodeStateAsUpdate(doc);
}

async function roomWithDocuments() {
  const { api, id: accountId } = await account();
  const room = await api.createRoom();
  const path = `/rooms/${room.id}/documents`;
  const user = async (role: string) =>
    (
      await api.post<{ user: { id: string; token: string } }>("/users", {
        name: "Ada",
        roomId: room.id,
        role,
      })
    ).data.user;
  const put = (update: Uint8Array, by = api, query = "") =>
    by.send<{ applied: boolean }>("PUT", `${path}/notes${query}`, {
      ...{ body: update, headers: { "Content-Type": BYTES } },
    });
  const text = async () => (await api.get<{ content: string }>(`${path}/notes/content`)).data.content;
  /** Opens the document as its users' clients do. */
  const open = async (token: string) => {
    const headers = { Upgrade: "websocket", "Sec-WebSocket-Protocol": `atrium, ${token}` };
    const address = `${ORIGIN}${api.base}${path}/notes/sync`;
    const response = await exports.default.fetch(new Request(address, { headers }));
    if (response.webSocket === null) throw new Error("The upgrade returned no socket");
    return { client: DocumentClient.over(response.webSocket), response };
  };
  return { api, room: { id: room.id, accountId }, path, user, put, text, open };
}

it("of a hundred concurrent seeds exactly one holds (D16)", async () => {
  const { put, text, api } = await roomWithDocuments();
  const seeds = Array.from({ length: 100 }, (_, index) => `seed ${index}`);
  const answers = await Promise.all(seeds.map((seed) => put(textUpdate(seed), api, "?ifEmpty=true")));
  const held = answers.flatMap(({ data }, index) => (data.applied ? index : []));
  expect(held).toHaveLength(1);
  expect(await text()).toBe(seeds[held[0] ?? -1]);
});

it("what REST writes, clients receive, and what clients write, REST reads; deletion closes it for all (D16)", async () => {
  const { api, path, user, put, text, open } = await roomWithDocuments();
  const { id, token } = await user("editor");
  const { client } = await open(token);
  await client.synced();
  expect((await put(textUpdate("from the back end"))).data).toEqual({ applied: true });
  await client.until(() => client.doc.getText("default").toString() === "from the back end");
  client.doc.getText("default").insert(0, "> ");
  client.sync();
  await client.synced();
  expect(await text()).toBe("> from the back end");
  const response = await exports.default.fetch(
    api.request("GET", `${path}/notes`, { headers: { Accept: BYTES } }),
  );
  const copy = new Y.Doc();
  Y.applyUpdate(copy, new Uint8Array(await response.arrayBuffer()));
  expect(copy.getText("default").toString()).toBe("> from the back end");
  expect((await api.get<{ documents: object[] }>(path)).data.documents).toMatchObject([
    { name: "notes", seq: 2, participants: 1, participant_ids: [id] },
  ]);
  expect((await api.delete(`${path}/notes`)).status).toBe(200);
  expect(await client.closed).toMatchObject({ code: 4404 });
  expect((await api.get(`${path}/notes`)).error?.code).toBe("NOT_FOUND");
});

it("the summary of a document is what the list says of it, with its versions and what is stored (D16)", async () => {
  const { api, path, user, put } = await roomWithDocuments();
  const [ada, vera] = [await user("editor"), await user("viewer")];
  await put(textUpdate("one"), api.as(ada.token));
  await api.post(`${path}/notes/versions`, { name: "Draft" });
  await put(textUpdate("two"));
  const [listed] = (await api.get<{ documents: { bytes: number }[] }>(path)).data.documents;
  const { document } = (await api.as(vera.token).get<{ document: object }>(`${path}/notes/summary`)).data;
  expect(document).toEqual({ ...listed, versions: 1, stored_bytes: listed?.bytes });
  expect(await api.get(`${path}/others/summary`)).toMatchObject({
    status: 404,
    error: { code: "NOT_FOUND" },
  });
});

it("a viewer reads and may not write, and what is no update changes nothing (D8, D16, D27)", async () => {
  const { api, path, user, put } = await roomWithDocuments();
  const [ada, vera] = [await user("editor"), await user("viewer")];
  expect((await put(textUpdate("x"), api.as(vera.token))).error?.code).toBe("FORBIDDEN");
  expect((await put(textUpdate("x"), api.as(ada.token))).data).toEqual({ applied: true });
  expect((await put(new Uint8Array([1, 2, 3]))).error?.code).toBe("VALIDATION_ERROR");
  expect((await api.put(`${path}/notes`, { update: "AAA=" })).data).toEqual({ applied: false });
  const read = (query: string) => api.as(vera.token).get(`${path}/notes/content?${query}`);
  const types = [{ name: "default", type: "text" }];
  expect((await read("type=text")).data).toEqual({ content: "x", truncated: false, types });
  expect((await put(textUpdate("yz"))).data).toEqual({ applied: true });
  expect((await read("maxLength=2")).data).toMatchObject({ truncated: true, types });
  for (const maxLength of ["0", "-1", "4194305"])
    expect((await read(`maxLength=${maxLength}`)).error?.code).toBe("BAD_REQUEST");
});

it("a token may be a subprotocol, and an unknown room is a close code (D9, D13)", async () => {
  const { api, user, open } = await roomWithDocuments();
  const { token } = await user("editor");
  const { client, response } = await open(token);
  await client.synced();
  expect(response.headers.get("Sec-WebSocket-Protocol")).toBe("atrium");
  const unknown = await exports.default.fetch(
    new Request(`${ORIGIN}${api.base}/rooms/none/documents/notes/sync`, {
      headers: { Upgrade: "websocket" },
    }),
  );
  if (unknown.webSocket === null) throw new Error("The upgrade returned no socket");
  expect(await DocumentClient.over(unknown.webSocket).closed).toMatchObject({ code: 4404 });
});

it("the trail says who wrote what, users and keys alike, and only to those who may read (D5)", async () => {
  const { api, path, user, put } = await roomWithDocuments();
  const ada = await user("editor");
  await put(textUpdate("one"));
  await put(textUpdate("two"), api.as(ada.token));
  const { data } = await api.as(ada.token).get<{ trail: object[]; next: null }>(`${path}/notes/trail`);
  expect(data).toMatchObject({
    trail: [
      { author: { type: "user", id: ada.id }, authors: [{ id: ada.id }], seq: 2, updates: 1 },
      { author: { type: "key", id: expect.any(String) }, seq: 1, updates: 1 },
    ],
    next: null,
  });
  expect((await api.get(`${path}/notes/trail?limit=1`)).data).toMatchObject({ trail: [{ seq: 2 }], next: 2 });
  expect((await api.get(`${path}/notes/trail?before=2`)).data).toMatchObject({
    trail: [{ seq: 1 }],
    next: null,
  });
  expect((await api.get(`${path}/notes/trail?before=x`)).error?.code).toBe("BAD_REQUEST");
  expect((await api.get(`${path}/others/trail`)).error?.code).toBe("NOT_FOUND");
});

it("the trail of what is older than the setting says is one entry with all authors (D22)", async () => {
  const { api, room, path, user, put } = await roomWithDocuments();
  const ada = await user("editor");
  await put(textUpdate("one"));
  await put(textUpdate("two"), api.as(ada.token));
  await runInDurableObject(env.ROOMS.getByName(room.id), async (_, state) => {
    const object = new RoomObject(state, { ...env, DOCUMENT_TRAIL_DAYS: "2" });
    object.clock = () => Date.now() + 4 * 24 * 60 * 60 * 1000;
    const write = { author: { type: "user", id: ada.id }, onlyIfEmpty: false } as const;
    expect(
      await object.writeDocument(
        room.accountId,
        "notes",
        textUpdate("x".repeat(DOCUMENT_LIMITS.foldBytes)),
        write,
      ),
    ).toBe(true);
    const page = { before: 9, limit: 9 };
    await expect.poll(() => object.readTrail(room.accountId, "notes", page)).toHaveLength(2);
  });
  const { trail } = (await api.get<{ trail: object[] }>(`${path}/notes/trail`)).data;
  expect(trail).toMatchObject([
    { author: { id: ada.id }, authors: [{ id: ada.id }], seq: 3, updates: 1 },
    { author: null, authors: [{ type: "key" }, { type: "user", id: ada.id }], seq: 2, updates: 2 },
  ]);
});

it("versions are named, listed, read and deleted, by those who may write (D20)", async () => {
  const { api, path, user, put } = await roomWithDocuments();
  const [ada, vera] = [await user("editor"), await user("viewer")];
  const versions = `${path}/notes/versions`;
  await put(textUpdate("one"), api.as(ada.token));
  const draft = await api.as(ada.token).post<{ version: { version: number } }>(versions, { name: "Draft" });
  expect([draft.status, draft.data.version]).toMatchObject([
    201,
    { version: 1, name: "Draft", authors: [{ type: "user", id: ada.id }] },
  ]);
  expect((await api.post(versions, { name: "Again" })).error?.code).toBe("CONFLICT");
  expect((await api.as(vera.token).post(versions, { name: "Mine" })).error?.code).toBe("FORBIDDEN");
  await put(textUpdate("two"));
  const read = (version: string) => api.as(vera.token).get(`${path}/notes/content?version=${version}`);
  expect((await read("1")).data).toMatchObject({ content: "one" });
  expect((await read("2")).error).toMatchObject({ code: "NOT_FOUND", message: "Version not found" });
  expect((await read("x")).error?.code).toBe("BAD_REQUEST");
  await api.post(versions, { name: "Final" });
  expect((await api.patch(`${versions}/1`, { name: null })).data).toMatchObject({
    version: { named_by: null },
  });
  expect((await api.get(`${versions}?limit=1`)).data).toMatchObject({
    versions: [{ name: "Final" }],
    next: 2,
  });
  expect((await api.get(`${versions}?before=2`)).data).toMatchObject({
    versions: [{ name: null }],
    next: null,
  });
  expect((await api.delete(`${versions}/1`)).status).toBe(200);
  expect((await api.delete(`${versions}/x`)).error?.code).toBe("NOT_FOUND");
  expect((await read("1")).error?.code).toBe("NOT_FOUND");
});

it("a version is restored before the eyes of all, as an edit of the one who asks, and back again (D21)", async () => {
  const { api, path, user, put, text, open } = await roomWithDocuments();
  const [ada, vera] = [await user("editor"), await user("viewer")];
  await put(textUpdate("first"));
  await api.post(`${path}/notes/versions`, { name: "First" });
  const { client } = await open(ada.token);
  await client.synced();
  const shown = client.doc.getText("default");
  shown.insert(5, " and second");
  client.sync();
  await client.synced();
  const restore = (version: number, by = api) =>
    by.post<{ applied: boolean }>(`${path}/notes/versions/${version}/restore`);
  expect((await restore(1, api.as(vera.token))).error?.code).toBe("FORBIDDEN");
  expect((await restore(1, api.as(ada.token))).data).toEqual({ applied: true });
  await client.until(() => shown.toString() === "first");
  expect((await restore(1)).data).toEqual({ applied: false });
  const { trail } = (await api.get<{ trail: object[] }>(`${path}/notes/trail`)).data;
  expect(trail[0]).toMatchObject({ author: { type: "user", id: ada.id } });
  const { versions } = (await api.get<{ versions: object[] }>(`${path}/notes/versions`)).data;
  expect(versions).toMatchObject([{ version: 2, name: null }, { version: 1 }]);
  const answers = await Promise.all([restore(2), restore(2)]);
  expect(answers.filter(({ data }) => data?.applied)).toHaveLength(1);
  await client.until(() => shown.toString() === "first and second");
  expect(await text()).toBe("first and second");
  expect((await restore(99)).error).toMatchObject({ code: "NOT_FOUND", message: "Version not found" });
});

it("versions are compared with each other and with the document as it is, and by whom they differ (D23)", async () => {
  const { api, path, user, put } = await roomWithDocuments();
  const [ada, vera] = [await user("editor"), await user("viewer")];
  const doc = new Y.Doc();
  const write = (at: number, text: string, by = api) => {
    const known = Y.encodeStateVector(doc);
    doc.getText("default").insert(at, text);
    return put(Y.encodeStateAsUpdate(doc, known), by);
  };
  await write(0, "Hello");
  await api.post(`${path}/notes/versions`, { name: "First" });
  await write(5, " world", api.as(ada.token));
  await api.post(`${path}/notes/versions`, { name: "Second" });
  await write(0, "> ");
  const compare = async (query: string) => {
    const { data, error } = await api
      .as(vera.token)
      .get<{ changes: { segments: object[] }[] }>(`${path}/notes/compare?${query}`);
    return error?.code ?? data.changes.flatMap(({ segments }) => segments);
  };
  const author = { type: "user", id: ada.id };
  expect(await compare("from=1&to=2")).toEqual([
    { op: "keep", kind: "text", text: "Hello", authors: [] },
    { op: "insert", kind: "text", text: " world", authors: [author] },
  ]);
  expect(await compare("from=2")).toMatchObject([
    { op: "insert", text: "> " },
    { op: "keep", text: "Hello world" },
  ]);
  expect(await compare("")).toMatchObject([
    { text: "> Hello", authors: [{ type: "key" }] },
    { text: " world", authors: [author] },
  ]);
  expect(await compare("from=2&to=2")).toEqual([]);
  expect(await compare("from=2&to=1")).toBe("BAD_REQUEST");
  expect(await compare("from=1&to=3")).toBe("NOT_FOUND");
  expect((await api.get(`${path}/others/compare`)).error?.code).toBe("NOT_FOUND");
});

it("what one user wrote is taken back before the eyes of all, once, also when several ask at once (D25)", async () => {
  const { api, path, user, put, text, open } = await roomWithDocuments();
  const [ada, vera] = [await user("editor"), await user("viewer")];
  await put(textUpdate("kept and lost"));
  await api.post(`${path}/notes/versions`, { name: "First" });
  const { client } = await open(ada.token);
  await client.synced();
  const shown = client.doc.getText("default");
  shown.delete(4, 9);
  shown.insert(0, "> ");
  client.sync();
  await client.synced();
  const rollBack = (body: object, by = api) => by.post<{ applied: boolean }>(`${path}/notes/rollback`, body);
  expect((await rollBack({ userId: ada.id }, api.as(vera.token))).error?.code).toBe("FORBIDDEN");
  expect((await rollBack({ userId: vera.id })).data).toEqual({ applied: false });
  expect((await rollBack({ userId: ada.id, from: 2, to: 1 })).error?.code).toBe("BAD_REQUEST");
  expect((await rollBack({ userId: ada.id, from: 0, to: 9 })).error?.code).toBe("NOT_FOUND");
  const answers = await Promise.all([1, 2, 3].map(() => rollBack({ userId: ada.id, from: 1 })));
  expect(answers.filter(({ data }) => data?.applied)).toHaveLength(1);
  await client.until(() => shown.toString() === "kept and lost");
  expect((await rollBack({ userId: ada.id, from: 1 })).data).toEqual({ applied: false });
  const { versions } = (await api.get<{ versions: object[] }>(`${path}/notes/versions`)).data;
  expect(versions).toMatchObject([{ name: null }, { version: 1 }]);
  expect(await text()).toBe("kept and lost");
});

it("a document that replaces another one meanwhile is not compared, restored or rolled back with it (D21, D23, D25)", async () => {
  const { api, path, room, user, put, text } = await roomWithDocuments();
  const ada = await user("editor");
  const create = async (first: string) => {
    await put(textUpdate(first), api.as(ada.token));
    await api.post(`${path}/notes/versions`, { name: "First" });
    await put(textUpdate("more "));
  };
  /** The room, in which the document is deleted and another one created just before this method is called. */
  const replacedBefore = (method: string, then: string) => ({
    getByName: () =>
      new Proxy(env.ROOMS.getByName(room.id), {
        get:
          (stub, name) =>
          async (...sent: unknown[]) => {
            if (name === method) {
              await api.delete(`${path}/notes`);
              if (then !== "") await create(then);
            }
            return Reflect.apply(Reflect.get(stub, name) as () => unknown, stub, sent);
          },
      }),
  });
  const answer = async (method: string, address: string, rooms: object, body?: object) => {
    const init = { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) ?? null };
    const request = api.request(method, `${path}/notes/${address}`, init);
    const bindings = { ...env, ROOMS: rooms as Env["ROOMS"] };
    return (await app.fetch(request, bindings, createExecutionContext())).status;
  };
  await create("old");
  expect(await answer("GET", "compare?from=1", replacedBefore("readWritten", "second"))).toBe(404);
  expect(await answer("POST", "versions/1/restore", replacedBefore("writeDocument", "third"))).toBe(404);
  const rollback = { userId: ada.id };
  expect(await answer("POST", "rollback", replacedBefore("writeDocument", "fourth"), rollback)).toBe(404);
  expect(await text()).toMatch(/fourth/);
  expect(await answer("POST", "versions/1/restore", replacedBefore("writeDocument", ""))).toBe(404);
  expect((await api.get(`${path}/notes`)).error?.code).toBe("NOT_FOUND");
});
