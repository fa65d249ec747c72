/** Presence, broadcasts and comments through the client. */

import type { AtriumClient, Comment, OfflineSupport, PresenceUpdate, RefusedField } from "atrium/client";
import { keepOffline, memoryStorage } from "atrium/offline";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { openComments } from "../../../packages/sdk/react/content-sources.ts";
import { roomOf } from "../../../packages/sdk/react/provider.ts";
import { SharedConnection } from "../../../packages/sdk/react/shared-connection.ts";
import { eventually } from "../cli/processes.ts";
import { type SharedService, sharedService } from "../cli/shared-service.ts";
import { clientOf, EAGER, join, type Meeting, meet, next, nextOf } from "./clients.ts";
import { Clock } from "./clock.ts";
import { BreakableProxy } from "./proxy.ts";

let service: SharedService;
let meeting: Meeting;
let ada: AtriumClient;
let bo: AtriumClient;

beforeAll(async () => {
  service = await sharedService();
  meeting = await meet(service);
});

async function adaAndBo(): Promise<void> {
  meeting = await meet(service);
  ada = await join(meeting, "Ada");
  bo = await join(meeting, "Bo");
  await eventually("Ada to see Bo", () => ada.users.online.size === 2);
}

/** The presence updates that a client receives for a target from now on. */
function watch(client: AtriumClient, target: string): PresenceUpdate[] {
  const updates: PresenceUpdate[] = [];
  client.presence.sync(target, (update) => updates.push(update));
  return updates;
}

