/** R58 to R60, R62, R67 and R72: arrays of frames, nesting, flooding and slow readers. */
import { describe, expect, it } from "vitest";
import { Output, SlowReaders } from "../../../src/room/transport/output.ts";
import { failed, roomOfTwo } from "../support/rooms.ts";

it("a client that accepts arrays receives the messages of one turn as one frame; other clients receive them one by one (R58)", async () => {
  const { room, ada, atBen } = await roomOfTwo();
  const socket = await room.connect();
  socket.send({ type: "JOIN_ROOM", data: { token: ada.token, batch: true } });
  expect(JSON.parse(await socket.nextText())).toMatchObject([{ description: "Room joined" }]);
  const set = (key: string) => ({ type: "STORE_SET", store: "s", key, value: 1 });
  socket.send({ type: "STORE_BATCH", data: { operations: [set("a"), set("b")] } });
  expect(JSON.parse(await socket.nextText())).toMatchObject([{ seq: 1 }, { seq: 2 }, { success: true }]);
  await room.hibernate();
  socket.send({ type: "LEAVE_ROOM" });
  expect(JSON.parse(await socket.nextText())).toMatchObject([{ description: "Room left" }]);
  expect(await socket.closed).toMatchObject({ code: 1000 });
  expect(await atBen.takeEvents()).toMatchObject([{ seq: 1 }, { seq: 2 }]);
});

describe("a client", () => {
  const KIB = 1024;
  const roomWithReader = async () => {
    const { room, atAda } = await roomOfTwo();
    const cleo = await room.user({ name: "Cleo" });
    const reader = await room.connect();
    reader.send({ type: "JOIN_ROOM", data: { token: cleo.token, batch: true } });
    await reader.nextText();
    const broadcast = async (kib: number) => {
      for (let sent = 0; sent < kib; sent += 50) {
        const response = await atAda.call("BROADCAST", { event: "talk", data: "x".repeat(50 * KIB) });
        expect(response.success).toBe(true);
      }
    };
    return { room, cleo, reader, atAda, broadcast };
  };
  const marksIn = (text: string) =>
    (JSON.parse(text) as { event?: string; data: { mark: number } }[]).flatMap(({ event, data }) =>
      event === "mark" ? [data.mark] : [],
    );

  it("that confirms none of 4 MiB of events is closed with 4413, and no other (R62)", async () => {
    const { room, reader, atAda, broadcast } = await roomWithReader();
    await broadcast(4 * KIB - 50);
    expect(await atAda.takeEvents()).toMatchObject([{ event: "userJoined" }]);
    await broadcast(100);
    expect(await reader.closed).toEqual({ code: 4413, reason: "reader too slow" });
    await room.advance(10_000);
    expect(await atAda.takeEvents()).toMatchObject([{ event: "userLeft" }]);
  });

  it("that confirms the marks stays connected (R62)", async () => {
    const { reader, atAda, broadcast } = await roomWithReader();
    const marks: number[] = [];
    for (let count = 1; count <= 8; count += 1) {
      await broadcast(KIB + 50);
      while (marks.length < count) marks.push(...marksIn(await reader.nextText()));
      reader.send({ type: "MARK", data: { mark: marks.at(-1) } });
      reader.send({ type: "STORE_SYNC", requestId: `after ${count}`, data: { store: "none" } });
      while (!(await reader.nextText()).includes(`"after ${count}"`));
    }
    expect(marks).toEqual([...marks].sort((a, b) => a - b));
    expect((await atAda.call("PRESENCE_UPDATE", { state: null })).success).toBe(true);
  });

  it("cannot confirm what was never sent (R62)", async () => {
    const { reader, atAda, broadcast } = await roomWithReader();
    reader.send({ type: "MARK", data: { mark: 1e12 } });
    await broadcast(5 * KIB);
    expect(await reader.closed).toMatchObject({ code: 4413 });
    expect((await atAda.call("PRESENCE_UPDATE", { state: null })).success).toBe(true);
  });

  it("that confirms nothing is closed with 4413 for 16 MiB at once, not for 1 MiB a second (R67)", async () => {
    const { room, atAda, atBen } = await roomOfTwo();
    const broadcast = async (mebibytes: number) => {
      for (let sent = 0; sent < mebibytes; sent += 1 / 16) {
        const { success } = await atAda.call("BROADCAST", { event: "talk", data: "x".repeat(64 * KIB - 2) });
        expect(success).toBe(true);
      }
    };
    await broadcast(15);
    room.now += 10_000;
    await room.inside(() => undefined);
    await broadcast(10);
    expect(await atAda.takeEvents()).toEqual([]);
    await broadcast(1);
    expect(await atBen.closed).toEqual({ code: 4413, reason: "reader too slow" });
    await room.advance(10_000);
    expect(await atAda.takeEvents()).toMatchObject([{ event: "userLeft" }]);
  });
});

