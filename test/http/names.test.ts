/** Names that users and applications choose: each can be asked for at its address, and searched however it was typed. */

import type { Group, Identity } from "@atrium/contract/resources/identity.ts";
import type { Room } from "@atrium/contract/resources/room.ts";
import type { User } from "@atrium/contract/resources/user.ts";
import { beforeAll, describe, expect, it } from "vitest";
import * as Y from "yjs";
import { DocumentClient } from "../room/documents/document-client.ts";
import { roomWithUsers } from "../room/support/rooms.ts";
import { type Account, account } from "../support/api.ts";
import { bindingsFor, stage } from "../workflows/support.ts";

let owner: Account;
let roomId: string;
beforeAll(async () => {
  owner = await account();
  roomId = (await owner.api.createRoom()).id;
});

const FOLDERS = [".", ".."];
const ADDRESSABLE = [
  ...[
    "%2e",
    "%2E%2e",
    ".%2e",
    "...",
    "./",
    "../..",
    "a/../b",
    "/",
    "//",
    "\\",
    "\\..",
    "?",
    "#",
    "%",
    "%41",
    "%2F",
  ],
  ...[
    "a;b=c",
    "a b",
    " ",
    "\t",
    "\n",
    "+",
    "batch",
    "custom",
    "__proto__",
    "ä",
    "a\u0308",
    "😀",
    "\u202e",
    "~",
    "*",
  ],
];

describe("a custom ID", () => {
  const kinds = {
    room: { path: "/rooms", body: {}, query: "" },
    identity: { path: "/identities", body: {}, query: "" },
    group: { path: "/groups", body: {}, query: "" },
    user: { path: "/users", body: () => ({ roomId }), query: () => `?roomId=${roomId}` },
  };

  it.each(Object.entries(kinds))(
    "of a %s is what its address gives back",
    async (kind, { path, body, query }) => {
      const more = typeof body === "function" ? body() : body;
      const end = typeof query === "function" ? query() : query;
      for (const customId of ADDRESSABLE) {
        const created = await owner.api.post<Record<string, { id: string }>>(path, {
          name: "A name",
          customId,
          ...more,
        });
        expect([customId, created.status]).toEqual([customId, 201]);
        const found = await owner.api.get<Record<string, { id: string; custom_id: string }>>(
          `${path}/custom/${encodeURIComponent(customId)}${end}`,
        );
        expect([customId, found.data[kind]?.id, found.data[kind]?.custom_id]).toEqual([
          customId,
          created.data[kind]?.id,
          customId,
        ]);
      }
    },
  );

  it.each(Object.entries(kinds))(
    "of a %s that no address can hold is refused, also in a change",
    async (kind, { path, body }) => {
      const more = typeof body === "function" ? body() : body;
      const made = await owner.api.post<Record<string, { id: string }>>(path, { name: "A name", ...more });
      for (const customId of FOLDERS) {
        const created = await owner.api.post(path, { name: "A name", customId, ...more });
        const query = kind === "user" ? `?roomId=${roomId}` : "";
        const changed = await owner.api.patch(`${path}/${made.data[kind]?.id}${query}`, { customId });
        for (const { status, error } of [created, changed])
          expect([status, error?.code, error?.message]).toEqual([
            400,
            "VALIDATION_ERROR",
            expect.stringMatching(/^customId: must not be/),
          ]);
      }
    },
  );

  it("that no address can hold is refused by identify, too", async () => {
    for (const customId of FOLDERS) {
      const { error } = await owner.api.post("/identify", { customId, name: "Ada" });
      expect([error?.code, error?.message]).toEqual([
        "VALIDATION_ERROR",
        expect.stringMatching(/^customId: must not/),
      ]);
    }
  });
});

describe("a store and a key", () => {
  it("are what their address gives back, however they were written", async () => {
    const names = ADDRESSABLE;
    const operations = names.map((name) => ({ type: "STORE_SET", store: "names", key: name, value: name }));
    const written = await owner.api.post(`/rooms/${roomId}/stores/batch`, {
      requests: [{ requestId: "a", operations }],
    });
    expect(written.status).toBe(200);
    for (const name of names) {
      const path = `/rooms/${roomId}/stores/names/${encodeURIComponent(name)}`;
      expect([name, (await owner.api.get<{ value: string }>(path)).data.value]).toEqual([name, name]);
    }
    for (const name of names.filter((each) => each !== "batch")) {
      const path = `/rooms/${roomId}/stores/${encodeURIComponent(name)}/key`;
      expect((await owner.api.put(path, { value: name })).status).toBe(200);
      expect([name, (await owner.api.get<{ value: string }>(path)).data.value]).toEqual([name, name]);
    }
  });

  it("that no address can hold are refused by batches and sockets, and can be deleted", async () => {
    const { room, ada } = await roomWithUsers();
    const socket = await room.join(ada);
    for (const name of FOLDERS)
      for (const [field, place] of [
        ["store", { store: name, key: "a" }],
        ["key", { store: "a", key: name }],
      ] as const) {
        const refused = {
          code: "VALIDATION_ERROR",
          message: expect.stringContaining(`${field}: must not be`),
        };
        expect(await socket.request("STORE_SET", { ...place, value: 1 })).toMatchObject({ error: refused });
        expect(await socket.request("STORE_UPDATE", { ...place, value: {} })).toMatchObject({
          error: refused,
        });
        const operations = [{ type: "STORE_SET", ...place, value: 1 }];
        expect(await socket.request("STORE_BATCH", { operations })).toMatchObject({ error: refused });
        expect(await socket.request("STORE_DELETE", place)).not.toMatchObject({ error: refused });
        const { data } = await owner.api.post<{ responses: { error: unknown }[] }>(
          `/rooms/${roomId}/stores/batch`,
          {
            requests: [{ requestId: crypto.randomUUID(), operations }],
          },
        );
        expect(data.responses[0]?.error).toMatchObject(refused);
      }
  });
});