describe("presence", () => {
  it("shows the latest state to subscribers, with its user's color", async () => {
    await adaAndBo();
    const atBo = watch(bo, "*");
    await bo.comments.list(); // answered after the subscription, which was sent first
    for (let x = 0; x <= 20; x += 1) ada.presence.update({ x });
    await eventually("the last state", () => bo.presence.getStates().get(ada.userId)?.x === 20);
    expect(atBo.map(({ state }) => state?.x)).toEqual([0, 20]);
    expect(ada.presence.own).toEqual({ x: 20 });
    expect(atBo[0]).toMatchObject({ userId: ada.userId, state: { color: expect.stringMatching(/^#/) } });
    expect(ada.presence.getStates().size).toBe(0);
    ada.presence.update(null);
    await eventually("the state to be removed", () => bo.presence.getStates().size === 0);
    expect(atBo.at(-1)).toEqual({ userId: ada.userId, state: null });
  });

  it("is sent every 10 s while no one else sees it, and at once to who then subscribes (R101)", async () => {
    meeting = await meet(service);
    const clock = new Clock();
    const user = await meeting.customer.createUser(meeting.roomId, "Ada");
    ada = clientOf(user, { serverUrl: service.url }, clock);
    await ada.join();
    watch(ada, "*");
    const presenceOf = async () => {
      const { data } = await meeting.customer.send<{ presence: Record<string, { x?: number }> }>(
        "GET",
        `/rooms/${meeting.roomId}/presence`,
      );
      return data.presence;
    };
    const show = async (x: number, waitMs: number) => {
      ada.presence.update({ x });
      clock.advance(waitMs);
      await ada.comments.list(); // answered after the update, and what the room says about it
      return (await presenceOf())[user.id]?.x;
    };
    expect(await show(1, 50)).toBe(1);
    expect(await show(2, 0)).toBe(2);
    expect(await show(3, 9_999)).toBe(2);
    expect(await show(4, 1)).toBe(4);
    expect(await show(5, 50)).toBe(4);
    bo = await join(meeting, "Bo");
    const atBo = watch(bo, user.id);
    await eventually("the latest state", () => atBo.at(-1)?.state?.x === 5);
    expect(await show(6, 50)).toBe(6);
  });

  it("reaches each listener, beginning with the current states, until the listener is removed", async () => {
    await adaAndBo();
    ada.presence.update({ at: "window" });
    const all = watch(bo, "*");
    await eventually("the current state", () => all.length === 1);
    const two: PresenceUpdate[] = [];
    const off = bo.presence.sync("*", (update) => two.push(update));
    const one = watch(bo, ada.userId);
    await eventually("the current state for all three", () => two.length > 0 && one.length > 0);
    off();
    const received = two.length;
    ada.presence.update({ at: "desk" });
    await eventually("the next state", () => one.at(-1)?.state?.at === "desk");
    expect(all.at(-1)?.state?.at).toBe("desk");
    expect(two).toHaveLength(received);
    bo.presence.unsync("*");
    expect(bo.presence.getStates().size).toBe(1);
    bo.presence.unsync();
    bo.presence.unsync();
    expect(bo.presence.getStates().size).toBe(0);
  });

  it("of followed users is received only while they are followed", async () => {
    await adaAndBo();
    const followed = watch(bo, "following");
    ada.presence.update({ at: "desk" });
    const cleo = await join(meeting, "Cleo");
    watch(cleo, "*");
    await eventually("Cleo to see Ada", () => cleo.presence.getStates().has(ada.userId));
    expect(followed).toEqual([]);
    await bo.users.get({ userId: ada.userId })?.follow();
    await eventually("Ada's state", () => bo.presence.getStates().has(ada.userId));
    cleo.presence.update({ at: "window" });
    await eventually("Cleo's own state", () => cleo.presence.getStates().has(cleo.userId));
    await bo.users.get({ userId: ada.userId })?.unfollow();
    expect(bo.presence.getStates().size).toBe(0);
    expect(followed.map(({ userId, state }) => [userId, state?.at])).toEqual([
      [ada.userId, "desk"],
      [ada.userId, undefined],
    ]);
  });

  it("can be subscribed to and updated before joining, and ends when the user leaves", async () => {
    await adaAndBo();
    const user = await meeting.customer.createUser(meeting.roomId, "Cleo");
    const cleo = clientOf(user, { serverUrl: service.url });
    const atCleo = watch(cleo, bo.userId);
    cleo.presence.unsync("unknown");
    cleo.presence.update({ at: "window" });
    const atBo = watch(bo, "*");
    bo.presence.update({ at: "desk" });
    await cleo.join();
    await eventually("both to see each other", () => atCleo.length > 0 && bo.presence.getStates().size === 2);
    cleo.disconnect();
    await eventually("Bo to see Cleo leave", () => !bo.presence.getStates().has(cleo.userId));
    expect(atBo.at(-1)).toEqual({ userId: cleo.userId, state: null });
  });

  it("is changed field by field, by every tab of its user", async () => {
    await adaAndBo();
    const user = await meeting.customer.createUser(meeting.roomId, "Cleo");
    const tabs = [clientOf(user, { serverUrl: service.url }), clientOf(user, { serverUrl: service.url })];
    const [one, two] = tabs as [AtriumClient, AtriumClient];
    await Promise.all([one.join(), two.join()]);
    const atBo = watch(bo, user.id);
    let changes = 0;
    one.presence.on("updated", () => {
      changes += 1;
    });
    one.presence.update({ cursor: { x: 1 }, tool: "pen" });
    one.presence.update({ cursor: null, tool: undefined, typing: false });
    expect(one.presence.own).toEqual({ cursor: null, typing: false });
    expect(changes).toBe(2);
    two.presence.update({ selection: [1] });
    const shown = () => bo.presence.getStates().get(user.id);
    const color = expect.any(String);
    await eventually("both tabs' fields", () => shown()?.typing === false && "selection" in (shown() ?? {}));
    expect(shown()).toEqual({ color, cursor: null, typing: false, selection: [1] });
    expect(atBo.every(({ state }) => state?.color === shown()?.color)).toBe(true);
    two.presence.update(null);
    await eventually("the state to be removed", () => shown() === undefined);
    one.presence.update({ cursor: { x: 2 } });
    await eventually("the cursor alone", () => shown()?.cursor !== undefined);
    expect(shown()).toEqual({ color, cursor: { x: 2 } });
  });

  it("leaves out a field that is too large or not JSON, names it, and shows the others", async () => {
    await adaAndBo();
    watch(bo, ada.userId);
    const refused: RefusedField[] = [];
    ada.presence.on("error", (field) => refused.push(field));
    ada.presence.update({ selection: ["first"] });
    let nested: unknown = 1;
    for (let levels = 0; levels < 38; levels += 1) nested = [nested];
    ada.presence.update({
      selection: "a".repeat(8192),
      cursor: { x: 1 },
      nested,
      onClick: () => {},
      tool: "pen",
    });
    ada.presence.update({ cursor: { x: 2 } });
    await eventually("the cursor", () => Object(bo.presence.getStates().get(ada.userId)?.cursor).x === 2);
    const shown = { selection: ["first"], cursor: { x: 2 }, tool: "pen" };
    expect(bo.presence.getStates().get(ada.userId)).toEqual({ color: expect.any(String), ...shown });
    expect(ada.presence.own).toEqual(shown);
    expect(refused.map(({ field, error: { code, message } }) => [field, code, message])).toEqual([
      ["nested", "VALIDATION_ERROR", "nested must nest at most 37 levels deep"],
      ["onClick", "VALIDATION_ERROR", "onClick must be JSON, and a function is not"],
      ["selection", "VALIDATION_ERROR", "selection: the presence must have at most 8192 bytes in all"],
    ]);
    for (const wrong of [[], "here", undefined])
      expect(() => ada.presence.update(wrong as unknown as object)).toThrow(
        expect.objectContaining({ code: "VALIDATION_ERROR", module: "Presence" }),
      );
  });

  it("goes on when two tabs of a user together show too much: the latest replaces all", async () => {
    await adaAndBo();
    watch(bo, "*");
    const user = await meeting.customer.createUser(meeting.roomId, "Cleo");
    const [one, two] = [
      clientOf(user, { serverUrl: service.url }),
      clientOf(user, { serverUrl: service.url }),
    ];
    await Promise.all([one.join(), two.join()]);
    const shown = () => bo.presence.getStates().get(user.id);
    one.presence.update({ notes: "a".repeat(8000) });
    await eventually("the first tab's", () => shown()?.notes !== undefined);
    two.presence.update({ cursor: { x: 1 }, selection: "b".repeat(4000) });
    await eventually("the second tab's", () => shown()?.selection !== undefined);
    expect(Object.keys(shown() ?? {}).sort()).toEqual(["color", "cursor", "selection"]);
    one.presence.update({ cursor: { x: 2 } });
    await eventually("the cursor", () => Object(shown()?.cursor).x === 2);
  });
});

describe("broadcasts", () => {
  it("reach the other users, or only the named ones, and name their sender", async () => {
    await adaAndBo();
    const received: unknown[][] = [];
    for (const [name, client] of Object.entries({ ada, bo }))
      client.notifications.on("wave", (data, from) => received.push([name, data, from]));
    const once: unknown[] = [];
    bo.notifications.once("wave", (data, from) => once.push(data, from));
    const removed = bo.notifications.on("wave", () => once.push("removed"));
    removed();
    expect(await ada.notifications.broadcast("wave", { hand: "left" })).toBe(1);
    expect(await ada.notifications.broadcast("wave", 2, [ada.userId, bo.userId, "unknown"])).toBe(2);
    await meeting.customer.send("POST", `/rooms/${meeting.roomId}/broadcast`, { event: "wave" });
    await eventually("all five", () => received.length === 5);
    const from = ada.userId;
    expect(received.filter(([name]) => name === "bo")).toEqual([
      ["bo", { hand: "left" }, from],
      ["bo", 2, from],
      ["bo", null, null],
    ]);
    expect(once).toEqual([{ hand: "left" }, from]);
  });

  it("cannot be sent by viewers", async () => {
    const viewer = clientOf(
      await meeting.customer.createUser(meeting.roomId),
      { serverUrl: service.url },
      EAGER,
    );
    await viewer.join({ role: "viewer" });
    await expect(viewer.notifications.broadcast("wave")).rejects.toMatchObject({ code: "FORBIDDEN" });
  });
});

describe("comments", () => {
  it("are created, replied to, updated, resolved, reacted to and deleted, with an event for each change", async () => {
    await adaAndBo();
    const received: [string, string][] = [];
    for (const event of ["created", "updated", "deleted"] as const)
      bo.comments.on(event, ({ text }) => received.push([event, text]));
    const anchor = { x: 12 };
    const first = await ada.comments.create({ text: "Shall we?", anchor, mentions: [bo.userId] });
    expect(first).toMatchObject({ user_id: ada.userId, thread_id: first.id, anchor, mentions: [bo.userId] });
    const second = await bo.comments.create({ text: "We shall", threadId: first.id });
    await ada.comments.update({ commentId: first.id, text: "Shall we now?" });
    expect((await bo.comments.resolve({ commentId: first.id })).resolved).toBe(true);
    expect((await bo.comments.resolve({ commentId: first.id, resolved: false })).resolved).toBe(false);
    expect((await bo.comments.react({ commentId: first.id, reaction: "👍" })).reactions).toEqual({
      "👍": [bo.userId],
    });
    await bo.comments.react({ commentId: first.id, reaction: "👍", on: false });
    const listed = await ada.comments.list({ threadId: first.id, resolved: false, limit: 1, offset: 1 });
    expect(listed).toEqual({ comments: [second], total: 2, next: null });
    const { next } = await ada.comments.list({ limit: 1 });
    expect((await ada.comments.list({ after: next ?? 0 })).comments).toEqual([second]);
    await bo.comments.delete({ commentId: second.id });
    expect((await ada.comments.list()).total).toBe(1);
    expect(received).toEqual([
      ["created", "Shall we?"],
      ["created", "We shall"],
      ...Array(5).fill(["updated", "Shall we now?"]),
      ["deleted", "We shall"],
    ]);
  });

  it("emit their event to the author before the promise resolves, and reject with the room's error", async () => {
    await adaAndBo();
    const event = next("the comment", (listener: (comment: Comment) => void) =>
      ada.comments.on("created", listener),
    );
    const created = await ada.comments.create({ text: "Mine" });
    expect(await event).toEqual(created);
    const change = { commentId: created.id, text: "Yours" };
    await expect(bo.comments.update(change)).rejects.toMatchObject({ code: "FORBIDDEN", module: "Rooms" });
    await expect(bo.comments.create({ text: "" })).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
    await expect(bo.comments.list({ limit: 1000 })).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  });
});

// The rooms that React's providers open, and the lists that their hooks read.

const serviceReactRooms = await sharedService();

const claims = { accountId: "account", roomId: "room", userId: "ada" };
const authToken = `e30.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.`;

it("share one client, which keeps offline what their option says", () => {
  const attached: string[] = [];
  const kept = keepOffline({ storage: memoryStorage() });
  const offline: OfflineSupport = {
    attach: (base, runtime) => {
      attached.push(base);
      return kept.attach(base, runtime);
    },
  };
  const options = { serverUrl: "http://localhost:1", authToken };
  const first = roomOf({ ...options, offline });
  expect([roomOf({ ...options, offline }) === first, roomOf(options) === first]).toEqual([true, false]);
  expect(attached).toEqual(["ws://localhost:1/"]);
});

it("lists comments once, page after page, and again only after an absence that was too long", async () => {
  const meeting = await meet(serviceReactRooms);
  const bo = await join(meeting, "Bo");
  const texts = Array.from({ length: 101 }, (_, index) => `${index}`);
  for (const text of texts) void bo.comments.create({ text });
  await eventually("all comments", async () => (await bo.comments.list({ limit: 1 })).total === 101);

  const proxy = await BreakableProxy.before(serviceReactRooms);
  onTestFinished(() => proxy.close());
  const asked: unknown[] = [];
  const open = (url: string): WebSocket => {
    const socket = EAGER.open(url);
    const send = socket.send.bind(socket);
    socket.send = (frame: string) => {
      if (frame.includes("COMMENT_LIST")) asked.push(Object(JSON.parse(frame)).data);
      send(frame);
    };
    return socket;
  };
  const user = await meeting.customer.createUser(meeting.roomId, "Ada");
  const ada = clientOf(user, { serverUrl: proxy.url }, { ...EAGER, open });
  const connection = new SharedConnection(ada, undefined, () => {});
  const { source } = openComments(ada, undefined);
  onTestFinished(source.subscribe(() => {}));
  onTestFinished(connection.acquire());
  const shown = () => source.read().map(({ text }) => text);
  await eventually("the list", () => shown().length === 101);
  expect(shown()).toEqual(texts);
  const pages = [{ limit: 100 }, { limit: 100, after: expect.any(Number) }];
  expect(asked).toEqual(pages);

  /** Changes the oldest comment, deletes the next one and writes another one while Ada is away. */
  const reconnect = async (text: string) => {
    const lost = nextOf(ada, "reconnecting");
    proxy.shut();
    await lost;
    const [first, second] = (await bo.comments.list({ limit: 2 })).comments;
    await bo.comments.update({ commentId: first?.id ?? "", text });
    await bo.comments.delete({ commentId: second?.id ?? "" });
    await bo.comments.create({ text });
    if (text === "long") {
      // More than the 1 MiB of changes that the room replays.
      for (let key = 0; key < 20; key += 1) await bo.store("ballast").set(`${key}`, "a".repeat(60_000));
    }
    const back = nextOf(ada, "reconnected");
    proxy.open();
    await back;
    await eventually("the change", () => shown()[0] === text && shown().at(-1) === text);
  };
  await reconnect("short");
  expect([shown(), asked]).toEqual([["short", ...texts.slice(2), "short"], pages]);
  await reconnect("long");
  expect([shown(), asked]).toEqual([
    ["long", ...texts.slice(3), "short", "long"],
    [...pages, ...pages],
  ]);
});
