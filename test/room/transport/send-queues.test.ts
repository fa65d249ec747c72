/** Sending in chunks keeps each socket's order, and gives other work its turn between two chunks. */
import { beforeEach, describe, expect, it } from "vitest";
import { type Outgoing, type Receiver, SendQueues } from "../../../src/room/transport/send-queues.ts";

interface TestSocket extends Receiver {
  readonly name: number;
}

const LARGE = "x".repeat(60_000);
/** The most that one turn may send: a chunk, and the frame that it ends with. */
const MOST = 512 * 1024 + LARGE.length;
/** More than anything here takes. */
const MANY_TURNS = 100;

let now: number;
let sent: (Outgoing & { readonly name: number })[];
let queues: SendQueues<TestSocket>;
beforeEach(() => {
  now = 0;
  sent = [];
  queues = new SendQueues<TestSocket>({
    now: () => now,
    transmit: ({ name }, outgoing) => sent.push({ name, ...outgoing }),
    sent: () => {},
    flushed: () => {},
  });
});

const open = (count: number, batches: boolean): TestSocket[] =>
  Array.from({ length: count }, (_, name) => ({ name, batches, queued: null }));
const sendTo = (sockets: readonly TestSocket[], frame: Outgoing["frame"]): void => {
  const outgoing = { frame, eventBytes: frame.length };
  for (const socket of sockets) queues.add(socket, outgoing);
};
const sentBytes = () => sent.reduce((sum, { frame }) => sum + frame.length, 0);
const sentTo = (wanted: number) => sent.filter(({ name }) => name === wanted).map(({ frame }) => frame);
/** A turn of the event loop: timers that were set before it have run. */
const turn = () => new Promise((resolve) => setTimeout(resolve, 0));

/** Sends all that waits, and returns in how many turns. No turn may send more than a chunk. */
async function drain(): Promise<number> {
  queues.request();
  let turns = 0;
  for (let before = -1; before < sentBytes() && turns < MANY_TURNS; turns += 1) {
    expect(sentBytes() - Math.max(0, before)).toBeLessThanOrEqual(MOST);
    before = sentBytes();
    await turn();
  }
  return turns;
}

describe.each([
  ["one frame at a time", false],
  ["arrays", true],
])("sockets that take %s", (_name, batches) => {
  it("are sent a large broadcast in chunks, in each of which others get their turn", async () => {
    const sockets = open(64, batches);
    sendTo(sockets, LARGE);
    expect(await drain()).toBeGreaterThan(5);
    expect(sent.map(({ name }) => name)).toEqual(sockets.map(({ name }) => name));
  });

  it("are sent one chunk in an event that takes long, and the rest later", async () => {
    for (const socket of open(64, batches)) {
      sendTo([socket], LARGE);
      now += 1;
    }
    expect(await drain()).toBeGreaterThan(5);
    expect(sent).toHaveLength(64);
  });

  it("are sent the bytes of a document in chunks, in their place between texts", async () => {
    const [sockets, bytes] = [open(32, batches), new Uint8Array(LARGE.length)];
    for (const frame of ['"before"', bytes, '"after"']) sendTo(sockets, frame);
    expect(await drain()).toBeGreaterThan(2);
    const texts = batches ? ['["before"]', '["after"]'] : ['"before"', '"after"'];
    for (const { name } of sockets) expect(sentTo(name)).toEqual([texts[0], bytes, texts[1]]);
  });

  it("are sent in chunks what waits for a single one of them", async () => {
    const [socket] = open(1, batches);
    if (socket === undefined) throw new Error("There is no socket");
    for (let count = 0; count < 32; count += 1) sendTo([socket], `"${count}${LARGE}"`);
    expect(await drain()).toBeGreaterThan(2);
    const frames = sentTo(0).flatMap((frame) => JSON.parse(String(frame)) as string | string[]);
    expect(frames).toEqual(Array.from({ length: 32 }, (_, count) => `${count}${LARGE}`));
    expect(sent.reduce((sum, { eventBytes }) => sum + eventBytes, 0)).toBe(10 * 60_003 + 22 * 60_004);
  });

  it("get their frames in order, whatever is sent between two chunks", async () => {
    const sockets = open(32, batches);
    for (let round = 0; round < 4; round += 1) {
      sendTo(sockets, `"${round}${LARGE}"`);
      sendTo(sockets, `"${round}"`);
      queues.request();
      await turn();
      now += 1;
    }
    const last = sockets.at(-1);
    if (last === undefined) throw new Error("There is no socket");
    queues.flush(last); // happens before its close
    for (let turns = 0; turns < MANY_TURNS; turns += 1) await turn();
    const wanted = [0, 1, 2, 3].flatMap((round) => [`${round}${LARGE}`, `${round}`]);
    for (const { name } of sockets) {
      const frames = sentTo(name).flatMap((frame) => JSON.parse(String(frame)) as string | string[]);
      expect(frames).toEqual(wanted);
    }
    expect(sent.reduce((sum, { eventBytes }) => sum + eventBytes, 0)).toBe(32 * (4 * (LARGE.length + 6)));
  });

  it("are sent nothing once they are gone", async () => {
    const sockets = open(32, batches);
    sendTo(sockets, LARGE);
    queues.request();
    for (const socket of sockets.slice(16)) queues.delete(socket);
    for (let turns = 0; turns < MANY_TURNS; turns += 1) await turn();
    expect(sent.map(({ name }) => name)).toEqual(sockets.slice(0, 16).map(({ name }) => name));
  });
});