describe("the name of a document", () => {
  const [longest, tooLong] = ["😀".repeat(255), "😀".repeat(256)];

  it("has at most 255 characters, whatever they take, on every wire (D2)", async () => {
    const { room, ada } = await roomWithUsers();
    for (const wire of ["yWebsocket", "hocuspocus", "room"] as const) {
      const client = await (await DocumentClient.open(room, ada, { wire, name: longest })).synced();
      client.type("a");
      client.close();
    }
    const refused = await DocumentClient.open(room, ada, { wire: "hocuspocus", name: tooLong });
    await refused.until(() => refused.frames > 0);
    expect(refused.isSynced).toBe(false);
    refused.close();
  });

  it("has them over REST and for workflows as well", async () => {
    const at = await stage();
    const doc = new Y.Doc();
    doc.getText("default").insert(0, "Hello");
    const write = (name: string, path = `/rooms/${at.roomId}/documents/${encodeURIComponent(name)}`) =>
      at.api.raw("PUT", path, {
        headers: { "Content-Type": "application/octet-stream" },
        body: Y.encodeStateAsUpdate(doc),
      });
    expect((await write(longest)).status).toBe(200);
    expect(await (await write(tooLong)).json()).toMatchObject({
      error: { message: "The document's name is too long: at most 255 characters" },
    });
    const read = (name: string) => bindingsFor(at).call("documents.get", { name, content: {} });
    expect(await read(longest)).toEqual({ value: "Hello" });
    expect(await read(tooLong)).toEqual({
      problem: expect.stringMatching(/^documents\.get: name: must have 1 to 255 characters/),
    });
    const { token } = await at.api.createUser(at.roomId);
    const open = async (name: string) => {
      const headers = { Upgrade: "websocket", "Sec-WebSocket-Protocol": `atrium, ${token}` };
      const path = `/rooms/${at.roomId}/documents/${encodeURIComponent(name)}/sync`;
      const { webSocket } = await at.api.raw("GET", path, { headers });
      if (webSocket === null) throw new Error("The upgrade returned no socket");
      return DocumentClient.over(webSocket);
    };
    (await (await open(longest)).synced()).close();
    expect((await (await open(tooLong)).closed).code).toBe(4400);
  });
});

it("a key that no address can hold is refused to agents and workflows", async () => {
  const at = await stage();
  for (const key of FOLDERS) {
    const args = { roomId, store: "a", key, value: 1 };
    const params = { name: "change_stores", arguments: { operation: "setEntry", arguments: args } };
    const headers = { "Content-Type": "application/json" };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
    const answer = await owner.api.raw("POST", "/v1/../mcp", { headers, body });
    expect(await answer.json()).toMatchObject({
      result: {
        structuredContent: { error: { code: "VALIDATION_ERROR", message: expect.stringMatching(/^key: /) } },
      },
    });
    const json = JSON.stringify({ store: "a", key, value: 1 });
    expect(await bindingsFor(at).call("actions.stores.set", json)).toEqual({
      problem: expect.stringMatching(/^actions\.stores\.set: key: must not be/),
    });
  }
});

it("a text that was typed with composed letters finds names with marks of their own, and the other way round", async () => {
  const forms = ["Zo\u00eb M\u00fcller", "Zoe\u0308 Mu\u0308ller", "ZOE\u0308 M\u00dcLLER"];
  const texts = ["zo\u00eb m\u00fc", "ZOE\u0308 MU\u0308", "\u00cb", "e\u0308"];
  const { id } = await owner.api.createRoom({ name: "People" });
  for (const [index, name] of forms.entries()) {
    await owner.api.createRoom({ name });
    await owner.api.post("/identities", { name });
    await owner.api.post("/groups", { name });
    const { id: userId } = await owner.api.createUser(id, { name });
    await owner.api.upload({ roomId: id, userId }, new File(["a"], `${name}.txt`));
    await owner.api.post(`/rooms/${id}/comments`, { userId, text: `${index}: ${name}` });
  }
  for (const text of texts) {
    const search = encodeURIComponent(text);
    const [rooms, identities, groups, users, everywhere, files, comments] = await Promise.all([
      owner.api.get<{ rooms: Room[] }>(`/rooms?search=${search}`),
      owner.api.get<{ identities: Identity[] }>(`/identities?search=${search}`),
      owner.api.get<{ groups: Group[] }>(`/groups?search=${search}`),
      owner.api.get<{ users: User[] }>(`/users?roomId=${id}&search=${search}`),
      owner.api.get<{ users: User[] }>(`/organization/users?search=${search}`),
      owner.api.get<{ files: unknown[] }>(`/organization/files?search=${search}`),
      owner.api.get<{ comments: unknown[] }>(`/rooms/${id}/comments?search=${search}`),
    ]);
    const found = [
      rooms.data.rooms,
      identities.data.identities,
      groups.data.groups,
      users.data.users,
      everywhere.data.users,
      files.data.files,
      comments.data.comments,
    ].map((list) => list.length);
    expect([text, found]).toEqual([text, [3, 3, 3, 3, 3, 3, 3]]);
  }
  for (const text of ["Zoe", "Muller"])
    expect((await owner.api.get<{ rooms: Room[] }>(`/rooms?search=${text}`)).data.rooms).toEqual([]);
});
