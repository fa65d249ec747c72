/** Presence, broadcasts and comments through the client. */
import { beforeAll, describe, expect, it } from "vitest";
import type { AtriumClient, Comment, Notification, PresenceUpdate } from "../../src/sdk/client/index.ts";
import { eventually } from "../node/processes.ts";
import { type SharedService, useSharedService } from "../node/shared-service.ts";
import { clientOf, EAGER, join, type Meeting, meet, next } from "./clients.ts";

let service: SharedService;
let meeting: Meeting;
let ada: AtriumClient;
let bo: AtriumClient;

beforeAll(async () => {
  service = await useSharedService();
  meeting = await meet(service);
});

async function adaAndBo(): Promise<void> {
  meeting = await meet(service);
  ada = await join(meeting, "Ada");
  bo = await join(meeting, "Bo");
  await eventually("Ada to see Bo", () => ada.users.online.size === 2);
}

/** What a client is told of the presence of a target from now on. */
function watch(client: AtriumClient, target: string): PresenceUpdate[] {
  const updates: PresenceUpdate[] = [];
  client.presence.sync(target, (update) => updates.push(update));
  return updates;
}

describe("presence", () => {
  it("shows the latest state to those who ask for it, in its user's color", async () => {
    await adaAndBo();
    const atBo = watch(bo, "*");
    await bo.comments.list(); // what is asked for after the subscription is answered after it
    for (let x = 0; x <= 20; x += 1) ada.presence.update({ x });
    await eventually("the last one", () => bo.presence.getStates().get(ada.userId)?.x === 20);
    expect(atBo.map(({ state }) => state?.x)).toEqual([0, 20]);
    expect(atBo[0]).toMatchObject({ userId: ada.userId, state: { color: expect.stringMatching(/^#/) } });
    expect(ada.presence.getStates().size).toBe(0);
    ada.presence.update(null);
    await eventually("the end of it", () => bo.presence.getStates().size === 0);
    expect(atBo.at(-1)).toEqual({ userId: ada.userId, state: null });
  });

  it("is told from the present states on, to several listeners at once, until each one's end", async () => {
    await adaAndBo();
    ada.presence.update({ at: "door" });
    const all = watch(bo, "*");
    await eventually("the present state", () => all.length === 1);
    const two: PresenceUpdate[] = [];
    const off = bo.presence.sync("*", (update) => two.push(update));
    const one = watch(bo, ada.userId);
    await eventually("the present state for all three", () => two.length > 0 && one.length > 0);
    off();
    const heard = two.length;
    ada.presence.update({ at: "desk" });
    await eventually("the next state", () => one.at(-1)?.state?.at === "desk");
    expect(all.at(-1)?.state?.at).toBe("desk");
    expect(two).toHaveLength(heard);
    bo.presence.unsync("*");
    expect(bo.presence.getStates().size).toBe(1);
    bo.presence.unsync();
    bo.presence.unsync();
    expect(bo.presence.getStates().size).toBe(0);
  });

  it("of those who are followed comes and goes with following them", async () => {
    await adaAndBo();
    const followed = watch(bo, "following");
    ada.presence.update({ at: "desk" });
    const cleo = await join(meeting, "Cleo");
    watch(cleo, "*");
    await eventually("Cleo to see Ada", () => cleo.presence.getStates().has(ada.userId));
    expect(followed).toEqual([]);
    await bo.users.get({ userId: ada.userId })?.follow();
    await eventually("Ada's state", () => bo.presence.getStates().has(ada.userId));
    cleo.presence.update({ at: "door" });
    await eventually("Cleo's own state", () => cleo.presence.getStates().has(cleo.userId));
    await bo.users.get({ userId: ada.userId })?.unfollow();
    expect(bo.presence.getStates().size).toBe(0);
    expect(followed.map(({ userId, state }) => [userId, state?.at])).toEqual([
      [ada.userId, "desk"],
      [ada.userId, undefined],
    ]);
  });

  it("may be asked for and shown before joining, and ends with leaving", async () => {
    await adaAndBo();
    const user = await meeting.customer.createUser(meeting.roomId, "Cleo");
    const cleo = clientOf(user, { serverUrl: service.url });
    const atCleo = watch(cleo, bo.userId);
    cleo.presence.unsync("nobody");
    cleo.presence.update({ at: "door" });
    const atBo = watch(bo, "*");
    bo.presence.update({ at: "desk" });
    await cleo.join();
    await eventually("both to see each other", () => atCleo.length > 0 && bo.presence.getStates().size === 2);
    cleo.disconnect();
    await eventually("Bo to see Cleo leave", () => !bo.presence.getStates().has(cleo.userId));
    expect(atBo.at(-1)).toEqual({ userId: cleo.userId, state: null });
  });

  it("refuses a state that the room would refuse", async () => {
    await adaAndBo();
    const update = (state: unknown) => () => ada.presence.update(state as Record<string, unknown>);
    for (const wrong of [[], "here", { text: "a".repeat(8192) }, undefined])
      expect(update(wrong)).toThrow(
        expect.objectContaining({ code: "VALIDATION_ERROR", module: "Presence" }),
      );
  });
});

describe("broadcasts", () => {
  it("reach the others, or those who are named, and say whom they are from", async () => {
    await adaAndBo();
    const heard: [string, Notification][] = [];
    for (const [name, client] of Object.entries({ ada, bo }))
      client.notifications.on("wave", (notification) => heard.push([name, notification]));
    const once: unknown[] = [];
    bo.notifications.once("wave", ({ data }) => once.push(data));
    expect(await ada.notifications.broadcast("wave", { hand: "left" })).toBe(1);
    expect(await ada.notifications.broadcast("wave", 2, [ada.userId, bo.userId, "nobody"])).toBe(2);
    await meeting.customer.send("POST", `/rooms/${meeting.roomId}/broadcast`, { event: "wave" });
    await eventually("all five", () => heard.length === 5);
    const from = ada.userId;
    expect(heard.filter(([name]) => name === "bo").map(([, notification]) => notification)).toEqual([
      { data: { hand: "left" }, from },
      { data: 2, from },
      { data: null, from: null },
    ]);
    expect(once).toEqual([{ hand: "left" }]);
  });

  it("are not for viewers to send", async () => {
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
  it("are written, answered, changed, resolved, reacted to and deleted, and all hear of each", async () => {
    await adaAndBo();
    const heard: [string, string][] = [];
    for (const event of ["created", "updated", "deleted"] as const)
      bo.comments.on(event, ({ text }) => heard.push([event, text]));
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
    expect(listed).toEqual({ comments: [second], total: 2 });
    await bo.comments.delete({ commentId: second.id });
    expect((await ada.comments.list()).total).toBe(1);
    expect(heard).toEqual([
      ["created", "Shall we?"],
      ["created", "We shall"],
      ...Array(5).fill(["updated", "Shall we now?"]),
      ["deleted", "We shall"],
    ]);
  });

  it("are told to their author before the promise settles, and refused as the room refuses", async () => {
    await adaAndBo();
    const told = next("the comment", (listener: (comment: Comment) => void) =>
      ada.comments.on("created", listener),
    );
    const created = await ada.comments.create({ text: "Mine" });
    expect(await told).toEqual(created);
    const change = { commentId: created.id, text: "Yours" };
    await expect(bo.comments.update(change)).rejects.toMatchObject({ code: "FORBIDDEN", module: "Rooms" });
    await expect(bo.comments.create({ text: "" })).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
    await expect(bo.comments.list({ limit: 1000 })).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  });
});
