/** R27 to R31: stats and their copy, hibernation, crashes and reconciling. */
import { runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { whileTableFails } from "../../../support/database-failure.ts";
import { expectLogged } from "../../../support/log-guard.ts";
import { makeRoom, type TestRoom } from "../../support/rooms.ts";

const copied = async (room: TestRoom) => {
  const { activeParticipants, occupiedMs, occupiedSince } = await room.row();
  return { activeParticipants, occupiedMs, occupiedSince };
};

describe("the stats", () => {
  it("count users and the time in which anyone was online, and are copied by the alarm (R27)", async () => {
    const room = await makeRoom();
    const start = room.now;
    const [first, second] = [await room.join(await room.user()), await room.join(await room.user())];
    expect(await room.alarmAt()).toBe(start);
    await room.alarm();
    expect(await copied(room)).toEqual({ activeParticipants: 2, occupiedMs: 0, occupiedSince: start });
    room.now += 2_000;
    await first.drain();
    await first.request("LEAVE_ROOM");
    await second.drain();
    room.now += 3_000;
    await second.request("LEAVE_ROOM");
    expect(await room.stats()).toEqual({ activeParticipants: 0, occupiedMs: 5_000, occupiedSince: null });
    await room.alarm();
    expect(await copied(room)).toEqual({ activeParticipants: 0, occupiedMs: 5_000, occupiedSince: null });
    room.now += 10_000;
    await room.join(await room.user());
    expect(await room.stats()).toMatchObject({ occupiedMs: 5_000, occupiedSince: start + 15_000 });
  });

  it("are copied at most once a second, with their values of that moment (R27)", async () => {
    const room = await makeRoom();
    await room.join(await room.user());
    await room.alarm();
    room.now += 400;
    await room.join(await room.user());
    expect(await room.alarmAt()).toBe(room.now + 600);
    await room.alarm();
    expect(await copied(room)).toMatchObject({ activeParticipants: 1 });
    await room.join(await room.user());
    await room.advance(600);
    expect(await copied(room)).toMatchObject({ activeParticipants: 3 });
    expect(await room.alarmAt()).toBeGreaterThan(room.now + 1_000);
  });

  it("wait, and no failure is logged, while the organization is moved or restored (R27)", async () => {
    const room = await makeRoom();
    await room.join(await room.user());
    const fence = env.DB.prepare("INSERT INTO fences (account_id, fencing_token) VALUES (?, 1)");
    await fence.bind(room.accountId).run();
    await room.alarm();
    expect(await copied(room)).toMatchObject({ activeParticipants: 0 });
    await env.DB.prepare("DELETE FROM fences WHERE account_id = ?").bind(room.accountId).run();
    await room.advance(1_000);
    expect(await copied(room)).toMatchObject({ activeParticipants: 1 });
  });

  it("are retried with growing delays while the database fails (R27)", async () => {
    const room = await makeRoom();
    const socket = await room.join(await room.user());
    await whileTableFails("rooms", async () => {
      await room.alarm();
      for (const pauseMs of [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
        expect(await room.alarmAt()).toBe(room.now + pauseMs);
        room.now += pauseMs;
        await socket.request("HELLO");
        await room.alarm();
      }
      await room.inside((object) => expect(object.reconcile(room.accountId)).rejects.toThrow());
      await room.hibernate();
    });
    expectLogged("no such table: rooms");
    await room.advance(30_000);
    await expect.poll(() => copied(room)).toMatchObject({ activeParticipants: 1 });
  });

  it("leave no alarm when no one is online and no copy is due (R31)", async () => {
    const room = await makeRoom();
    const socket = await room.join(await room.user());
    await room.alarm();
    room.now += 1_000;
    await socket.request("LEAVE_ROOM");
    await room.alarm();
    expect(await room.alarmAt()).toBeNull();
    await room.hibernate();
    expect(await room.alarmAt()).toBeNull();
  });

  it("of a room that no one has joined are read without creating anything (R31)", async () => {
    const room = await makeRoom();
    const ada = await room.user();
    expect(await room.stats()).toEqual({ activeParticipants: 0, occupiedMs: 0, occupiedSince: null });
    expect(await room.online(ada)).toEqual([]);
    expect(await room.sessions(ada)).toEqual([]);
    expect(await room.change(ada, { name: "Ada L." })).toMatchObject({
      activeParticipants: 0,
    });
    expect(await room.reconcile()).toMatchObject({ previous: 0, reconciled: 0 });
    expect(await room.tables()).toEqual([]);
    expect(await room.alarmAt()).toBeNull();
  });
});

describe("hibernation", () => {
  it("does not affect sockets, users and sessions (R28)", async () => {
    const room = await makeRoom();
    const [ada, ben] = [await room.user(), await room.user()];
    const atAda = await room.join(ada);
    const atBen = await room.join(ben);
    const waiting = await room.connect();
    await atAda.drain();
    await room.alarm();
    const before = [await room.stats(), await room.sessions(ada), await room.alarmAt()];
    await room.hibernate();
    expect([await room.stats(), await room.sessions(ada), await room.alarmAt()]).toEqual(before);
    expect(await waiting.request("JOIN_ROOM", { token: ada.token })).toMatchObject({ success: true });
    expect(await atBen.drain()).toEqual([]);
    await room.hibernate();
    atAda.close();
    waiting.close();
    expect(await atBen.next()).toMatchObject({ event: "userLeft", data: { userId: ada.user.id } });
    expect((await room.stats()).activeParticipants).toBe(1);
  });

  it("does not restore sockets that the room has closed (R28)", async () => {
    const room = await makeRoom();
    const ada = await room.user();
    const socket = await room.join(ada);
    await room.inside(async (object, state) => {
      const ends = state.getWebSockets();
      await env.DB.prepare("UPDATE rooms SET state = 'closed' WHERE id = ?").bind(room.id).run();
      await object.apply(room.accountId, { type: "room.closed" });
      expect(ends.map((end) => end.deserializeAttachment())).toEqual([null]);
    });
    await room.hibernate();
    expect(await socket.closed).toMatchObject({ code: 4403 });
    expect(await room.online(ada)).toEqual([]);
  });
});

describe("after a crash", () => {
  it("sessions and occupied time end when the room was last known to be running (R29)", async () => {
    const room = await makeRoom();
    const ada = await room.user();
    const start = room.now;
    await room.join(ada);
    await room.advance(20_000);
    room.now += 30_000;
    await room.crash();
    expect(await room.stats()).toEqual({ activeParticipants: 1, occupiedMs: 0, occupiedSince: start });
    await room.advance(10_000);
    expect(await room.stats()).toEqual({ activeParticipants: 0, occupiedMs: 20_000, occupiedSince: null });
    expect(await room.sessions(ada)).toMatchObject([{ joinedAt: start, leftAt: start + 20_000 }]);
    const expected = { activeParticipants: 0, occupiedMs: 20_000, occupiedSince: null };
    await expect.poll(() => copied(room)).toEqual(expected);
  });

  it("the alarm starts the room within 75 s without any request, and ends its sessions 10 s later (R29)", async () => {
    const room = await makeRoom();
    await room.join(await room.user());
    await room.alarm();
    expect(await copied(room)).toMatchObject({ activeParticipants: 1 });
    expect(await room.alarmAt()).toBeLessThanOrEqual(room.now + 75_000);
    await room.crash(() => runDurableObjectAlarm(room.stub));
    expect(await room.alarmAt()).toBe(room.now + 10_000);
    await room.advance(10_000);
    await expect.poll(() => copied(room)).toMatchObject({ activeParticipants: 0 });
  });

  it("users who come back too late have another session (R29)", async () => {
    const room = await makeRoom();
    const ada = await room.user();
    const before = await room.join(ada);
    await room.crash();
    await room.advance(10_000);
    const after = await room.join(ada);
    expect(after.joined.sessionId).not.toBe(before.joined.sessionId);
    expect(await room.sessions(ada)).toHaveLength(2);
  });
});

describe("reconciling", () => {
  it("changes nothing in a consistent room (R30)", async () => {
    const room = await makeRoom();
    await room.join(await room.user());
    const before = await room.stats();
    expect(await room.reconcile()).toEqual({ previous: 1, reconciled: 1, stats: before });
    expect(await copied(room)).toEqual(before);
  });

  it("corrects a wrong counter, in the object and in the database, before it responds (R30)", async () => {
    const room = await makeRoom();
    await room.join(await room.user());
    await room.inside((_, { storage }) =>
      storage.sql.exec("UPDATE room SET active_participants = 7").toArray(),
    );
    expect(await room.reconcile()).toMatchObject({
      previous: 7,
      reconciled: 1,
      stats: { activeParticipants: 1 },
    });
    expect(await copied(room)).toMatchObject({ activeParticipants: 1 });
  });

  it("ends a session without a live socket (R30)", async () => {
    const room = await makeRoom();
    const [ada, ben] = [await room.user(), await room.user()];
    const atAda = await room.join(ada);
    await room.inside((_, { storage }) => {
      storage.sql.exec(
        "INSERT INTO sessions (id, user_id, joined_at, user) VALUES ('ghost', ?, 1, ?)",
        ben.user.id,
        JSON.stringify(ben.user),
      );
    });
    expect(await room.online(ada, ben)).toHaveLength(2);
    expect(await room.reconcile()).toMatchObject({ previous: 1, reconciled: 1 });
    expect(await room.online(ada, ben)).toEqual([ada.user.id]);
    expect(await atAda.drain()).toMatchObject([{ event: "userLeft", data: { userId: ben.user.id } }]);
  });

  it("closes a socket whose session is not in storage (R30)", async () => {
    const room = await makeRoom();
    const socket = await room.join(await room.user());
    await room.inside((_, { storage }) => storage.sql.exec("DELETE FROM sessions").toArray());
    expect(await room.reconcile()).toMatchObject({ previous: 1, reconciled: 0 });
    expect(await socket.closed).toMatchObject({ code: 1011 });
  });

  it("drops sockets that the heartbeat finds dead (R30)", async () => {
    const room = await makeRoom();
    const ada = await room.user();
    const socket = await room.join(ada);
    room.now += 75_000;
    expect(await room.reconcile()).toMatchObject({ previous: 1, reconciled: 1 });
    expect(await socket.closed).toMatchObject({ code: 1001 });
    room.now += 10_000;
    expect(await room.reconcile()).toMatchObject({ previous: 1, reconciled: 0 });
    expect(await copied(room)).toMatchObject({ activeParticipants: 0, occupiedMs: 85_000 });
  });

  it("waits for a copy in progress and then writes its own (R27, R30)", async () => {
    const room = await makeRoom();
    const socket = await room.join(await room.user());
    await room.inside(async (object) => {
      const alarm = object.alarm();
      const [first, second] = await Promise.all([
        object.reconcile(room.accountId),
        object.reconcile(room.accountId),
      ]);
      expect(second).toEqual(first);
      await alarm;
    });
    await socket.request("LEAVE_ROOM");
    await room.reconcile();
    expect(await copied(room)).toMatchObject({ activeParticipants: 0 });
  });
});
