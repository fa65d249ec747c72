/** Rooms, users and sockets for the tests of a room's object, with a clock that only they move. */
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { expect } from "vitest";
import { accounts } from "../../../src/accounts/table.ts";
import { roomGateway } from "../../../src/realtime/gateway.ts";
import type { RoomObject } from "../../../src/realtime/room-object.ts";
import { type RoomRow, rooms } from "../../../src/rooms/table.ts";
import type { Role, UserRecord } from "../../../src/users/schema.ts";
import { type UserRow, users } from "../../../src/users/table.ts";
import { tokensFor } from "../../../src/users/tokens.ts";
import { TestSocket } from "./test-socket.ts";

const db = drizzle(env.DB);
export const tokens = tokensFor(["a-secret-of-the-tests-and-of-nothing-else"]);
export const gateway = roomGateway(env);

/** Far ahead of the real time, so that no alarm ever fires unless a test runs it. */
const START = Date.UTC(2100, 0, 1);

/** A user with the token that lets it join. */
export interface TestUser {
  readonly user: UserRecord;
  readonly token: string;
}

/** A room of its own account. Only `at` and `advance` move its clock. */
export class TestRoom {
  readonly accountId: string;
  readonly id: string;
  now = START;

  constructor(accountId: string, id: string) {
    this.accountId = accountId;
    this.id = id;
  }

  get stub(): DurableObjectStub<RoomObject> {
    return env.ROOMS.getByName(this.id);
  }

  /** Runs inside of the object, with the room's clock in place. */
  inside<T>(work: (object: RoomObject, state: DurableObjectState) => T | Promise<T>): Promise<T> {
    return runInDurableObject(this.stub, (object: RoomObject, state) => {
      object.clock = () => this.now;
      return work(object, state);
    });
  }

  /** Lets time pass and, if an alarm is set, runs it. */
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
   * Drops the object's memory and keeps its sockets, as hibernation does. What is owed is copied first: the
   * object wakes by the real clock, and would copy by itself while the test goes on.
   */
  async hibernate(): Promise<void> {
    await this.alarm();
    await evictDurableObject(this.stub);
    await this.inside(() => undefined);
  }

  /** Opens a socket that has not joined. */
  async connect(): Promise<TestSocket> {
    await this.inside(() => undefined);
    const upgrade = new Request("https://atrium.test/socket", { headers: { Upgrade: "websocket" } });
    const { webSocket } = await gateway.connect(this.id, this.accountId, upgrade);
    if (webSocket === null) throw new Error("No socket came back from the upgrade");
    return new TestSocket(webSocket);
  }

  /** Opens a socket, joins as `member`, and gives it with the answer's data. */
  async join(member: TestUser, role?: Role, options: { since?: number } = {}) {
    const socket = await this.connect();
    const answer = await socket.request("JOIN_ROOM", {
      token: member.token,
      ...(role && { role }),
      ...options,
    });
    if (!answer.success) throw new Error(`Joining failed: ${answer.error.message}`);
    return Object.assign(socket, { joined: answer.data });
  }

  /** Adds a user to the room. */
  async user(fields: Partial<UserRow> = {}): Promise<TestUser> {
    const row: UserRow = {
      id: crypto.randomUUID(),
      accountId: this.accountId,
      roomId: this.id,
      name: "Ada",
      nameFolded: "ADA",
      profilePicture: null,
      customId: null,
      role: "editor",
      createdAt: START - 1_000,
      ...fields,
    };
    await db.insert(users).values(row);
    const { nameFolded: _, ...user } = row;
    return { user, token: await tokens.sign(row) };
  }

  stats() {
    return gateway.read(this.id, this.accountId, []).then(({ stats }) => stats);
  }

  /** The ids of `members` who are online, by the object's own word. */
  async online(...members: TestUser[]): Promise<string[]> {
    const ids = members.map(({ user }) => user.id);
    const { attendance } = await gateway.read(this.id, this.accountId, ids);
    return ids.filter((id) => attendance[id]?.online);
  }

  sessions(member: TestUser) {
    return gateway.readUser(this.id, this.accountId, member.user.id).then(({ sessions }) => sessions);
  }

  apply(changeUser: Parameters<typeof gateway.apply>[2]) {
    return gateway.apply(this.id, this.accountId, changeUser);
  }

  /** Changes a user's fields as REST does: in the database first, then by telling the room. */
  async change(member: TestUser, fields: Partial<Pick<UserRow, "name" | "customId">>) {
    await db.update(users).set(fields).where(eq(users.id, member.user.id));
    return this.apply({ type: "user.updated", userId: member.user.id });
  }

  reconcile() {
    return gateway.reconcile(this.id, this.accountId);
  }

  /** The room's row: its figures are the database's copy. */
  async row(): Promise<RoomRow> {
    const row = (await db.select().from(rooms)).find(({ id }) => id === this.id);
    if (row === undefined) throw new Error("The room has no row");
    return row;
  }

  /** The tables that the object's storage holds, but for the platform's own. */
  tables(): Promise<string[]> {
    return this.inside((_, { storage }) =>
      storage.sql
        .exec<{ name: string }>("SELECT name FROM sqlite_master WHERE name NOT LIKE '\\_cf%' ESCAPE '\\'")
        .toArray()
        .map(({ name }) => name),
    );
  }
}

/** Makes a room. */
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

/** Runs `work` while the database refuses all that concerns rooms, as it does when it is down. */
export async function whileDatabaseFails(work: () => Promise<void>): Promise<void> {
  await env.DB.exec("ALTER TABLE rooms RENAME TO rooms_away");
  try {
    await work();
  } finally {
    await env.DB.exec("ALTER TABLE rooms_away RENAME TO rooms");
  }
}

/** Matches a failed response with this code and module. */
export const failed = (code: string, module = "Rooms") =>
  expect.objectContaining({ success: false, data: {}, error: expect.objectContaining({ code, module }) });
