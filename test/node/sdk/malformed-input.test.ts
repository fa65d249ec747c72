/** The client and services of other versions ignore each other's unknown fields. */
import { afterEach, describe, expect, it } from "vitest";
import { type WebSocket as Peer, WebSocketServer } from "ws";
import { eventually } from "../cli/processes.ts";
import { clientOf, nextOf } from "./clients.ts";
import { Clock } from "./clock.ts";

/** A service of another version, which sends whatever a test wants. */
class ForeignService {
  readonly #server = new WebSocketServer({ port: 0 });
  readonly received: { type: string; requestId?: string; data: Record<string, unknown> }[] = [];
  peer: Peer | null = null;

  constructor() {
    this.#server.on("connection", (peer) => {
      this.peer = peer;
      peer.on("message", (text) => this.#receive(JSON.parse(String(text))));
    });
  }

  get url(): string {
    const address = this.#server.address();
    return typeof address === "object" && address !== null ? `http://localhost:${address.port}` : "";
  }

  send(...messages: unknown[]): void {
    for (const message of messages) this.peer?.send(JSON.stringify(message));
  }

  #receive(message: { type: string; requestId?: string; data: Record<string, unknown> }): void {
    this.received.push(message);
    const answer = {
      type: "response",
      success: true,
      requestId: message.requestId,
      error: null,
      mood: "good",
    };
    if (message.type === "JOIN_ROOM") {
      const room = { id: "room", name: "A room", mood: "good" };
      const users = [{ id: "ada", name: "Ada", mood: "good" }, { id: 7 }, null];
      const presence = { bo: { at: "desk" } };
      const permissions = ["*:read", "presence:write"];
      const data = { room, role: "owner", permissions, users, presence, seq: 3, mood: "good" };
      this.send({ ...answer, data });
    }
    if (message.type === "PRESENCE_SUBSCRIBE") this.send({ ...answer, data: {} });
    if (message.type === "USERS_GET") this.send({ ...answer, data: { users: [], total: "many" } });
  }

  close(): void {
    for (const peer of this.#server.clients) peer.terminate();
    this.#server.close();
  }
}

