/** `atrium/server` against the real service: every method once, and what it does when the network fails. */
import { beforeAll, describe, expect, it } from "vitest";
import { AtriumError, AtriumServer } from "../../src/sdk/server/index.ts";
import { type SharedService, useSharedService } from "../node/shared-service.ts";

let service: SharedService;

beforeAll(async () => {
  service = await useSharedService();
});

const connect = (options: Partial<ConstructorParameters<typeof AtriumServer>[0]> = {}) =>
  new AtriumServer({
    serverUrl: `${service.url}/`,
    accountId: service.accountId,
    apiKey: service.apiKey,
    ...options,
  });

/** A fetch whose first `losses` answers get lost on the way back, after the service has done the work. */
function losing(losses: number): { readonly fetch: typeof fetch; readonly tries: () => number } {
  let tries = 0;
  return {
    tries: () => tries,
    fetch: async (input, init) => {
      tries += 1;
      const response = await fetch(input, init);
      if (tries <= losses) throw new TypeError("connection reset");
      return response;
    },
  };
}

const refusal = (promise: Promise<unknown>): Promise<AtriumError> =>
  promise.then(
    () => expect.unreachable(),
    (error: unknown) => {
      expect(error).toBeInstanceOf(AtriumError);
      return error as AtriumError;
    },
  );

describe("a back end", () => {
  it("asks for nothing else when an id is made of dots", async () => {
    const server = connect();
    const { id } = await server.rooms.create({ name: "Still here" });
    expect(await refusal(server.stores.delete(id, "..", ".."))).toMatchObject({ code: "VALIDATION_ERROR" });
    expect(await refusal(server.comments.delete(id, "."))).toMatchObject({ code: "VALIDATION_ERROR" });
    expect((await server.rooms.get(id)).room.name).toBe("Still here");
  });

  it("makes, finds, changes and deletes rooms", async () => {
    const { rooms } = connect();
    const made = await rooms.create({ name: "Weekly planning", customId: "ours/1" });
    expect(await rooms.get(made.id)).toMatchObject({ room: made, users: [], usersTotal: 0 });
    expect((await rooms.getByCustomId("ours/1")).room.id).toBe(made.id);
    expect(await rooms.list({ search: "weekly", limit: 1 })).toMatchObject({ rooms: [made], total: 1 });
    expect(await rooms.update(made.id, { name: "Monthly", state: "closed" })).toMatchObject({
      name: "Monthly",
      state: "closed",
    });
    expect(await rooms.reconcile(made.id)).toMatchObject({ reconciled_active_participants: 0 });
    await rooms.delete(made.id);
    expect(await refusal(rooms.get(made.id))).toMatchObject({ code: "NOT_FOUND", module: "Rooms" });
  });

  it("makes, finds, changes and deletes users", async () => {
    const { rooms, users } = connect();
    const { id: roomId } = await rooms.create({ name: "A room" });
    const ada = await users.create({ roomId, name: "Ada", customId: "7", role: "viewer" });
    expect(ada.token).toMatch(/^ey/);
    expect(await users.get(roomId, ada.id)).toEqual({ user: ada, sessions: [] });
    expect((await users.getByCustomId(roomId, "7")).user).toEqual(ada);
    expect(await users.list(roomId, { search: "ad" })).toMatchObject({ users: [ada], total: 1 });
    expect(await users.update(roomId, ada.id, { customId: null, name: "Ada B" })).toMatchObject({
      name: "Ada B",
    });
    expect((await refusal(users.getByCustomId(roomId, "7"))).code).toBe("NOT_FOUND");
    await users.delete(roomId, ada.id);
    expect((await refusal(users.get(roomId, ada.id))).code).toBe("NOT_FOUND");
  });

  it("reads and writes stores, comments and presence, and broadcasts", async () => {
    const atrium = connect();
    const { id: roomId } = await atrium.rooms.create({ name: "A room" });
    const ada = await atrium.users.create({ roomId, name: "Ada" });
    const key = "a/b?c=✨";
    const { version } = await atrium.stores.set(roomId, "tasks", key, { title: "Milk" }, { ifVersion: 0 });
    await atrium.stores.update(roomId, "tasks", key, { done: true }, { ifVersion: version });
    expect((await atrium.stores.get(roomId, "tasks", key)).value).toEqual({ title: "Milk", done: true });
    expect((await refusal(atrium.stores.set(roomId, "tasks", key, 1, { ifVersion: version }))).code).toBe(
      "CONFLICT",
    );
    expect(await atrium.stores.list(roomId)).toEqual([{ name: "tasks", entries: 1 }]);
    expect(Object.keys((await atrium.stores.getAll(roomId, "tasks")).entries)).toEqual([key]);
    await atrium.stores.delete(roomId, "tasks", key);
    expect((await refusal(atrium.stores.get(roomId, "tasks", key))).code).toBe("NOT_FOUND");

    const comment = await atrium.comments.create(roomId, { userId: ada.id, text: "Shall we?" });
    expect(await atrium.comments.update(roomId, comment.id, { resolved: true })).toMatchObject({
      resolved: true,
    });
    expect(await atrium.comments.list(roomId, { resolved: true })).toMatchObject({ total: 1 });
    await atrium.comments.delete(roomId, comment.id);
    expect(await atrium.comments.list(roomId)).toMatchObject({ comments: [] });

    expect(await atrium.broadcast(roomId, "hello", { text: "Hi" })).toBe(0);
    expect(await atrium.getPresence(roomId)).toEqual({});
  });
});

describe("when answers get lost", () => {
  it("a creation is done once", async () => {
    const network = losing(2);
    const room = await connect({ fetch: network.fetch }).rooms.create({ name: "Only one" });
    expect(network.tries()).toBe(3);
    expect(await connect().rooms.list({ search: "only one" })).toMatchObject({ rooms: [room], total: 1 });
  });

  it("what was deleted by an earlier try counts as deleted", async () => {
    const { id } = await connect().rooms.create({ name: "Short-lived" });
    await connect({ fetch: losing(1).fetch }).rooms.delete(id);
    expect((await refusal(connect().rooms.delete(id))).code).toBe("NOT_FOUND");
  });

  it("a conditional write is not repeated, as it would seem to be in conflict with itself", async () => {
    const { id } = await connect().rooms.create({ name: "A room" });
    const network = losing(1);
    const writing = connect({ fetch: network.fetch }).stores.set(id, "s", "k", 1, { ifVersion: 0 });
    expect(await refusal(writing)).toMatchObject({ code: "UNREACHABLE", requestId: undefined });
    expect(network.tries()).toBe(1);
  });

  it("it gives up after so many tries as it was told", async () => {
    const network = losing(9);
    const asking = connect({ fetch: network.fetch, maxRetries: 1 }).rooms.list();
    expect(await refusal(asking)).toMatchObject({ code: "UNREACHABLE", module: "Client" });
    expect(network.tries()).toBe(2);
  });
});

it("a refusal says what is wrong, and by which id the service logged it", async () => {
  const refused = await refusal(connect({ apiKey: "atrium_sk_wrong" }).rooms.list());
  expect(refused).toMatchObject({ name: "AtriumError", code: "UNAUTHORIZED", module: "Auth" });
  expect(refused.requestId).toMatch(/^[0-9a-f-]{36}$/);
});
