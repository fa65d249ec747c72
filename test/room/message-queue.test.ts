/** R60 and R69: rate limits of a user, and the fate of messages above them. */

import type { ClientMessage } from "@atrium/contract/operations/room.ts";
import type { StoreOperation } from "@atrium/contract/operations/stores.ts";
import { describe, expect, it } from "vitest";
import { joinRefusedAfterMs } from "../../src/room/engine/join/join-decision.ts";
import { MessageQueue } from "../../src/room/engine/message-queue.ts";
import { deliveryPoints } from "../../src/room/protocol/costs.ts";
import type { RoomRequest } from "../../src/room/protocol/room-request.ts";
import type { Joined } from "../../src/room/transport/connection.ts";
import { RoomConnections } from "../../src/room/transport/connections.ts";
import { whileTableFails } from "../support/database-failure.ts";
import { joinedSocket } from "./support/joined-socket.ts";
import { failed, gateway, roomOfTwo, type TestRoom } from "./support/rooms.ts";

const KIB = 1024;

/** The messages of a user with a clock that only the test moves. */
class MessageQueueFixture {
  now = 1_000_000;
  connection: Joined;
  readonly queue: MessageQueue;
  readonly #connections = new RoomConnections();

  constructor(id = "socket") {
    this.connection = joinedSocket({ id, userId: "user" });
    this.#connections.put(this.connection);
    this.queue = new MessageQueue({ now: () => this.now, answerableIn: () => 0 }, this.#connections);
  }

  /** The user's socket is replaced by another one. */
  reconnect(id: string): void {
    this.#connections.remove(this.connection.id);
    this.connection = { ...this.connection, id };
    this.#connections.put(this.connection);
  }

  /** Sends a message of this number of bytes. */
  send(message: ClientMessage, bytes: number) {
    if (!this.queue.countFrame(this.connection, bytes)) return "close";
    return this.queue.admit(this.connection, message, bytes);
  }
}

const batchOf = (count: number): ClientMessage => {
  const operation: StoreOperation = { type: "STORE_SET", store: "shapes", key: "k", value: 1 };
  return {
    type: "STORE_BATCH",
    requestId: "r",
    data: { operations: Array(count).fill(operation), atomic: false },
  };
};
const broadcast: ClientMessage = { type: "BROADCAST", requestId: "r", data: { event: "e" } };
const cursor: ClientMessage = { type: "PRESENCE_UPDATE", requestId: undefined, data: { state: {} } };

it.each([1, 20])(
  "a client that resizes 200 shapes for 9 s, 60 times a second, is never closed, and everything is applied, with %i receivers (R69)",
  (receivers) => {
    const user = new MessageQueueFixture();
    let [sent, applied] = [0, 0];
    const apply = () => {
      applied += 1;
      user.queue.countDelivery("user", (200 * 256 * receivers) / 4096, false);
    };
    for (let frame = 0; frame < 9 * 60; frame += 1) {
      user.now += 1000 / 60;
      sent += 1;
      expect(user.send(cursor, 100)).toBe("run");
      const admitted = user.send(batchOf(200), 20 * KIB);
      expect(["run", "wait"]).toContain(admitted);
      if (admitted === "run") apply();
      while (user.queue.next() !== null) apply();
    }
    for (let waitMs = user.queue.nextIn(); waitMs !== null; waitMs = user.queue.nextIn()) {
      user.now += waitMs;
      while (user.queue.next() !== null) apply();
    }
    expect(applied).toBe(sent);
  },
);

it("a client opens 12 stores of 10,000 entries at once without waiting (R69)", () => {
  const user = new MessageQueueFixture();
  const page: ClientMessage = { type: "STORE_SYNC", requestId: "r", data: { store: "s", limit: 10_000 } };
  for (let count = 0; count < 12 * 3; count += 1) {
    expect(user.send(page, 100)).toBe("run");
    user.queue.countDelivery("user", 256, false);
  }
});

it("what is sent costs as often as it is received, however small it is (R69)", () => {
  expect(deliveryPoints(64 * 1024, 30)).toBe(480);
  expect(deliveryPoints(1, 1_000)).toBe(62.5);
});

describe("what a user cannot afford", () => {
  it("closes the socket that sent it when more than 8 MiB wait, also over the user's next socket (R69)", () => {
    const user = new MessageQueueFixture();
    const sentUntilClosed = () => {
      const answers: string[] = [];
      while (answers.at(-1) !== "close") answers.push(user.send(batchOf(500), 200 * KIB));
      return ["run", "wait"].map((wanted) => answers.filter((answer) => answer === wanted).length);
    };
    expect(sentUntilClosed()).toEqual([60, 40]);
    user.reconnect("another socket");
    expect(user.queue.next()).toBeNull();
    user.now += 60_000;
    expect(sentUntilClosed()).toEqual([60, 40]);
  });

  it("makes the rest wait when it is newer tokens, which never wait themselves (R69)", () => {
    const user = new MessageQueueFixture();
    const refresh: ClientMessage = { type: "TOKEN_REFRESH", requestId: "r", data: { token: "t" } };
    for (let count = 0; count < 200; count += 1) expect(user.send(refresh, 100)).toBe("run");
    expect(user.send(batchOf(1), 100)).toBe("wait");
    expect(user.send(cursor, 100)).toBe("run");
  });

  it("is refused if it is a broadcast, of the user and of the room (R69)", () => {
    const user = new MessageQueueFixture();
    expect(user.send(broadcast, 100)).toBe("run");
    user.queue.countDelivery("user", 30_001, false);
    expect(user.send(broadcast, 100)).toBe("refuse");
    user.now += 1;
    expect(user.send(broadcast, 100)).toBe("run");
    user.queue.countDelivery("another", 128_001, true);
    expect(user.send(broadcast, 100)).toBe("refuse");
  });

  it("is refused if it is a broadcast beyond a burst of 10,000 points, and other work still runs (R69)", () => {
    const user = new MessageQueueFixture();
    user.queue.countDelivery("user", 10_001, true);
    expect(user.send(broadcast, 100)).toBe("refuse");
    expect(user.send(batchOf(1), 100)).toBe("run");
    user.now += 1;
    expect(user.send(broadcast, 100)).toBe("run");
  });

  it("is broadcast again at 4,000 points a second, which 60 small ones to 1,000 receivers do not use up (R69)", () => {
    const user = new MessageQueueFixture();
    for (let count = 0; count < 60 * 60; count += 1) {
      expect(user.send(broadcast, 100)).toBe("run");
      user.queue.countDelivery("user", deliveryPoints(100, 1_000), true);
      user.now += 1000 / 60;
    }
    user.now += 60_000;
    user.queue.countDelivery("user", 14_000, true);
    user.now += 1_000;
    expect(user.send(broadcast, 100)).toBe("refuse");
    user.now += 1;
    expect(user.send(broadcast, 100)).toBe("run");
  });

  it("and a broadcast after it waits behind it, up to 32 of a socket and until the room can afford it (R80)", () => {
    const user = new MessageQueueFixture();
    user.queue.countDelivery("user", 30_001, false);
    expect(user.send(batchOf(1), 100)).toBe("wait");
    user.now += 1_000;
    expect(user.send(broadcast, 100)).toBe("wait");
    expect(user.queue.next()?.message.type).toBe("STORE_BATCH");
    user.queue.countDelivery("another", 128_001, true);
    expect(user.queue.next()).toBeNull();
    for (let count = 1; count < 32; count += 1) expect(user.send(broadcast, 100)).toBe("wait");
    expect(user.send(broadcast, 100)).toBe("refuse");
    user.now += 1_000;
    expect(user.queue.nextIn()).toBe(0);
    expect(user.queue.next()?.message.type).toBe("BROADCAST");
  });

  it("waits in order, and is refused where 32 expensive reads of the socket wait; others are answered (R69)", async () => {
    const { room, atAda, atBen } = await roomOfTwo();
    for (let count = 0; count < 100; count += 1)
      atAda.send({ type: "STORE_SYNC", requestId: `${count}`, data: { store: "s" } });
    const answers = [];
    while (answers.length < 68) answers.push(await atAda.nextResponse());
    expect(answers.filter(({ success }) => success).map(({ requestId }) => Number(requestId))).toEqual(
      Array.from({ length: 60 }, (_, index) => index),
    );
    expect(answers.filter(({ success }) => !success)).toEqual(Array(8).fill(failed("RATE_LIMITED")));
    expect((await atBen.call("STORE_SYNC", { store: "s" })).success).toBe(true);
    expect((await atAda.call("PRESENCE_UPDATE", { state: null })).success).toBe(true);
    atAda.send({ type: "STORE_SET", requestId: "write", data: { store: "s", key: "k", value: 1 } });
    room.now += 10_000;
    await room.inside(() => undefined);
    const rest = [];
    while (rest.length < 34) rest.push(await atAda.next());
    expect(rest.map((message) => (message.type === "response" ? message.requestId : message.event))).toEqual([
      ...Array.from({ length: 32 }, (_, index) => `${60 + index}`),
      "storeChanged",
      "write",
    ]);
  });
});

describe("a user who leaves while writes of the same socket wait", () => {
  /** Ada has asked for more than she can afford, and two writes of hers wait. */
  async function roomWithWaitingWrites() {
    const { room, ada, atAda, atBen } = await roomOfTwo();
    for (let count = 0; count < 60; count += 1) await atAda.call("STORE_SYNC", { store: "s" });
    for (const key of ["a", "b"])
      atAda.send({ type: "STORE_SET", requestId: key, data: { store: "s", key, value: 1 } });
    await atAda.call("PRESENCE_UPDATE", { state: null });
    const pay = () => {
      room.now += 10_000;
      return room.inside(() => undefined);
    };
    return { room, ada, atAda, atBen, pay };
  }

  it("is gone after them, also by closing the socket (R21, R80)", async () => {
    for (const leave of ["LEAVE_ROOM", "close"]) {
      const { atAda, atBen, pay } = await roomWithWaitingWrites();
      if (leave === "close") atAda.close(1000);
      else atAda.send({ type: "LEAVE_ROOM", requestId: "left" });
      expect(await atBen.takeEvents()).toEqual([]);
      await pay();
      const events = [await atBen.nextEvent(), await atBen.nextEvent(), await atBen.nextEvent()];
      expect(events.map(({ event }) => event)).toEqual(["storeChanged", "storeChanged", "userLeft"]);
      expect(await atAda.closed).toMatchObject({ code: 1000 });
      const answers: unknown[] = [];
      while (leave !== "close" && answers.length < 3) {
        const message = await atAda.next();
        if (message.type === "response") answers.push(message.requestId);
      }
      expect(answers).toEqual(leave === "close" ? [] : ["a", "b", "left"]);
    }
  });

  it("sends them again when the socket broke instead: they are dropped (R34, R80)", async () => {
    const { room, ada, atBen, pay } = await roomWithWaitingWrites();
    await room.breakSockets(ada);
    await pay();
    expect((await atBen.call("STORE_SYNC", { store: "s" })).data).toEqual({ entries: {}, seq: 0 });
  });
});

describe("batches over REST, which cannot wait,", () => {
  const batchOver = (operation: object, count: number): RoomRequest => ({
    type: "STORE_BATCH",
    requestId: crypto.randomUUID(),
    data: { operations: Array(count).fill(operation), atomic: false },
  });
  const send = async ({ id, accountId }: TestRoom, userId: string | null, batches: RoomRequest[]) =>
    (await gateway.writeStores(id, accountId, userId, batches)).map(({ error }) => error?.code ?? "done");

  it("write together what one batch may; the others are refused (R63)", async () => {
    const { room, atAda } = await roomOfTwo();
    const value = { x: "x".repeat(190_000) };
    expect((await atAda.call("STORE_SET", { store: "s", key: "k", value })).success).toBe(true);
    const update = { type: "STORE_UPDATE", store: "s", key: "k", value: { n: 1 } };
    const batches = () => Array.from({ length: 4 }, () => batchOver(update, 10));
    expect(await send(room, null, batches())).toEqual(["done", "done", "RATE_LIMITED", "RATE_LIMITED"]);
    expect(await send(room, null, batches().slice(2))).toEqual(["done", "done"]);
  });

  it("are refused to a user who owes a whole burst, until that is paid off (R69)", async () => {
    const { room, ada, ben } = await roomOfTwo();
    const write = (userId: string | null) =>
      send(room, userId, [batchOver({ type: "STORE_DELETE", store: "s", key: "k" }, 500)]);
    let allowed = 0;
    while ((await write(ada.user.id))[0] === "done") allowed += 1;
    expect(allowed).toBe(120);
    expect([await write(ben.user.id), await write(null)]).toEqual([["done"], ["done"]]);
    room.now += 1;
    expect(await write(ada.user.id)).toEqual(["done"]);
  });
});

describe("a user who comes back too often", () => {
  it("is refused after 2 to 4 s, its sockets at different moments (R70)", () => {
    expect([0, 0.5, 0.75].map(joinRefusedAfterMs)).toEqual([2_000, 3_000, 3_500]);
  });

  it("waits for 5 s after a flood, and twice as long each time up to 60 s, until a calm minute (R70)", () => {
    const user = new MessageQueueFixture();
    const pauseMs = () => {
      let waited = 0;
      for (; !user.queue.countJoin("user"); waited += 500) user.now += 500;
      return waited;
    };
    const floods = Array.from({ length: 8 }, () => {
      user.queue.recordFlood("user");
      user.queue.recordFlood("user"); // by the user's other sockets
      expect(user.queue.countJoin("another")).toBe(true);
      return pauseMs();
    });
    expect(floods).toEqual([5, 10, 20, 40, 60, 60, 60, 60].map((seconds) => seconds * 1000));
    user.now += 60_001;
    user.queue.recordFlood("user");
    expect(pauseMs()).toBe(5000);
  });

  it("has a burst of 400 frames instead of 2,000 until the flood is forgotten (R60, R70)", () => {
    const user = new MessageQueueFixture();
    const sentBeforeFlood = () => {
      let sent = 0;
      // each socket for itself may send more
      while (user.queue.countFrame({ ...user.connection, id: `${Math.floor(sent / 500)}` }, 1)) sent += 1;
      user.queue.recordFlood("user");
      return sent;
    };
    expect(sentBeforeFlood()).toBe(2_000);
    expect(sentBeforeFlood()).toBe(0); // by the user's other sockets
    user.now += 30_000;
    expect(sentBeforeFlood()).toBe(400);
    user.now += 72_001;
    expect(sentBeforeFlood()).toBe(2_000);
  });

  it("joins twice a second, after a burst of 64, or of 2 until a flood is forgotten (R70)", () => {
    const user = new MessageQueueFixture();
    const joined = () => {
      let count = 0;
      while (user.queue.countJoin("user")) count += 1;
      return count;
    };
    expect(joined()).toBe(64);
    user.now += 3_000;
    expect(joined()).toBe(6);
    user.queue.recordFlood("user");
    user.now += 30_000;
    expect(joined()).toBe(2); // the sockets come back one after the other
    user.now += 60_000;
    expect(joined()).toBe(64);
  });

  it("is refused after two seconds or more and before the database is read, which others are not (R70)", async () => {
    const { room, ada, ben, atAda } = await roomOfTwo();
    for (let count = 0; count < 1_001; count += 1)
      atAda.send({ type: "PRESENCE_UPDATE", data: { state: null } });
    expect(await atAda.closed).toMatchObject({ code: 4429 });
    const again = await room.connect();
    const askedAt = Date.now();
    await whileTableFails("rooms", async () => {
      expect(await again.request("JOIN_ROOM", { token: ada.token })).toEqual(failed("RATE_LIMITED"));
    });
    expect(Date.now() - askedAt).toBeGreaterThan(1_900); // an immediate refusal would be retried at once
    expect(await again.closed).toMatchObject({ code: 4429 });
    await room.join(ben);
    room.now += 5_000;
    await room.join(ada);
  });

  it("is neither held up by forged tokens nor given away by their answers (R70)", async () => {
    const { room, ada, ben, atAda } = await roomOfTwo();
    const [header, claims] = ada.token.split(".");
    const forged = `${header}.${claims}.${ben.token.split(".").at(2)}`;
    const tryForged = async () => (await room.connect()).request("JOIN_ROOM", { token: forged });
    for (let count = 0; count < 64; count += 1)
      expect(await tryForged()).toEqual(failed("UNAUTHORIZED", "Auth"));
    await room.join(ada);
    for (let count = 0; count < 1_001; count += 1)
      atAda.send({ type: "PRESENCE_UPDATE", data: { state: null } });
    expect(await atAda.closed).toMatchObject({ code: 4429 });
    expect(await tryForged()).toEqual(failed("UNAUTHORIZED", "Auth"));
    expect(await (await room.connect()).request("JOIN_ROOM", { token: ada.token })).toEqual(
      failed("RATE_LIMITED"),
    );
  });
});

it("the sockets of a user share 400 frames a second and a burst of 2,000 (R60)", async () => {
  const { room, ada, atAda } = await roomOfTwo();
  const [second, third] = [await room.join(ada), await room.join(ada)];
  for (const socket of [atAda, second]) {
    for (let count = 0; count < 990; count += 1)
      socket.send({ type: "PRESENCE_UPDATE", data: { state: null } });
    expect((await socket.call("PRESENCE_UPDATE", { state: null })).success).toBe(true);
  }
  for (let count = 0; count < 100; count += 1) third.send({ type: "PRESENCE_UPDATE", data: { state: null } });
  expect(await third.closed).toMatchObject({ code: 4429 });
  expect(await atAda.takeEvents()).toEqual([]);
});