it("who is answered does not wait behind a crowd, and the crowd does not wait for answers alone", async () => {
  const sockets = open(64, true);
  const [asking, rest] = [sockets.slice(40), sockets.slice(0, 40)];
  sendTo(sockets, LARGE);
  for (const socket of asking) queues.add(socket, { frame: `"${LARGE}"`, eventBytes: 0 });
  queues.request();
  const first = sent.map(({ name }) => name);
  expect(first[0]).toBe(40);
  expect(first.some((name) => name < 40)).toBe(true);
  await drain();
  for (const { name } of rest) expect(sentTo(name).join("")).toContain(LARGE);
  for (const { name } of asking)
    expect(sentTo(name).join("").indexOf(`"${LARGE}"`)).toBeGreaterThan(LARGE.length);
});

it("what others wait for goes out although each chunk begins with an answer that fills it", async () => {
  const [asking, other] = open(2, true);
  if (asking === undefined || other === undefined) throw new Error("There is no socket");
  const answer = () => queues.add(asking, { frame: `"${LARGE.repeat(10)}"`, eventBytes: 0 });
  sendTo([other], "1");
  answer();
  queues.request();
  for (let turns = 0; turns < 3; turns += 1) {
    answer();
    await turn();
  }
  expect(sentTo(1)).toEqual(["[1]"]);
});

it("what waits goes out although so much arrives that timers are late", () => {
  sendTo(open(64, true), LARGE);
  queues.request();
  const first = sent.length;
  now += 5;
  queues.request();
  expect(sent).toHaveLength(first);
  now += 1;
  queues.request();
  expect(sent.length).toBeGreaterThan(first);
  expect(sentBytes()).toBeLessThanOrEqual(2 * MOST);
});

it("small frames to a few sockets go out at once", () => {
  const [one, other] = [open(3, false), open(3, true)];
  sendTo([...one, ...other], "{}");
  expect(sent).toHaveLength(3);
  queues.request();
  expect(sent).toHaveLength(6);
});

it("a busy room sends what arrives in one turn together, and a calm one each frame at once (R58)", async () => {
  const sockets = open(2, true);
  const frames = ["1", "2", "3", "4"];
  for (const frame of frames) sendTo(sockets, frame);
  queues.request();
  expect(sentTo(0)).toEqual(["[1,2,3,4]"]);
  for (const frame of ["5", "6"]) {
    now += 1;
    sendTo(sockets, frame);
    queues.request();
  }
  expect(sentTo(0)).toHaveLength(1);
  await turn();
  expect(sentTo(0)).toEqual(["[1,2,3,4]", "[5,6]"]);
  now += 1;
  sendTo(sockets, "7");
  queues.request();
  expect(sentTo(1)).toEqual(["[1,2,3,4]", "[5,6]", "[7]"]);
});

it("each socket is sent its own frames, whatever the one before it was sent", () => {
  const [one, other, third] = open(3, true);
  if (one === undefined || other === undefined || third === undefined) throw new Error("There is no socket");
  sendTo([one, other], "1");
  sendTo([one, third], "2");
  sendTo([other, third], "3");
  queues.request();
  expect([0, 1, 2].map(sentTo)).toEqual([["[1,2]"], ["[1,3]"], ["[2,3]"]]);
});

it("sockets that wait for the same frames share one array, whatever chunk it leaves in", async () => {
  const made = new Set<Outgoing>();
  const shared = new SendQueues<TestSocket>({
    now: () => now,
    transmit: (_, outgoing) => made.add(outgoing),
    sent: () => {},
    flushed: () => {},
  });
  const sockets = open(32, true);
  for (const frame of ["1", LARGE, "2"]) {
    const outgoing = { frame, eventBytes: frame.length };
    for (const socket of sockets) shared.add(socket, outgoing);
  }
  shared.request();
  for (let turns = 0; turns < MANY_TURNS; turns += 1) await turn();
  const texts = [...made].map(({ frame }) => frame);
  expect(texts).toEqual([...new Set(texts)]);
});

it("a tick is sent when its last socket was, whatever others have begun to wait for since (R49)", async () => {
  const sockets = open(64, true);
  expect(queues.watch()()).toBe(true);
  sendTo(sockets.slice(0, 32), LARGE);
  const isSent = queues.watch();
  queues.request();
  await turn();
  expect([sentTo(0).length, sentTo(31).length, isSent()]).toEqual([1, 0, false]);
  const again = sockets.slice(0, 1);
  sendTo([...sockets.slice(32), ...again], LARGE);
  for (let turns = 0; !isSent() && turns < MANY_TURNS; turns += 1) await turn();
  expect([sentTo(31).length, sentTo(63).length, queues.watch()()]).toEqual([1, 0, false]);
  for (const socket of again) queues.delete(socket);
  expect(queues.watch()()).toBe(true);
  for (let turns = 0; sent.length < 64 && turns < MANY_TURNS; turns += 1) await turn();
  expect(sent).toHaveLength(64);
});

it("what one turn has sent does not delay the next one, a millisecond later", async () => {
  sendTo(open(16, false), LARGE);
  const before = sent.length;
  expect(before).toBeLessThan(16);
  queues.request();
  now = 1;
  sendTo(open(1, false), "{}");
  expect(sent).toHaveLength(before + 1);
  await drain();
});

it("a room cools down after a large flush, and not after a small one (R58)", async () => {
  const [one, ...others] = open(101, true);
  if (one === undefined) throw new Error("There is no socket");
  sendTo([one], "1");
  queues.request();
  now += 1;
  sendTo([one, ...others], "2");
  queues.request();
  expect(sent).toHaveLength(102);
  now += 2;
  sendTo([one], "3");
  queues.request();
  expect(sent).toHaveLength(102);
  await expect.poll(() => sent.length).toBe(103);
  now += 1;
  sendTo([one], "4");
  queues.request();
  expect(sent).toHaveLength(104);
});
