/** Rooms, users and sockets for the tests of a room's object, with a clock that only the test moves. */
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { Role, UserRecord } from "@atrium/contract/resources/user.ts";
import { fold } from "@atrium/contract/text.ts";
import { eq } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { expect, vi } from "vitest";
import { type RoomRow, rooms } from "../../../src/features/rooms/table.ts";
import { recordOf, type UserRow, users } from "../../../src/features/users/table.ts";
import { tokensFor } from "../../../src/features/users/tokens.ts";
import { accounts } from "../../../src/platform/d1/table.ts";
import { roomGateway } from "../../../src/room/host/gateway.ts";
import type { RoomObjectBase } from "../../../src/room/host/room-object.ts";
import { TestSocket } from "./test-socket.ts";

const db = drizzle(env.DB);
export const tokens = tokensFor(["a-secret-of-the-tests-and-of-nothing-else"]);
export const gateway = roomGateway(env);

/** Far ahead of the real time, so that an alarm fires only if a test runs it. */
const START = Date.UTC(2100, 0, 1);

/** A user with the token to join. */
export interface TestUser {
  readonly user: UserRecord;
  readonly token: string;
}

/** A room in an account of its own. Only the test moves its clock: by `advance`, or by changing `now`. */
export class TestRoom {
  readonly accountId: string;
  readonly id: string;
  now = START;

  constructor(accountId: string, id: string) {
    this.accountId = accountId;
    this.id = id;
  }

  get stub(): DurableObjectStub<RoomObjectBase> {
    return env.ROOMS.getByName(this.id);
  }

  /** Runs `work` inside the object, which then uses the room's clock. */
  inside<T>(work: (object: RoomObjectBase, state: DurableObjectState) => T | Promise<T>): Promise<T> {
    return runInDurableObject(this.stub, (object: RoomObjectBase, state) => {
      object.clock = () => this.now;
      return work(object, state);
    });
  }

  /** Moves the clock forward and runs the alarm, if one is set. */
  async advance(ms: number): Promise<void> {
    this.now += ms;
    await this.alarm();
  }

  /** Runs the alarm now, due or not; false when none is set. */
  async alarm(): Promise<boolean> {
    await this.inside(() => undefined);
    return runDurableObjectAlarm(this.stub);
  }

  alarmAt(): Promise<number | null> {
    return this.inside((_, state) => state.storage.getAlarm());
  }

  /**
   * Drops the object's memory and keeps its sockets, as hibernation does. Runs the alarm first: the object wakes
   * by the real clock, and would copy outstanding stats by itself while the test continues.
   */
  async hibernate(): Promise<void> {
    await this.alarm();
    await this.inside(() => scheduler.wait(0)); // an object with a timer running does not hibernate
    await evictDurableObject(this.stub);
    await this.inside(() => undefined);
  }

  /** Ends the object as a crash or a deploy does: memory and sockets are lost, storage stays. `wake` starts it again. */
  async crash(wake: () => Promise<unknown> = () => this.inside(() => undefined)): Promise<void> {
    await this.inside((_, state) => state.abort("crash")).catch(() => undefined);
    // The object plans its alarm when it starts, before it has the room's clock.
    const clock = vi.spyOn(Date, "now").mockReturnValue(this.now);
    try {
      await wake();
    } finally {
      clock.mockRestore();
    }
    await this.inside(() => undefined);
  }

  /** Breaks a user's sockets, as a lost connection does, or as a client that is about to connect again. */
  async breakSockets({ user }: TestUser, code = 1006): Promise<void> {
    await this.inside((object, state) => {
      for (const end of state.getWebSockets())
        if (JSON.stringify(end.deserializeAttachment()).includes(user.id))
          object.webSocketClose(end, code, "");
    });
  }

  /** Opens a socket that has not joined, from an address. */
  async connect(address = "192.0.2.1"): Promise<TestSocket> {
    await this.inside(() => undefined);
    const upgrade = new Request("https://atrium.test/socket", {
      headers: { Upgrade: "websocket", "CF-Connecting-IP": address },
    });
    const { webSocket } = await gateway.connect(this.id, this.accountId, upgrade);
    if (webSocket === null) throw new Error("The upgrade returned no socket");
    return new TestSocket(webSocket);
  }

  /** Opens a socket, joins as the user, and returns the socket with the response's data. */
  async join(
    user: TestUser,
    role?: Role,
    options: { since?: number; epoch?: string; usersLimit?: number } = {},
  ) {
    const socket = await this.connect();
    const response = await socket.request("JOIN_ROOM", {
      token: user.token,
      ...(role && { role }),
      ...options,
    });
    if (!response.success) throw new Error(`Joining failed: ${response.error.message}`);
    return Object.assign(socket, { joined: response.data });
  }

  /** Sends JOIN_ROOM and runs `meanwhile` in the same turn of the object, while the token is being verified. */
  async joinWhile(token: string, meanwhile: Parameters<TestRoom["inside"]>[0]): Promise<TestSocket> {
    const socket = await this.connect();
    await this.inside(async (object, state) => {
      for (const end of state.getWebSockets())
        object.webSocketMessage(end, JSON.stringify({ type: "JOIN_ROOM", data: { token } }));
      await meanwhile(object, state);
    });
    return socket;
  }

  /** Asks to join from a new socket, and is refused. Returns the answer, the event before the close, and its code. */
  async refusedJoin(data: object | undefined, requestId?: string) {
    const socket = await this.connect();
    const answer = await socket.request("JOIN_ROOM", data, requestId);
    const { code } = await socket.closed;
    const event = await socket.nextEvent().catch(() => null);
    return { answer, event, code };
  }