describe("a service of another version", () => {
  const claims = Buffer.from(JSON.stringify({ accountId: "a", roomId: "room", userId: "ada" }));
  const user = { token: `e30.${claims.toString("base64url")}.` };
  let foreign: ForeignService;
  afterEach(() => foreign.close());

  /** A client with a clock that only the test moves, and its events about everyone's presence. */
  async function watching() {
    foreign = new ForeignService();
    const clock = new Clock();
    const ada = clientOf(user, { serverUrl: foreign.url }, clock);
    await ada.join();
    const reports: unknown[] = [];
    ada.presence.sync("*", ({ userId, state }) => reports.push([userId, state]));
    return { ada, clock, reports };
  }

  const sendPresence = (updates: unknown[], every?: unknown) =>
    foreign.send({
      type: "event",
      event: "presence",
      data: { updates, ...(every !== undefined && { every }) },
    });

  /** The changes of presence that the client has sent. */
  const shown = () =>
    foreign.received.flatMap(({ type, data }) => (type === "PRESENCE_UPDATE" ? [data.patch] : []));

  it("may send messages and fields that the client does not know, and omit some that it knows", async () => {
    foreign = new ForeignService();
    const ada = clientOf(user, { serverUrl: foreign.url });
    await ada.join();
    expect(foreign.received[0]).toMatchObject({
      type: "JOIN_ROOM",
      data: { token: user.token, batch: true },
    });
    expect([ada.currentUser?.name, ada.users.all.size, ada.role]).toEqual(["Ada", 1, "viewer"]);
    const reports: unknown[] = [];
    ada.users.on("userJoined", ({ name }) => reports.push(name));
    ada.store("notes").on("changed", ({ value }) => reports.push(value));
    ada.comments.on("created", ({ text }) => reports.push(text));
    const event = (name: string, data: unknown, seq?: number) => ({ type: "event", event: name, data, seq });
    foreign.send(
      event("moonRisen", { phase: "full" }),
      event("moonSet", {}, 4),
      { type: "song" },
      { type: "response", success: true, requestId: "never asked", data: {} },
      "song",
      [[], null],
      event("userJoined", { user: { id: 7 } }),
      event("presence", { updates: [["bo"], 7, [7, {}], ["bo", 7]] }),
      event("presence", { updates: null }),
      event("storeChanged", { store: "notes", key: "1", action: "sing", value: 1, version: 5 }, 5),
      event("commentCreated", { comment: "Hello" }, 6),
      event("userFollowed", { userId: 7 }, 7),
      event("broadcast", { event: 7 }),
      event("roomUpdated", { room: null }, 8),
    );
    foreign.peer?.send(Buffer.from("{}"));
    foreign.send([
      event("userJoined", { userId: "bo", user: { id: "bo", name: "Bo", mood: "good" } }),
      event(
        "storeChanged",
        { store: "notes", key: "1", action: "set", value: 1, version: 9, mood: "good" },
        9,
      ),
      event("storeChanged", { store: "notes", key: "1", action: "set", value: 0, version: 9 }, 9),
      event("commentCreated", { comment: { id: "1", text: "Last" } }, 10),
    ]);
    await eventually("the last comment", () => reports.includes("Last"));
    expect(reports).toEqual(["Bo", 1, "Last"]);
    expect(ada.socket.state).toBe("connected");
  });

  it("may name users by numbers, and say how often it passes presence on (R86, R87)", async () => {
    const { ada, clock, reports } = await watching();
    sendPresence([
      ["bo", { at: "desk", color: "red" }, 0],
      ["cy", { color: "blue" }, 1],
    ]);
    sendPresence([
      [0, { at: "window" }],
      [1, { color: "green" }],
      [7, { at: "nowhere" }],
    ]);
    sendPresence([
      ["bo", null],
      ["dee", { color: "gray" }, 0],
    ]);
    sendPresence(
      [
        [0, { at: "desk" }],
        [1, {}],
      ],
      200,
    );
    await eventually("the last states", () => reports.length === 8);
    expect(reports).toEqual([
      ["bo", { at: "desk", color: "red" }],
      ["cy", { color: "blue" }],
      ["bo", { at: "window", color: "red" }],
      ["cy", { color: "green" }],
      ["bo", null],
      ["dee", { color: "gray" }],
      ["dee", { at: "desk", color: "gray" }],
      ["cy", { color: "green" }],
    ]);
    ada.presence.sync("cy", ({ userId, state }) => reports.push([userId, state]));
    ada.presence.unsync("*");
    sendPresence(
      [
        [0, { at: "too late" }],
        [1, { at: "window" }],
      ],
      200,
    );
    await eventually("the state of the one who is still synced", () => reports.length === 9);
    expect(reports.slice(8)).toEqual([["cy", { at: "window", color: "green" }]]);

    const show = (x: number, waitMs: number) => {
      ada.presence.update({ x });
      clock.advance(waitMs);
    };
    show(1, 0);
    show(2, 199);
    show(3, 1);
    sendPresence([["cy", { color: "green" }]]);
    await eventually("an event without an interval", () => reports.length === 10);
    clock.advance(200);
    show(4, 0);
    show(5, 49);
    show(6, 1);
    await eventually("what is shown at last", () => shown().length >= 4);
    expect(shown()).toEqual([{ x: 1 }, { x: 3 }, { x: 4 }, { x: 6 }]);
  });

  it("may say that no one else sees presence, until someone does or the client connects again (R101)", async () => {
    const { ada, clock, reports } = await watching();
    const show = (x: number, waitMs: number) => {
      ada.presence.update({ x });
      clock.advance(waitMs);
    };
    const passOn = async (every?: number) => {
      const known = reports.length;
      sendPresence([["cy", { color: "green" }]], every);
      await eventually("the presence of someone else", () => reports.length > known);
    };
    sendPresence([], 10_000);
    await passOn();
    show(1, 0);
    show(2, 9_999);
    show(3, 1);
    show(4, 0);
    await passOn(200);
    await eventually("the updates of 10 s", () => shown().length >= 2);
    sendPresence([]);
    await eventually("the latest state, which someone sees", () => shown().length === 3);
    show(5, 199);
    show(6, 1);
    await passOn();
    await eventually("the updates of a crowd", () => shown().length === 4);
    expect(shown()).toEqual([{ x: 1 }, { x: 3 }, { x: 4 }, { x: 6 }]);

    sendPresence([], 10_000);
    await passOn();
    clock.advance(200);
    show(7, 0);
    show(8, 0);
    const [disconnected, back] = [nextOf(ada, "disconnected"), nextOf(ada, "reconnected")];
    foreign.peer?.close(1001);
    await disconnected;
    clock.advance(1_000);
    await back;
    show(9, 50);
    show(10, 50);
    await eventually("the last update", () => shown().length === 8);
    expect(shown().slice(4)).toEqual([{ x: 7 }, { x: 8 }, { x: 9 }, { x: 10 }]);
  });

  it("may refuse presence again and again, which the client sends ever less often", async () => {
    const { ada, clock, reports } = await watching();
    const sent = () => foreign.received.filter(({ type }) => type === "PRESENCE_UPDATE").length;
    const refuse = async () => {
      const known = reports.length;
      const error = { code: "FORBIDDEN", module: "Presence", message: "Full" };
      foreign.send({ type: "response", success: false, error });
      foreign.send({ type: "event", event: "presence", data: { updates: [["bo", { at: known }]] } });
      await eventually("the refusal", () => reports.length > known);
    };
    ada.presence.update({ x: 0 });
    await eventually("the first update", () => sent() === 1);
    for (const [index, waitMs] of [50, 1_000, 2_000, 4_000].entries()) {
      await refuse();
      await refuse();
      ada.presence.update({ x: index });
      clock.advance(waitMs - 1);
      await refuse();
      expect(sent()).toBe(index + 1);
      clock.advance(1);
      await eventually("the next update", () => sent() > index + 1);
      expect(sent()).toBe(index + 2);
    }
  });

  it("receives no field that is too large, which the client reports once until it fits", async () => {
    const { ada } = await watching();
    const refused: string[] = [];
    ada.presence.on("error", ({ field, error }) => refused.push(field, error.message.split(":")[0] ?? ""));
    for (const x of [1, 2]) ada.presence.update({ x, large: "x".repeat(9_000) });
    expect([refused, ada.presence.own]).toEqual([["large", "large"], { x: 2 }]);
    ada.presence.update({ large: "small" });
    ada.presence.update({ large: "x".repeat(9_000) });
    expect([refused.length, ada.presence.own]).toEqual([4, { x: 2, large: "small" }]);
  });

  it("may have lost a presence state after a reconnect, which removes it from the client", async () => {
    const { ada, clock, reports } = await watching();
    foreign.send({ type: "event", event: "presence", data: { updates: [["bo", { at: "desk" }]] } });
    await eventually("Bo's state", () => ada.presence.getStates().has("bo"));
    const [disconnected, back] = [nextOf(ada, "disconnected"), nextOf(ada, "reconnected")];
    foreign.peer?.close(1001);
    await disconnected;
    clock.advance(1_000);
    await back;
    expect([reports, ada.presence.getStates().size]).toEqual([
      [
        ["bo", { at: "desk" }],
        ["bo", null],
      ],
      0,
    ]);
  });

  it("makes joining fail for good when its response is invalid", async () => {
    foreign = new ForeignService();
    const ada = clientOf(user, { serverUrl: foreign.url });
    await ada.connect();
    const joining = ada.join();
    await eventually("the connection", () => foreign.peer !== null);
    foreign.peer?.removeAllListeners("message").on("message", (text) => {
      const { requestId } = JSON.parse(String(text));
      foreign.send({ type: "response", success: true, requestId, data: { seq: -1 } });
    });
    await expect(joining).rejects.toMatchObject({ code: "INTERNAL_ERROR", module: "Client" });
    expect(ada.socket.state).toBe("closed");
  });

  it("receives at once, for each mark, how far the client has read (R62)", async () => {
    foreign = new ForeignService();
    const ada = clientOf(user, { serverUrl: foreign.url });
    await ada.join();
    foreign.send({ type: "event", event: "mark", data: { mark: 1_048_576 } });
    await eventually("the mark", () => foreign.received.at(-1)?.type === "MARK");
    expect(foreign.received.at(-1)).toEqual({ type: "MARK", data: { mark: 1_048_576 } });
  });

  it.each([
    [4409, "too many connections are waiting to join", 7_500],
    [4429, "too many messages", 7_500],
    [4413, "reader too slow", 500],
    [1001, "silent for 75 s", 500],
  ])("that closes with %i (%s) is reconnected to after %i ms", async (code, reason, pauseMs) => {
    foreign = new ForeignService();
    const clock = new Clock();
    const ada = clientOf(user, { serverUrl: foreign.url }, clock);
    await ada.join();
    const [disconnected, back] = [nextOf(ada, "disconnected"), nextOf(ada, "reconnected")];
    foreign.peer?.close(code, reason);
    expect(await disconnected).toEqual({ code, reason });
    clock.advance(pauseMs - 1);
    expect(ada.socket.state).toBe("reconnecting");
    clock.advance(1);
    await back;
    expect(foreign.received.filter(({ type }) => type === "JOIN_ROOM").at(-1)?.data.since).toBe(3);
  });

  it("that closes with 4413 for a frame that is too large is not reconnected to", async () => {
    foreign = new ForeignService();
    const ada = clientOf(user, { serverUrl: foreign.url });
    await ada.join();
    const failed = nextOf(ada, "failed");
    foreign.peer?.close(4413, "frame too large");
    expect((await failed).error).toMatchObject({ code: "VALIDATION_ERROR" });
  });
});
