/** API keys that are narrowed to permissions and rooms: their access at every address. None makes a wider one. */
import { env, exports } from "cloudflare:workers";
import type { ApiKey } from "@atrium/contract/rest/api-keys.ts";
import { describe, expect, it } from "vitest";
import { fingerprintOf } from "../../src/features/accounts/api-key.ts";
import { evictKey } from "../../src/features/accounts/verify-key.ts";
import {
  type Account,
  Api,
  account,
  bearer,
  formOf,
  narrowedKey,
  ORIGIN,
  refusalOf,
} from "../support/api.ts";

const FORBIDDEN = [403, "Auth", "FORBIDDEN"];

const UPDATE = "AQEBAAQBAXQBYQA=";

/** A room with a user and something of everything. */
async function furnish({ api }: Account, customId?: string) {
  const { id: roomId } = await api.createRoom(customId === undefined ? {} : { customId });
  const { id: userId } = await api.createUser(roomId);
  const file = await api.upload({ roomId, userId }, new File(["Hello"], "hello.txt"));
  const comment = await api.post<{ comment: { id: string } }>(`/rooms/${roomId}/comments`, {
    ...{ userId, text: "Hello" },
  });
  await api.put(`/rooms/${roomId}/stores/tasks/first`, { value: "milk" });
  await api.put(`/rooms/${roomId}/documents/notes`, { update: UPDATE });
  return { roomId, userId, fileKey: file.data.file.key, commentId: comment.data.comment.id };
}

type Furnished = Awaited<ReturnType<typeof furnish>>;

/** The statuses of requests for the content of a room by each kind of address, with and without `roomId` in the URL. */
async function contentBy(api: Api, { roomId, userId, fileKey, commentId }: Furnished) {
  const room = `/rooms/${roomId}`;
  const upload = (path: string) =>
    api.send("POST", path, { body: formOf({ roomId, userId }, new File(["Hello"], "again.txt")) });
  const answers = {
    users: await api.get(`/users?roomId=${roomId}`),
    presence: await api.get(`${room}/presence`),
    stores: await api.get(`${room}/stores/tasks`),
    comments: await api.get(`${room}/comments`),
    threads: await api.get(`${room}/threads`),
    thread: await api.get(`${room}/threads/${commentId}`),
    documents: await api.get(`${room}/documents`),
    document: await api.get(`${room}/documents/notes`),
    versions: await api.get(`${room}/documents/notes/versions`),
    files: await api.get(`/files?roomId=${roomId}`),
    write: await api.put(`${room}/stores/tasks/second`, { value: "bread" }),
    comment: await api.post(`${room}/comments`, { userId, text: "Again" }),
    read: await api.post(`${room}/threads/${commentId}/mark-as-read`, { userId }),
    participant: await api.put(`${room}/participants/${userId}`, { ttl: 60 }),
    broadcast: await api.post(`${room}/broadcast`, { event: "ping", data: 1 }),
    update: await api.put(`${room}/documents/notes`, { update: UPDATE }),
    upload: await upload(`/upload?roomId=${roomId}`),
    deletion: await api.delete(`/upload?roomId=${roomId}`, { key: fileKey }),
  };
  return Object.fromEntries(Object.entries(answers).map(([name, { status }]) => [name, status]));
}

const successes = (statuses: Record<string, number>) =>
  Object.entries(statuses)
    .flatMap(([name, status]) => (status < 300 ? [name] : []))
    .toSorted();

/** An operation by an agent: its refusal, or null. */
async function callTool({ authorization }: Api, tool: string, operation: string, args: object) {
  const response = await exports.default.fetch(
    new Request(`${ORIGIN}/mcp`, {
      method: "POST",
      headers: { Authorization: authorization ?? "", "Content-Type": "application/json" },
      body: JSON.stringify({
        ...{ jsonrpc: "2.0", id: 1, method: "tools/call" },
        params: { name: tool, arguments: { operation, arguments: args } },
      }),
    }),
  );
  const { result, error } = await response.json<{
    result?: { isError?: boolean; structuredContent?: { error?: { code: string } } };
    error?: { data: { code: string } };
  }>();
  return error?.data.code ?? result?.structuredContent?.error?.code ?? null;
}