  /** Adds a user to the room. */
  async user(fields: Partial<UserRow> = {}): Promise<TestUser> {
    const row: UserRow = {
      id: crypto.randomUUID(),
      accountId: this.accountId,
      roomId: this.id,
      name: "Ada",
      nameFolded: fold(fields.name ?? "Ada"),
      profilePicture: null,
      customId: null,
      kind: null,
      role: "editor",
      createdAt: START - 1_000,
      tokenEpoch: 0,
      accountTokenEpoch: 0,
      identityId: null,
      identityEpoch: null,
      ...fields,
    };
    await db.insert(users).values(row);
    const user = recordOf(row);
    return { user, token: await tokens.sign(row) };
  }

  stats() {
    return gateway.read(this.id, this.accountId, []).then(({ stats }) => stats);
  }

  /** The ids of those of `testUsers` who are online, according to the object. */
  async online(...testUsers: TestUser[]): Promise<string[]> {
    const ids = testUsers.map(({ user }) => user.id);
    const { lastSeen } = await gateway.read(this.id, this.accountId, ids);
    return ids.filter((id) => lastSeen[id]?.online);
  }

  sessions(user: TestUser) {
    return gateway
      .stub(this.id)
      .readUser(this.accountId, user.user.id)
      .then(({ sessions }) => sessions);
  }

  apply(command: Parameters<typeof gateway.apply>[2]) {
    return gateway.apply(this.id, this.accountId, command);
  }

  /** Closes or opens the room as REST does: in the database first, then by a room command. */
  async set(state: "active" | "closed") {
    await db.update(rooms).set({ state }).where(eq(rooms.id, this.id));
    return this.apply({ type: state === "closed" ? "room.closed" : "room.updated" });
  }

  /** Deletes the room's row, as REST does before its command reaches the object. */
  async deleteRow(): Promise<void> {
    await db.delete(rooms).where(eq(rooms.id, this.id));
  }

  /** Changes a user's fields as REST does: in the database first, then by a room command. */
  async change(user: TestUser, fields: Partial<Pick<UserRow, "name" | "customId" | "role">>) {
    await db.update(users).set(fields).where(eq(users.id, user.user.id));
    return this.apply({ type: "user.updated", userId: user.user.id });
  }

  reconcile() {
    return gateway.stub(this.id).reconcile(this.accountId);
  }

  /** The room's row, with the database's copy of the stats. */
  async row(): Promise<RoomRow> {
    const row = (await db.select().from(rooms)).find(({ id }) => id === this.id);
    if (row === undefined) throw new Error("The room has no row");
    return row;
  }

  /** The tables in the object's storage, except the platform's own. */
  tables(): Promise<string[]> {
    return this.inside((_, { storage }) =>
      storage.sql
        .exec<{ name: string }>("SELECT name FROM sqlite_master WHERE name NOT LIKE '\\_cf%' ESCAPE '\\'")
        .toArray()
        .map(({ name }) => name),
    );
  }
}

/** Creates a room. */
export async function makeRoom(): Promise<TestRoom> {
  const room = new TestRoom(crypto.randomUUID(), crypto.randomUUID());
  const { id, accountId } = room;
  await db.insert(accounts).values({ id: accountId, name: "Test", createdAt: START });
  await db.insert(rooms).values({
    id,
    accountId,
    name: "Room",
    nameFolded: "ROOM",
    customId: null,
    state: "active",
    createdAt: START,
  });
  return room;
}

/** Adds users to a room that someone has joined who are online without sockets, as they are in their grace. */
export async function seedOnline(room: TestRoom, users: number, state: object | null = null): Promise<void> {
  await room.inside((_, { storage }) => {
    const numbers = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT ?)";
    const createdAt = room.now - 10 * users;
    storage.sql.exec(
      `${numbers} INSERT INTO sessions (id, user_id, joined_at, user)
       SELECT 'session ' || i, 'user ' || i, ? + i, json_object('id', 'user ' || i, 'accountId', ?, 'roomId', ?, 'name',
         'Member number ' || i, 'profilePicture', 'https://example.com/pictures/' || i || '.png', 'customId', 'member-' || i,
         'role', 'editor', 'createdAt', ?) FROM n`,
      ...[users, createdAt, room.accountId, room.id, createdAt],
    );
    const end = room.now + 3_600_000;
    storage.sql.exec(
      `${numbers} INSERT INTO grace_periods (user_id, ends_at, left_at, state) SELECT 'user ' || i, ?, ?, ? FROM n`,
      ...[users, end, end, state && JSON.stringify(state)],
    );
  });
  await room.hibernate();
}

/** A room with two users, whom no one has joined yet. */
export async function roomWithUsers() {
  const room = await makeRoom();
  return { room, ada: await room.user(), ben: await room.user() };
}

/** The same with one socket each, and nothing left to receive. */
export async function roomOfTwo() {
  const { room, ada, ben } = await roomWithUsers();
  const [atAda, atBen] = [await room.join(ada), await room.join(ben)];
  await atAda.takeEvents();
  return { room, ada, ben, atAda, atBen };
}

/** Matches a failed response with this code and module. */
export const failed = (code: string, module = "Rooms") =>
  expect.objectContaining({ success: false, data: {}, error: expect.objectContaining({ code, module }) });
