/** R61: operations of the organization on a live room over REST, and the events of connected clients. */
import { exports } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { TestSocket } from "../room/support/test-socket.ts";
import { type Account, account, ORIGIN } from "../support/api.ts";

/** A room of a new organization, with a connected user. */
async function liveRoom() {
  const owner = await account();
  const room = await owner.api.createRoom();
  const user = await owner.api.createUser(room.id);
  const response = await exports.default.fetch(
    new Request(`${ORIGIN}${owner.api.base}/rooms/${room.id}/socket`, { headers: { Upgrade: "websocket" } }),
  );
  if (response.webSocket === null) throw new Error("The upgrade returned no socket");
  const socket = new TestSocket(response.webSocket);
  await socket.request("JOIN_ROOM", { token: user.token });
  await socket.takeEvents();
  return { owner, room, user, socket, path: `/rooms/${room.id}` };
}

const errorOf = async (request: ReturnType<Account["api"]["get"]>) => {
  const { status, error } = await request;
  return [status, error?.module, error?.code];
};

describe("over REST (R61)", () => {
  it.each([
    ["comments", { text: "Hello" }],
    ["broadcast", { event: "hello" }],
  ])(
    "of concurrent POSTs to /%s with one Idempotency-Key the room carries out one (R53, R61)",
    async (what, body) => {
      const { owner, user, socket, path } = await liveRoom();
      const post = () =>
        owner.api.post(`${path}/${what}`, what === "comments" ? { ...body, userId: user.id } : body, {
          headers: { "Idempotency-Key": "k" },
        });
      const responses = await Promise.all([post(), post(), post()]);
      expect(responses.map(({ data }) => data)).toEqual(responses.map(() => responses[0]?.data));
      expect(await socket.takeEvents()).toHaveLength(1);
    },
  );

  it("stores are read and written by the same rules, and participants receive the changes (R61)", async () => {
    const { owner, socket, path } = await liveRoom();
    const { seq: before } = (await socket.call("STORE_SYNC", { store: "tasks" })).data as { seq: number };
    const entry = `${path}/stores/tasks/${encodeURIComponent("a/b ✨")}`;
    expect(await errorOf(owner.api.get(entry))).toEqual([404, "Rooms", "NOT_FOUND"]);
    const version = before + 1;
    expect((await owner.api.put(entry, { value: { a: 1 }, ifVersion: 0 })).data).toEqual({
      version,
      seq: version,
    });
    expect(await errorOf(owner.api.put(entry, { value: 2, ifVersion: 0 }))).toEqual([
      409,
      "Rooms",
      "CONFLICT",
    ]);
    expect((await owner.api.patch(entry, { value: { b: 2 } })).data).toMatchObject({ seq: version + 1 });
    expect((await owner.api.get(entry)).data).toEqual({ value: { a: 1, b: 2 }, version: version + 1 });
    expect((await owner.api.get(`${path}/stores`)).data).toEqual({
      stores: [{ name: "tasks", entries: 1, bytes: 20 }],
    });
    expect((await owner.api.get(`${path}/stores/tasks`)).data).toEqual({
      entries: { "a/b ✨": { value: { a: 1, b: 2 }, version: version + 1 } },
      seq: version + 1,
    });
    expect(await socket.takeEvents()).toMatchObject([
      { event: "storeChanged", data: { key: "a/b ✨", action: "set", by: null } },
      { event: "storeChanged", data: { action: "update", value: { a: 1, b: 2 } } },
    ]);
    await owner.api.put(`${path}/stores/pages/a`, { value: 1 });
    await owner.api.put(`${path}/stores/pages/b`, { value: 2 });
    const page = await owner.api.get<{ entries: object; next?: string }>(`${path}/stores/pages?limit=1`);
    expect([Object.keys(page.data.entries), page.data.next]).toEqual([["a"], "a"]);
    const last = await owner.api.get(`${path}/stores/pages?after=a&limit=999999999`);
    expect([Object.keys(last.data.entries ?? {}), last.data.next]).toEqual([["b"], undefined]);
    for (const key of ["a", "b"]) await owner.api.delete(`${path}/stores/pages/${key}`);
    await socket.takeEvents();
    expect((await owner.api.delete(entry)).data).toEqual({ seq: version + 6 });
    expect((await owner.api.get(`${path}/stores`)).data).toEqual({ stores: [] });
    expect(await socket.takeEvents()).toMatchObject([{ event: "storeChanged", data: { action: "delete" } }]);
    const long = await owner.api.get(`${path}/stores/${"x".repeat(129)}`);
    expect([long.status, long.error?.code]).toEqual([400, "BAD_REQUEST"]);
    expect(await errorOf(owner.api.get(`${path}/stores/s/${"x".repeat(256)}`))).toEqual([
      400,
      "Rooms",
      "BAD_REQUEST",
    ]);
  });

  it("batches of writes happen once over REST and the socket, and have responses of their own (R34, R63)", async () => {
    const { owner, user, socket, path } = await liveRoom();
    const set = (key: string, value: unknown, more = {}) => ({
      ...{ type: "STORE_SET", store: "s", key, value },
      ...more,
    });
    const batch = (requestId: string, operations: object[], atomic = true) => ({
      requestId,
      operations,
      atomic,
    });
    const asUser = owner.api.as(user.token);
    const post = (api: Account["api"], ...requests: object[]) =>
      api.post<{ responses: Record<string, unknown>[] }>(`${path}/stores/batch`, { requests });
    const overSocket = await socket.call("STORE_BATCH", { operations: [set("a", 1)] }, "first");
    const requests = [
      batch("first", [set("a", 1)]),
      batch("refused", [set("b", 1), set("a", 2, { ifVersion: 0 })]),
      batch("partly", [set("b", 1), set("a", 2, { ifVersion: 0 })], false),
      batch("invalid", [{ type: "STORE_SET", store: "s" }]),
    ];
    const answered = await post(asUser, ...requests);
    expect(answered.data.responses).toMatchObject([
      { requestId: "first", success: true, data: overSocket.data, error: null },
      { requestId: "refused", success: false, data: {}, error: { module: "Rooms", code: "CONFLICT" } },
      { requestId: "partly", success: true, data: { results: [{}, { error: { code: "CONFLICT" } }] } },
      { requestId: "invalid", success: false, error: { code: "VALIDATION_ERROR" } },
    ]);
    expect((await post(asUser, requests[0] ?? {}, requests[2] ?? {})).data.responses).toEqual([
      answered.data.responses[0],
      answered.data.responses[2],
    ]);
    const repeated = await socket.call("STORE_BATCH", { ...requests[2], requestId: undefined }, "partly");
    expect(repeated.data).toEqual(answered.data.responses[2]?.data);
    const byOwner = await post(owner.api, batch("first", [set("a", 1)]));
    expect(byOwner.data.responses[0]?.data).not.toEqual(overSocket.data);
    expect(await socket.takeEvents()).toMatchObject([
      { event: "storeChanged", data: { key: "a", by: user.id } },
      { event: "storeChanged", data: { key: "b", by: user.id } },
      { event: "storeChanged", data: { key: "a", by: null } },
    ]);
  });

  it("batches of writes are for editors, and of users only in open rooms (R63)", async () => {
    const { owner, room, user, path } = await liveRoom();
    const viewer = await owner.api.createUser(room.id, { role: "viewer" });
    const operations = [{ type: "STORE_SET", store: "s", key: "k", value: 1 }];
    const post = (api: Account["api"], requestId: string) =>
      api.post(`${path}/stores/batch`, { requests: [{ requestId, operations }] });
    expect(await errorOf(post(owner.api.as(viewer.token), "r"))).toEqual([403, "Rooms", "FORBIDDEN"]);
    const neighbour = await owner.api.createUser((await owner.api.createRoom()).id);
    expect(await errorOf(post(owner.api.as(neighbour.token), "r"))).toEqual([403, "Auth", "FORBIDDEN"]);
    await owner.api.patch(path, { state: "closed" });
    expect(await errorOf(post(owner.api.as(user.token), "r"))).toEqual([403, "Rooms", "FORBIDDEN"]);
    expect((await post(owner.api, "r")).success).toBe(true);
    const none = await owner.api.post(`${path}/stores/batch`, { requests: [] });
    expect([none.status, none.error?.message]).toEqual([400, expect.stringMatching(/^requests/)]);
    const preflight = await owner.api.raw("OPTIONS", `${path}/stores/batch`, {
      headers: {
        Origin: "https://app.test",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,content-type",
      },
    });
    expect(preflight.headers.get("Access-Control-Allow-Origin")).toBe("*");
    const allowed = preflight.headers.get("Access-Control-Allow-Headers");
    expect(allowed).toMatch(/Authorization, Content-Type/);
    expect(allowed).toContain("Last-Event-ID"); // browsers read changes by fetch()
  });

  it("comments are written on behalf of a user, and the organization may change all of them (R61)", async () => {
    const { owner, user, socket, path } = await liveRoom();
    const post = (fields: object) =>
      owner.api.post<{ comment: { id: string } }>(`${path}/comments`, {
        text: "Hello",
        userId: user.id,
        ...fields,
      });
    expect(await errorOf(post({ userId: crypto.randomUUID() }))).toEqual([404, "Users", "NOT_FOUND"]);
    expect(await errorOf(post({ threadId: "unknown" }))).toEqual([404, "Rooms", "NOT_FOUND"]);
    const { id } = (await post({})).data.comment;
    const edited = await owner.api.patch(`${path}/comments/${id}`, { text: "New", resolved: true });
    expect(edited.data).toMatchObject({ comment: { id, text: "New", resolved: true, user_id: user.id } });
    expect((await owner.api.get(`${path}/comments?resolved=true&limit=1`)).data).toMatchObject({
      comments: [{ id }],
      total: 1,
      limit: 1,
    });
    expect((await owner.api.get(`${path}/comments?resolved=false`)).data).toMatchObject({ total: 0 });
    expect((await owner.api.delete(`${path}/comments/${id}`)).success).toBe(true);
    expect(await errorOf(owner.api.delete(`${path}/comments/${id}`))).toEqual([404, "Rooms", "NOT_FOUND"]);
    expect(await socket.takeEvents()).toMatchObject([
      { event: "commentCreated", data: { by: user.id } },
      { event: "commentUpdated", data: { by: null } },
      { event: "commentUpdated", data: { by: null } },
      { event: "commentDeleted", data: { by: null } },
    ]);
  });

  it("comments are searched in any case and script, through as many turns of the room as it takes (R61)", async () => {
    const { owner, user, path } = await liveRoom();
    const texts = [
      "Straße",
      "STRASSE 100%",
      "x".repeat(10_000),
      "其他 straße",
      ...Array.from({ length: 110 }, () => "a".repeat(9_999)),
    ];
    const ids: string[] = [];
    for (const text of [...texts, "Die letzte Straße"]) {
      const { data } = await owner.api.post<{ comment: { id: string } }>(`${path}/comments`, {
        text,
        userId: user.id,
      });
      ids.push(data.comment.id);
    }
    await owner.api.patch(`${path}/comments/${ids[1]}`, { resolved: true });
    const search = async (query: Record<string, string>) => {
      const { data } = await owner.api.get<{ comments: { id: string }[]; total: number }>(
        `${path}/comments?${new URLSearchParams(query)}`,
      );
      return [data.comments.map(({ id }) => ids.indexOf(id)), data.total];
    };
    expect(await search({ search: "strasse" })).toEqual([[0, 1, 3, 114], 4]);
    expect(await search({ search: "STRASSE", limit: "2", offset: "2" })).toEqual([[3, 114], 4]);
    expect(await search({ search: "straße", resolved: "false", limit: "1" })).toEqual([[0], 3]);
    expect(await search({ search: "straße", threadId: ids[1] ?? "" })).toEqual([[1], 1]);
    expect(await search({ search: "0%" })).toEqual([[1], 1]);
    const pages = async (query: Record<string, string>) => {
      const shown: number[][] = [];
      let count = 0;
      for (let cursor: string | null = ""; cursor !== null; ) {
        const after: Record<string, string> = cursor === "" ? {} : { after: cursor };
        const { data } = await owner.api.get<{
          comments: { id: string }[];
          cursor: string | null;
          total: number;
          offset: number;
        }>(`${path}/comments?${new URLSearchParams({ ...query, ...after })}`);
        expect(data.offset).toBe(count);
        count += data.comments.length;
        shown.push([...data.comments.map(({ id }) => ids.indexOf(id)), data.total]);
        cursor = data.cursor;
      }
      return shown;
    };
    expect(await pages({ search: "strasse", limit: "2" })).toEqual([
      [0, 1, 4],
      [3, 114, 4],
    ]);
    expect(await pages({ search: "strasse", limit: "3" })).toEqual([
      [0, 1, 3, 4],
      [114, 4],
    ]);
    expect((await pages({ limit: "100" })).map((page) => page.length)).toEqual([101, 16]);
    expect(await pages({ limit: "1", resolved: "true" })).toEqual([[1, 1]]);
    expect(await search({ search: "nothing" })).toEqual([[], 0]);
  });

  it("broadcasts reach the users online, and presence can be read (R61)", async () => {
    const { owner, user, socket, path } = await liveRoom();
    await socket.call("PRESENCE_UPDATE", { state: { color: "red" } });
    expect((await owner.api.get(`${path}/presence`)).data).toEqual({
      presence: { [user.id]: { color: "red" } },
    });
    await socket.takeEvents();
    expect((await owner.api.post(`${path}/broadcast`, { event: "e" })).data).toEqual({ delivered: 1 });
    const missed = await owner.api.post(`${path}/broadcast`, { event: "e", userIds: ["unknown"] });
    expect(missed.data).toEqual({ delivered: 0 });
    expect(await socket.takeEvents()).toEqual([
      { type: "event", event: "broadcast", data: { event: "e", data: null, from: null } },
    ]);
  });

  it("connected clients receive a created user and a changed room (R57)", async () => {
    const { owner, room, socket, path } = await liveRoom();
    const { id } = await owner.api.createUser(room.id, { name: "New" });
    expect(await socket.nextEvent()).toMatchObject({ event: "userCreated", data: { userId: id } });
    await owner.api.patch(path, { name: "Renamed" });
    expect(await socket.nextEvent()).toMatchObject({
      event: "roomUpdated",
      data: { room: { name: "Renamed" } },
    });
  });
});
