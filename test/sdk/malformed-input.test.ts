/** The client and the service agree on what goes over the wire, and each passes over what it does not know. */
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { type WebSocket as Peer, WebSocketServer } from "ws";
import { eventually } from "../node/processes.ts";
import { type SharedService, useSharedService } from "../node/shared-service.ts";
import { clientOf, join, meet, nextOf } from "./clients.ts";
import { Clock } from "./clock.ts";

/** A service of another version, which says what a test has it say. */
class Stranger {
  readonly #server = new WebSocketServer({ port: 0 });
  readonly heard: { type: string; requestId?: string; data: Record<string, unknown> }[] = [];
  peer: Peer | null = null;

  constructor() {
    this.#server.on("connection", (peer) => {
      this.peer = peer;
      peer.on("message", (text) => this.#hear(JSON.parse(String(text))));
    });
  }

  get url(): string {
    const address = this.#server.address();
    return typeof address === "object" && address !== null ? `http://localhost:${address.port}` : "";
  }

  say(...messages: unknown[]): void {
    for (const message of messages) this.peer?.send(JSON.stringify(message));
  }

  #hear(message: { type: string; requestId?: string; data: Record<string, unknown> }): void {
    this.heard.push(message);
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
      const presence = { bo: { at: "door" } };
      this.say({ ...answer, data: { room, role: "owner", users, presence, seq: 3, mood: "good" } });
    }
    if (message.type === "PRESENCE_SUBSCRIBE") this.say({ ...answer, data: {} });
    if (message.type === "USERS_GET") this.say({ ...answer, data: { users: [], total: "many" } });
  }

  close(): void {
    for (const peer of this.#server.clients) peer.terminate();
    this.#server.close();
  }
}

describe("a service of another version", () => {
  const claims = Buffer.from(JSON.stringify({ accountId: "a", roomId: "room", userId: "ada" }));
  const user = { token: `e30.${claims.toString("base64url")}.` };
  let stranger: Stranger;
  afterEach(() => stranger.close());

  it("may say what the client does not know, and leave out what it does", async () => {
    stranger = new Stranger();
    const ada = clientOf(user, { serverUrl: stranger.url });
    await ada.join();
    expect(stranger.heard[0]).toMatchObject({ type: "JOIN_ROOM", data: { token: user.token, batch: true } });
    expect([ada.currentUser?.name, ada.users.all.size, ada.role]).toEqual(["Ada", 1, "viewer"]);
    const told: unknown[] = [];
    ada.users.on("userJoined", ({ name }) => told.push(name));
    ada.store("notes").on("changed", ({ value }) => told.push(value));
    ada.comments.on("created", ({ text }) => told.push(text));
    const event = (name: string, data: unknown, seq?: number) => ({ type: "event", event: name, data, seq });
    stranger.say(
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
    stranger.peer?.send(Buffer.from("{}"));
    stranger.say([
      event("userJoined", { userId: "bo", user: { id: "bo", name: "Bo", mood: "good" } }),
      event(
        "storeChanged",
        { store: "notes", key: "1", action: "set", value: 1, version: 9, mood: "good" },
        9,
      ),
      event("storeChanged", { store: "notes", key: "1", action: "set", value: 0, version: 9 }, 9),
      event("commentCreated", { comment: { id: "1", text: "Last" } }, 10),
    ]);
    await eventually("the last word", () => told.includes("Last"));
    expect(told).toEqual(["Bo", 1, "Last"]);
    expect(ada.socket.state).toBe("connected");
  });

  it("may have no state any more when it is asked to tell, which ends the one of before", async () => {
    stranger = new Stranger();
    const clock = new Clock();
    const ada = clientOf(user, { serverUrl: stranger.url }, clock);
    await ada.join();
    const told: unknown[] = [];
    ada.presence.sync("*", ({ userId, state }) => told.push([userId, state]));
    stranger.say({ type: "event", event: "presence", data: { updates: [["bo", { at: "door" }]] } });
    await eventually("Bo's state", () => ada.presence.getStates().has("bo"));
    const [disconnected, back] = [nextOf(ada, "disconnected"), nextOf(ada, "reconnected")];
    stranger.peer?.close(1001);
    await disconnected;
    clock.advance(0);
    await back;
    expect([told, ada.presence.getStates().size]).toEqual([
      [
        ["bo", { at: "door" }],
        ["bo", null],
      ],
      0,
    ]);
  });

  it("is given up when its answer to joining makes no sense", async () => {
    stranger = new Stranger();
    const ada = clientOf(user, { serverUrl: stranger.url });
    await ada.connect();
    const joining = ada.join();
    await eventually("the connection", () => stranger.peer !== null);
    stranger.peer?.removeAllListeners("message").on("message", (text) => {
      const { requestId } = JSON.parse(String(text));
      stranger.say({ type: "response", success: true, requestId, data: { seq: -1 } });
    });
    await expect(joining).rejects.toMatchObject({ code: "INTERNAL_ERROR", module: "Client" });
    expect(ada.socket.state).toBe("closed");
  });

  it("is told at once how far its events were read, each time it asks (R62)", async () => {
    stranger = new Stranger();
    const ada = clientOf(user, { serverUrl: stranger.url });
    await ada.join();
    stranger.say({ type: "event", event: "mark", data: { mark: 1_048_576 } });
    await eventually("the mark", () => stranger.heard.at(-1)?.type === "MARK");
    expect(stranger.heard.at(-1)).toEqual({ type: "MARK", data: { mark: 1_048_576 } });
  });

  it.each([
    [4409, "too many connections are waiting to join", 7_500],
    [4429, "too many messages", 7_500],
    [4413, "reader too slow", 0],
    [1001, "silent for 75 s", 0],
  ])("that closes with %i (%s) sees the client again after %i ms", async (code, reason, pauseMs) => {
    stranger = new Stranger();
    const clock = new Clock();
    const ada = clientOf(user, { serverUrl: stranger.url }, clock);
    await ada.join();
    const [disconnected, back] = [nextOf(ada, "disconnected"), nextOf(ada, "reconnected")];
    stranger.peer?.close(code, reason);
    expect(await disconnected).toEqual({ code, reason });
    if (pauseMs > 0) clock.advance(pauseMs - 1);
    expect(ada.socket.state).toBe("reconnecting");
    clock.advance(pauseMs > 0 ? 1 : 0);
    await back;
    expect(stranger.heard.filter(({ type }) => type === "JOIN_ROOM").at(-1)?.data.since).toBe(3);
  });

  it("that closes with 4413 for a frame that is too large does not", async () => {
    stranger = new Stranger();
    const ada = clientOf(user, { serverUrl: stranger.url });
    await ada.join();
    const failed = nextOf(ada, "failed");
    stranger.peer?.close(4413, "frame too large");
    expect((await failed).error).toMatchObject({ code: "VALIDATION_ERROR" });
  });
});

describe("a reader of much", () => {
  let service: SharedService;
  beforeAll(async () => {
    service = await useSharedService();
  });

  it("stays connected through more than the service sends to those who do not say how far they are (R62)", async () => {
    const meeting = await meet(service);
    const [ada, bo] = [await join(meeting, "Ada"), await join(meeting, "Bo")];
    let heard = 0;
    let wasLost = false;
    bo.notifications.on("much", () => {
      heard += 1;
    });
    bo.socket.on("disconnected", () => {
      wasLost = true;
    });
    const data = "a".repeat(60_000);
    for (let index = 0; index < 100; index += 1) await ada.notifications.broadcast("much", data);
    await eventually("all of it", () => heard === 100);
    expect(wasLost).toBe(false);
  });
});
