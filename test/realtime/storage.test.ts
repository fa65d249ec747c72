/** One contract, two drivers: what the room's storage promises in memory and in SQLite alike. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import type { OpenSession, RoomRecord, RoomStorage } from "../../src/realtime/storage.ts";
import { MemoryStorage } from "../../src/realtime/storage-memory.ts";
import { SqliteStorage } from "../../src/realtime/storage-sqlite.ts";
import type { UserRecord } from "../../src/users/schema.ts";

const RECORD: RoomRecord = {
  accountId: "account",
  roomId: "room",
  activeParticipants: 1,
  occupiedMs: 2,
  occupiedSince: 3,
  version: 4,
  copiedVersion: 3,
  lastAliveAt: 5,
};

const user = (id: string, fields: Partial<UserRecord> = {}): UserRecord => ({
  id,
  accountId: "account",
  roomId: "room",
  name: "Ada ✨",
  profilePicture: null,
  customId: null,
  role: "editor",
  createdAt: 1,
  ...fields,
});

const session = (id: string, userId: string, joinedAt = 10): OpenSession => ({
  id,
  joinedAt,
  user: user(userId),
});

type Driver = (work: (storage: RoomStorage, reopen: () => RoomStorage) => void) => Promise<void>;

const inMemory: Driver = async (work) => {
  const storage = new MemoryStorage();
  work(storage, () => storage);
};

const inSqlite: Driver = (work) =>
  runInDurableObject(env.ROOMS.getByName(crypto.randomUUID()), (_, state) =>
    work(new SqliteStorage(state.storage), () => new SqliteStorage(state.storage)),
  );

describe.each([
  ["memory", inMemory],
  ["SQLite", inSqlite],
])("storage in %s", (_, withStorage) => {
  it("is empty at first, whatever is read", () =>
    withStorage((storage) => {
      expect(storage.readRecord()).toBeNull();
      expect(storage.listOpenSessions()).toEqual([]);
      expect(storage.listSessions("u", 100)).toEqual([]);
      expect(storage.findAttendance(["u"])).toEqual({});
    }));

  it("keeps the record as it was last written", () =>
    withStorage((storage, reopen) => {
      storage.writeRecord({ ...RECORD, occupiedSince: null, version: 3 });
      storage.writeRecord(RECORD);
      expect(reopen().readRecord()).toEqual(RECORD);
    }));

  it("keeps an open session with its user until it ends", () =>
    withStorage((storage, reopen) => {
      storage.insertSession(session("s1", "u1"));
      storage.insertSession(session("s2", "u2", 11));
      expect(reopen().listOpenSessions()).toEqual([session("s1", "u1"), session("s2", "u2", 11)]);
      storage.endSession("s1", 20);
      expect(reopen().listOpenSessions()).toEqual([session("s2", "u2", 11)]);
      expect(storage.listSessions("u1", 100)).toEqual([{ id: "s1", userId: "u1", joinedAt: 10, leftAt: 20 }]);
    }));

  it("changes the user of an open session, and of no other", () =>
    withStorage((storage) => {
      storage.insertSession(session("s1", "u1"));
      storage.insertSession(session("s2", "u2"));
      storage.updateUser(user("u1", { name: "New" }));
      storage.updateUser(user("u3", { name: "Nobody" }));
      expect(storage.listOpenSessions().map((open) => open.user.name)).toEqual(["New", "Ada ✨"]);
    }));

  it("refuses a second open session of a user, and its id again", () =>
    withStorage((storage) => {
      storage.insertSession(session("s1", "u1"));
      expect(() => storage.insertSession(session("s2", "u1"))).toThrow();
      expect(() => storage.insertSession(session("s1", "u2"))).toThrow();
      expect(storage.listOpenSessions()).toHaveLength(1);
    }));

  it("lists a user's sessions newest first, those of one millisecond too, and no more than asked for", () =>
    withStorage((storage) => {
      for (const id of ["a", "b", "c"]) {
        storage.insertSession(session(id, "u1"));
        storage.endSession(id, 10);
      }
      storage.insertSession(session("other", "u2"));
      expect(storage.listSessions("u1", 100).map(({ id }) => id)).toEqual(["c", "b", "a"]);
      expect(storage.listSessions("u1", 2).map(({ id }) => id)).toEqual(["c", "b"]);
    }));

  it("knows of many users at once whether they are online and when they last joined", () =>
    withStorage((storage) => {
      storage.insertSession(session("s1", "u1", 10));
      storage.endSession("s1", 20);
      storage.insertSession(session("s2", "u1", 30));
      storage.insertSession(session("s3", "u2", 40));
      storage.endSession("s3", 50);
      const many = Array.from({ length: 500 }, (_, index) => `nobody-${index}`);
      expect(storage.findAttendance([...many, "u1", "u2"])).toEqual({
        u1: { online: true, joinedAt: 30 },
        u2: { online: false, joinedAt: 40 },
      });
    }));

  it("forgets a user's sessions", () =>
    withStorage((storage) => {
      storage.insertSession(session("s1", "u1"));
      storage.insertSession(session("s2", "u2"));
      storage.deleteSessions("u1");
      expect(storage.findAttendance(["u1", "u2"])).toEqual({ u2: { online: true, joinedAt: 10 } });
    }));

  it("undoes a transaction that throws, the first write of all included", () =>
    withStorage((storage, reopen) => {
      const failing = (work: () => void) => () =>
        storage.transaction(() => {
          work();
          throw new Error("on purpose");
        });
      expect(failing(() => storage.writeRecord(RECORD))).toThrow("on purpose");
      expect(reopen().readRecord()).toBeNull();
      expect(storage.readRecord()).toBeNull();

      storage.transaction(() => {
        storage.writeRecord(RECORD);
        storage.insertSession(session("s1", "u1"));
      });
      const change = failing(() => {
        storage.endSession("s1", 20);
        storage.insertSession(session("s2", "u2"));
        storage.updateUser(user("u2", { name: "New" }));
        storage.deleteSessions("u1");
        storage.clear();
        storage.writeRecord({ ...RECORD, version: 9 });
      });
      expect(change).toThrow("on purpose");
      expect(reopen().readRecord()).toEqual(RECORD);
      expect(storage.listOpenSessions()).toEqual([session("s1", "u1")]);
    }));

  it("gives what a transaction gives", () =>
    withStorage((storage) => {
      expect(storage.transaction(() => 7)).toBe(7);
    }));

  it("is empty after it was cleared, and can be filled again", () =>
    withStorage((storage, reopen) => {
      storage.clear();
      storage.writeRecord(RECORD);
      storage.insertSession(session("s1", "u1"));
      storage.clear();
      expect(reopen().readRecord()).toBeNull();
      expect(storage.listOpenSessions()).toEqual([]);
      storage.insertSession(session("s1", "u1"));
      expect(reopen().listOpenSessions()).toEqual([session("s1", "u1")]);
    }));
});

it("SQLite holds no table before the first write, nor after it was cleared (R31)", () =>
  runInDurableObject(env.ROOMS.getByName(crypto.randomUUID()), (_, { storage }) => {
    const tables = () =>
      storage.sql.exec("SELECT name FROM sqlite_master WHERE name IN ('room', 'sessions')").toArray();
    const sqlite = new SqliteStorage(storage);
    sqlite.findAttendance(["u"]);
    sqlite.transaction(() => sqlite.readRecord());
    expect(tables()).toEqual([]);
    sqlite.writeRecord(RECORD);
    expect(tables()).toHaveLength(2);
    sqlite.clear();
    expect(tables()).toEqual([]);
  }));