describe("a narrowed key", () => {
  it("shows its permissions and rooms where it is made and listed, and in the audit log", async () => {
    const owner = await account();
    const { id } = await owner.api.createRoom();
    const rooms = [id, { customIdPrefix: "board-" }, { customId: "plan" }, { customId: "plan*" }];
    const made = await owner.api.post<{ api_key: ApiKey; key: string }>("/api-keys", {
      ...{ name: "Agent", permissions: "commenter", rooms },
    });
    const shown = {
      permissions: ["*:read", "presence:write", "comments:write"],
      rooms: [id, "board-*", "plan", { customId: "plan*" }],
    };
    expect(made.data.api_key).toMatchObject({ ...shown, prefix: made.data.key.slice(0, 14) });
    expect(made.data.key).toMatch(/^atrium_rk_[0-9A-Za-z]{49}$/);
    const { data } = await owner.api.get<{ api_keys: ApiKey[] }>("/api-keys");
    const whole = { permissions: null, rooms: null };
    expect(data.api_keys.toSorted((one, other) => one.name.localeCompare(other.name))).toMatchObject([
      shown,
      whole,
    ]);
    const { data: audit } = await owner.api.get("/audit");
    expect(audit).toMatchObject({
      entries: [
        {
          operation: "createApiKey",
          changes: {
            name: "Agent",
            permissions: "*:read presence:write comments:write",
            rooms: `${id} {"customIdPrefix":"board-"} {"customId":"plan"} {"customId":"plan*"}`,
          },
        },
      ],
    });
  });

  it("names an ID that is no room's as a custom ID, as a token does", async () => {
    const owner = await account();
    const lookalike = crypto.randomUUID();
    const { api, keyId } = await narrowedKey(owner, { rooms: [lookalike] });
    const room = await owner.api.createRoom({ customId: lookalike });
    expect((await api.get(`/rooms/${room.id}/comments`)).status).toBe(200);
    const { data } = await owner.api.get<{ api_keys: ApiKey[] }>("/api-keys");
    expect(data.api_keys.find(({ id }) => id === keyId)?.rooms).toEqual([{ customId: lookalike }]);
  });

  it("is not made with empty, unknown or too many permissions and rooms", async () => {
    const { api } = await account();
    for (const [field, value] of [
      ["permissions", []],
      ["permissions", ["rooms:write"]],
      ["permissions", ["none"]],
      ["permissions", "owner"],
      ["permissions", null],
      ["rooms", []],
      ["rooms", [""]],
      ["rooms", [{ customId: "a", customIdPrefix: "b" }]],
      ["rooms", Array.from({ length: 11 }, (_, at) => `room-${at}`)],
      ["rooms", null],
    ] as const) {
      const refused = await api.post("/api-keys", { [field]: value });
      expect(refusalOf(refused)).toEqual([400, "Accounts", "VALIDATION_ERROR"]);
      expect(refused.error?.message).toContain(field);
    }
  });

  it("opens what its permissions say in every room, and reads the whole of it", async () => {
    const owner = await account();
    const room = await furnish(owner);
    const reads = ["users", "presence", "stores", "comments", "threads", "thread"];
    const all = [...reads, "documents", "document", "versions", "files", "read"];
    const opened = async (permissions: "viewer" | ["comments:write"] | ["*:read"]) =>
      successes(await contentBy((await narrowedKey(owner, { permissions })).api, room));
    expect(await opened(["*:read"])).toEqual(all.toSorted());
    expect(await opened("viewer")).toEqual([...all, "participant"].toSorted());
    expect(await opened(["comments:write"])).toEqual([...all, "comment"].toSorted());
  });

  it("needs no room in the address of an upload unless it names rooms", async () => {
    const owner = await account();
    const { roomId, userId } = await furnish(owner);
    const upload = ({ api }: Account) => api.upload({ roomId, userId }, new File(["a"], "a.txt"));
    const ofAllRooms = await upload(await narrowedKey(owner, { permissions: ["files:write"] }));
    expect(ofAllRooms.status).toBe(201);
    const refused = await upload(await narrowedKey(owner, { rooms: [roomId] }));
    expect(refusalOf(refused)).toEqual(FORBIDDEN);
    expect(refused.error?.message).toContain("?roomId=");
  });

  it("acts in its rooms alone, by every address and however it names them", async () => {
    const owner = await account();
    const [own, other] = [await furnish(owner, "board-1"), await furnish(owner, "plan")];
    for (const name of [
      own.roomId,
      "board-1",
      "board-*",
      { customId: "board-1" },
      { customIdPrefix: "boa" },
    ]) {
      const { api } = await narrowedKey(owner, { rooms: [name] });
      const elsewhere = await contentBy(api, other);
      expect(elsewhere).toEqual(Object.fromEntries(Object.keys(elsewhere).map((each) => [each, 403])));
    }
    const { api } = await narrowedKey(owner, { rooms: ["board-*"] });
    const inside = await contentBy(api, own);
    expect(successes(inside)).toEqual(Object.keys(inside).toSorted());
  });

  it("is not led into another room by its own room in the address", async () => {
    const owner = await account();
    const [own, other] = [await furnish(owner), await furnish(owner)];
    const { api } = await narrowedKey(owner, { rooms: [own.roomId] });
    const form = formOf({ roomId: other.roomId, userId: other.userId }, new File(["a"], "a.txt"));
    const led = [
      await api.send("POST", `/upload?roomId=${own.roomId}`, { body: form }),
      await api.delete(`/upload?roomId=${own.roomId}`, { key: other.fileKey }),
      await api.get(`/rooms/${other.roomId}/comments?roomId=${own.roomId}`),
    ];
    expect(led.map(refusalOf)).toEqual(led.map(() => FORBIDDEN));
    expect((await api.get(`/rooms/${crypto.randomUUID()}/comments`)).status).toBe(404);
  });

  it("finds the room in an address with percent-encoded letters, as the endpoint does", async () => {
    const owner = await account();
    const [own, other] = [await furnish(owner, "board-1"), await furnish(owner)];
    const encoded = (id: string) => id.replaceAll("-", "%2D");
    for (const room of [own.roomId, "board-*"]) {
      const { api } = await narrowedKey(owner, { rooms: [room] });
      expect((await api.get(`/rooms/${encoded(own.roomId)}/comments`)).status).toBe(200);
      expect((await api.raw("GET", `/r%6Foms/${encoded(own.roomId)}/comments`)).status).toBe(200);
      const led = [
        await api.get(`/rooms/${encoded(other.roomId)}/comments`),
        await api.get(`/rooms/${encoded(other.roomId)}/comments?roomId=${own.roomId}`),
        await api.get(`/r%6Foms/${other.roomId}/comments?roomId=${own.roomId}`),
      ];
      expect(led.map(refusalOf)).toEqual(led.map(() => FORBIDDEN));
      // Encoded twice, the ID is that of no room.
      expect((await api.get(`/rooms/${own.roomId.replaceAll("-", "%252D")}/comments`)).status).toBe(404);
    }
  });

  it("is in a room as long as the room has the custom ID", async () => {
    const owner = await account();
    const { roomId } = await furnish(owner, "board-1");
    const { api } = await narrowedKey(owner, { rooms: ["board-*"] });
    const write = () => api.put(`/rooms/${roomId}/stores/tasks/first`, { value: 1 });
    expect((await write()).status).toBe(200);
    await owner.api.patch(`/rooms/${roomId}`, { customId: "archive-1" });
    expect(refusalOf(await write())).toEqual(FORBIDDEN);
  });

  it("has no part in anything else of the organization, and cannot make more of itself", async () => {
    const owner = await account();
    const { roomId, userId } = await furnish(owner);
    const made = await owner.api.post<{ identity: { id: string } }>("/identities", { name: "Ada" });
    const identityId = made.data.identity.id;
    for (const narrowing of [
      { permissions: ["*:write" as const] },
      { rooms: [roomId] },
      { permissions: ["*:write" as const], rooms: [roomId] },
    ]) {
      const { api, keyId } = await narrowedKey(owner, narrowing);
      const refused = [
        await api.post("/api-keys", narrowing),
        await api.post("/api-keys", {}),
        await api.get("/api-keys"),
        await api.delete(`/api-keys/${keyId}`),
        await api.post("/users", { name: "Ada", roomId }),
        await api.get(`/users/${userId}?roomId=${roomId}`),
        await api.post(`/users/${userId}/tokens?roomId=${roomId}`, { ttl: 60 }),
        await api.post("/identify", { customId: "ada", name: "Ada", rooms: [roomId] }),
        await api.post(`/identities/${identityId}/tokens`, { rooms: [roomId] }),
        await api.post(`/rooms/${roomId}/links`, { permissions: "editor" }),
        await api.put(`/rooms/${roomId}/access`, { defaultAccesses: "editor" }),
        await api.post("/webhooks", { url: "https://hooks.example.com", events: ["user.created"], roomId }),
        await api.post("/workflows", { name: "W", code: "export default () => 1", events: ["user.created"] }),
        await api.post("/invitations"),
        await api.get("/rooms"),
        await api.get(`/rooms/${roomId}`),
        await api.patch(`/rooms/${roomId}`, { customId: "other" }),
        await api.get(`/rooms/${roomId}/events`),
        await api.get("/events"),
        await api.get("/organization/files"),
        await api.get("/organization/users?search=a"),
        await api.get(`/identities/${identityId}/inbox-notifications`),
        await api.get(`/identities/${identityId}/personal-data`),
        await api.get("/audit"),
        await api.get("/me/inbox-notifications"),
      ];
      expect(refused.map(refusalOf)).toEqual(refused.map(() => FORBIDDEN));
      expect(refused[0]?.error?.message).toBe(
        "A narrowed API key may not do this; use one without `permissions` and `rooms`",
      );
      const users = await api.get<{ users: object[] }>(`/users?roomId=${roomId}`);
      expect(users.data.users).toHaveLength(1);
      expect(users.data.users[0]).not.toHaveProperty("token");
    }
  });

  it("has the same rights as an agent, in the rooms that the arguments name", async () => {
    const owner = await account();
    const [own, other] = [await furnish(owner, "board-1"), await furnish(owner)];
    const { api } = await narrowedKey(owner, { permissions: ["comments:write"], rooms: ["board-*"] });
    const comment = ({ roomId, userId }: Furnished) =>
      callTool(api, "change_comments", "createComment", { roomId, userId, text: "Look" });
    const read = ({ roomId }: Furnished) => callTool(api, "read_comments", "listComments", { roomId });
    expect([await comment(own), await read(own)]).toEqual([null, null]);
    expect([await comment(other), await read(other)]).toEqual(["FORBIDDEN", "FORBIDDEN"]);
    // Operations beyond its rights are not shown to it, and refused.
    for (const [tool, operation, args] of [
      ["change_stores", "setEntry", { roomId: own.roomId, store: "tasks", key: "a", value: 1 }],
      ["read_rooms", "listRooms", {}],
      ["change_users", "createUser", { roomId: own.roomId, name: "Ada" }],
      ["change_webhooks", "createWebhook", { url: "https://hooks.example.com", events: ["user.created"] }],
    ] as const)
      expect([tool, await callTool(api, tool, operation, args)]).toEqual([tool, "FORBIDDEN"]);
  });

  it("is not answered with what another key was, by the same Idempotency-Key", async () => {
    const owner = await account();
    const [own, other] = [await furnish(owner), await furnish(owner)];
    const file = () => new File(["a"], "a.txt");
    const fields = { roomId: other.roomId, userId: other.userId };
    const once = { headers: { "Idempotency-Key": "once" } };
    const path = `/upload?roomId=${own.roomId}`;
    const upload = ({ api }: Account) => api.send("POST", path, { ...once, body: formOf(fields, file()) });
    expect((await upload(owner)).status).toBe(201);
    expect((await upload(owner)).headers.get("Idempotency-Replayed")).toBe("true");
    expect(refusalOf(await upload(await narrowedKey(owner, { rooms: [own.roomId] })))).toEqual(FORBIDDEN);
  });

  it("writes a comment of its own by an Idempotency-Key that another key has used for the same text", async () => {
    const owner = await account();
    const { roomId, userId } = await furnish(owner);
    const keys = [
      owner,
      await narrowedKey(owner, { rooms: [roomId] }),
      await narrowedKey(owner, { rooms: [roomId] }),
    ];
    const ids = new Set<string>();
    for (const { api } of [...keys, ...keys]) {
      const body = { userId, text: "Done" };
      const path = `/rooms/${roomId}/comments`;
      const headers = { "Idempotency-Key": "1" };
      const { data } = await api.post<{ comment: { id: string } }>(path, body, { headers });
      ids.add(data.comment.id);
    }
    expect(ids.size).toBe(keys.length);
  });

  it("writes nothing by permissions that a later version has given it, and is listed all the same", async () => {
    const owner = await account();
    const { roomId, userId } = await furnish(owner);
    const { api, keyId } = await narrowedKey(owner, { permissions: ["comments:write"] });
    await env.DB.prepare("UPDATE api_keys SET permissions = ? WHERE id = ?")
      .bind('["boards:write"]', keyId)
      .run();
    const settings = `/rooms/${roomId}/users/${userId}/subscription-settings`;
    const writes = [
      await api.put(`/rooms/${roomId}/stores/tasks/a`, { value: 1 }),
      await api.patch(settings, { threads: "all" }),
    ];
    expect(writes.map(({ status }) => status)).toEqual([403, 403]);
    const { data } = await owner.api.get<{ api_keys: ApiKey[] }>("/api-keys");
    expect(data.api_keys.find(({ id }) => id === keyId)?.permissions).toEqual([]);
  });

  it("stays as it is, and is refused once it is revoked", async () => {
    const owner = await account();
    const { roomId } = await furnish(owner);
    const { api, keyId, apiKey } = await narrowedKey(owner, { rooms: [roomId] });
    const path = `/rooms/${roomId}/comments`;
    expect((await api.get(path)).status).toBe(200);
    expect((await owner.api.patch(`/api-keys/${keyId}`, { rooms: ["*"] })).status).toBe(404);
    await owner.api.delete(`/api-keys/${keyId}`);
    expect((await api.get(path)).status).toBe(401);
    // The form of a whole key is no way around.
    const whole = new Api(owner.id, bearer(owner.id, apiKey.replace("_rk_", "_sk_")));
    expect((await whole.get("/rooms")).status).toBe(401);
  });

  it("leaves keys alone that were made before, of which the database says nothing", async () => {
    const owner = await account();
    const { roomId } = await furnish(owner);
    const columns = "SELECT permissions, rooms FROM api_keys WHERE id = ?";
    expect(await env.DB.prepare(columns).bind(owner.keyId).first()).toEqual({
      permissions: null,
      rooms: null,
    });
    evictKey((await fingerprintOf(owner.apiKey)).hash);
    expect((await owner.api.get("/rooms")).status).toBe(200);
    const { data } = await owner.api.get<{ users: { token?: string }[] }>(`/users?roomId=${roomId}`);
    expect(data.users[0]?.token).toBeDefined();
  });

  it("is the author of what it changes in the audit log", async () => {
    const owner = await account();
    const { roomId, fileKey } = await furnish(owner);
    const { api, keyId } = await narrowedKey(owner, { permissions: ["files:write"], rooms: [roomId] });
    await api.delete(`/upload?roomId=${roomId}`, { key: fileKey });
    const { data } = await owner.api.get(`/audit?actorId=${keyId}`);
    expect(data).toMatchObject({
      entries: [{ operation: "deleteFile", actor: { type: "key", name: "Agent" } }],
    });
  });
});