describe("the output of a socket", () => {
  const MIB = 1024 * 1024;

  it("holds answers back while 8 MiB are unread, until its client has confirmed or had the time (R67)", () => {
    const [confirming, silent] = [new Output(true), new Output(false)];
    for (const output of [confirming, silent]) output.count(9 * MIB, 0, 1_000);
    expect([confirming.answerableIn(1_000), silent.answerableIn(1_000)]).toEqual([0, 1_000]);
    const mark = confirming.nextMark() ?? 0;
    expect(confirming.answerableIn(60_000)).toBeNull();
    expect([silent.answerableIn(1_400), silent.answerableIn(2_000)]).toEqual([600, 0]);
    confirming.confirm(mark);
    expect(confirming.answerableIn(1_000)).toBe(0);
  });

  it("counts answers too (R67)", () => {
    const output = new Output(true);
    for (let count = 1; count <= 17; count += 1) {
      expect(output.isTooSlow(0)).toBe(false);
      output.count(MIB, 0, 0);
      output.nextMark();
    }
    expect(output.isTooSlow(0)).toBe(true);
  });

  it("ends after 64 MiB, however slowly they are sent, if its client confirms nothing (R72)", () => {
    const [confirming, silent] = [new Output(true), new Output(false)];
    for (let second = 1; second <= 128; second += 1) {
      expect([confirming.isTooSlow(second * 1000), silent.isTooSlow(second * 1000)]).toEqual([false, false]);
      for (const output of [confirming, silent]) output.count(MIB / 2, MIB / 2, second * 1000);
      confirming.confirm(confirming.nextMark() ?? 0);
    }
    silent.count(1, 0, 129_000);
    expect([confirming.isTooSlow(129_000), silent.isTooSlow(129_000)]).toEqual([false, true]);
    expect([confirming.unconfirmed, silent.unconfirmed]).toEqual([0, 64 * MIB + 1]);
  });
});

it("a crowd that is sent the same keeps its sockets while all are asked at once whether they have read it (R62, R67)", () => {
  const readers = Array.from({ length: 1_000 }, () => ({ output: new Output(true) }));
  const slow = new SlowReaders(() => readers);
  const bytes = 100_000;
  for (let tick = 0; tick < 30; tick += 1) {
    const marks = readers.map((reader) => {
      slow.count(reader, bytes, bytes, tick * 1_000);
      return reader.output.nextMark();
    });
    expect(slow.take()).toEqual([]);
    for (const [index, mark] of marks.entries()) if (mark !== null) readers[index]?.output.confirm(mark);
  }
});

it("what many have not read ends for those who have the most, while the room goes on sending (R67, R72)", () => {
  const MIB = 1024 * 1024;
  const readers = Array.from({ length: 6 }, () => ({ output: new Output(false) }));
  const slow = new SlowReaders(() => readers);
  const [hoarder, ...others] = readers;
  if (hoarder === undefined) throw new Error("There is no reader");
  slow.count(hoarder, 15 * MIB, 0, 0);
  for (const other of others) slow.count(other, 9 * MIB, 0, 0);
  expect(slow.take()).toEqual([]); // 60 MiB
  slow.count(others[0] ?? hoarder, 5 * MIB, 0, 0);
  expect(slow.take()).toEqual([hoarder]);
  const many = Array.from({ length: 40 }, () => ({ output: new Output(false) }));
  const counted = new SlowReaders(() => many);
  // Slowly enough to be read, as far as the room can tell.
  for (let second = 0; second < 13; second += 1)
    for (const one of many) counted.count(one, MIB, 0, second * 1000);
  expect(counted.take()).toEqual([]); // 520 MiB, but no one has more than 16
  for (let second = 13; second < 17; second += 1)
    for (const one of many) counted.count(one, MIB, 0, second * 1000);
  expect(counted.take().length).toBeGreaterThan(0);
});

describe("a socket that floods", () => {
  it("is closed with 4429 after its burst; one that sends 200 frames a second is not (R60)", async () => {
    const { room, atAda, atBen } = await roomOfTwo();
    for (let second = 0; second < 10; second += 1) {
      room.now += 1_000;
      await room.inside(() => undefined);
      for (let count = 0; count < 200; count += 1)
        atBen.send({ type: "PRESENCE_UPDATE", data: { state: null } });
      expect((await atBen.call("PRESENCE_UPDATE", { state: null })).success).toBe(true);
    }
    for (let count = 0; count < 1_001; count += 1)
      atAda.send({ type: "PRESENCE_UPDATE", data: { state: null } });
    expect(await atAda.closed).toMatchObject({ code: 4429 });
    expect(await atBen.takeEvents()).toMatchObject([{ event: "userLeft" }]);
  });

  it("cannot nest too deeply (R59)", async () => {
    const { atAda } = await roomOfTwo();
    atAda.sendRaw("[".repeat(100_000));
    expect(await atAda.nextResponse()).toEqual(failed("BAD_REQUEST"));
    const nest = (depth: number) =>
      `{"type":"BROADCAST","requestId":"","data":{"event":"e","data":${"[".repeat(depth)}${"]".repeat(depth)}}}`;
    atAda.sendRaw(nest(39));
    expect(await atAda.nextResponse()).toEqual(failed("BAD_REQUEST"));
    atAda.sendRaw(nest(38));
    expect((await atAda.nextResponse()).success).toBe(true);
  });
});
