/** Users and identities on the content of their room over REST: each acts for itself, and guests learn no identities. */
import { describe, expect, it } from "vitest";
import { pointsOf } from "../../src/room/protocol/costs.ts";
import { Inbox } from "../inbox/support.ts";
import { joinWith } from "../room/support/join.ts";
import { account, makeGuest, refusalOf } from "../support/api.ts";

interface Thread {
  readonly resolved_by?: string | null;
}
interface Comment {
  readonly id: string;
  readonly resolved: boolean;
}

/** A room that is open to identities, one of which has joined it. */
async function roomOfAda() {
  const inbox = await Inbox.create();
  const { owner } = inbox;
  const { id: roomId } = await owner.api.createRoom();
  await owner.api.put(`/rooms/${roomId}/access`, { defaultAccesses: "editor" });
  const token = await inbox.token();
  const { joined, socket } = await joinWith(owner.id, roomId, token);
  return { inbox, owner, roomId, token, api: owner.api.as(token), userId: joined.user.id, socket };
}

const comment = async (
  api: { post: <T>(path: string, body: object) => Promise<{ data: T }> },
  roomId: string,
) =>
  (await api.post<{ comment: Comment }>(`/rooms/${roomId}/comments`, { userId: "me", text: "Look" })).data
    .comment;

it("a guest learns no identity from the people of a thread", async () => {
  const { inbox, owner, roomId, api, userId } = await roomOfAda();
  const { id } = await comment(api, roomId);
  const { guest } = await makeGuest(owner.api, roomId);
  (await joinWith(owner.id, roomId, guest.token)).socket.close();
  const path = `/rooms/${roomId}/threads/${id}/participants`;
  expect((await api.get(path)).data).toEqual({
    participants: [{ user_id: userId, identity_id: inbox.identityId }],
  });
  expect((await owner.api.as(guest.token).get(path)).data).toEqual({
    participants: [{ user_id: userId, identity_id: null }],
  });
});

it("a token that is short-lived or narrowed does not show the lasting one", async () => {
  const { api } = await account();
  const { id: roomId } = await api.createRoom();
  const { id, token: lasting } = await api.createUser(roomId);
  const shown = async (token: string) => {
    const { data } = await api.as(token).get<{ users: { token?: string }[] }>(`/users?roomId=${roomId}`);
    return data.users.map(({ token: own }) => own);
  };
  const issue = async (terms: object) =>
    (await api.post<{ token: string }>(`/users/${id}/tokens?roomId=${roomId}`, terms)).data.token;
  expect(await shown(lasting)).toEqual([lasting]);
  expect(await shown(await issue({ ttl: 900 }))).toEqual([undefined]);
  expect(await shown(await issue({ ttl: 90 * 24 * 60 * 60, role: "viewer" }))).toEqual([undefined]);
});

describe("a user", () => {
  it("resolves a thread in its own name", async () => {
    const { roomId, api, userId, socket } = await roomOfAda();
    const { id } = await comment(api, roomId);
    await socket.takeEvents();
    const { data } = await api.patch<{ thread: Thread }>(`/rooms/${roomId}/threads/${id}`, {
      resolved: true,
    });
    expect(data.thread.resolved_by).toBe(userId);
    expect(await socket.takeEvents()).toMatchObject([{ event: "commentUpdated", data: { by: userId } }]);
  });

  it("reacts to a comment in its own name, and takes that back", async () => {
    const { roomId, api, owner, userId, socket } = await roomOfAda();
    const { id } = await comment(api, roomId);
    const path = `/rooms/${roomId}/comments/${id}/reactions`;
    const react = (body: object, by = api) => by.post<{ comment: { reactions: object } }>(path, body);
    await socket.takeEvents();
    expect((await react({ userId: "me", reaction: "👍" })).data.comment.reactions).toEqual({
      "👍": [userId],
    });
    expect(await socket.takeEvents()).toMatchObject([{ event: "commentUpdated", data: { by: userId } }]);
    const { id: bo } = await owner.api.createUser(roomId, { name: "Bo" });
    expect(refusalOf(await react({ userId: bo, reaction: "👍" }))).toEqual([403, "Auth", "FORBIDDEN"]);
    const both = await react({ userId: bo, reaction: "👍" }, owner.api);
    expect(both.data.comment.reactions).toEqual({ "👍": [userId, bo] });
    const one = await react({ userId: "me", reaction: "👍", on: false });
    expect(one.data.comment.reactions).toEqual({ "👍": [bo] });
    const unknown = await react({ userId: "unknown", reaction: "👍" }, owner.api);
    expect(refusalOf(unknown)).toEqual([404, "Users", "NOT_FOUND"]);
  });

  it("does not reopen a comment by an update without fields", async () => {
    const { roomId, api, socket } = await roomOfAda();
    const { id } = await comment(api, roomId);
    await api.patch(`/rooms/${roomId}/comments/${id}`, { resolved: true });
    expect((await socket.call("COMMENT_UPDATE", { commentId: id })).data).toMatchObject({
      comment: { resolved: true },
    });
  });

  it("writes a comment once under one ID, over its socket and REST", async () => {
    const { owner, roomId, token, socket } = await roomOfAda();
    const sent = await socket.call("COMMENT_CREATE", { text: "Once" }, "once");
    const answer = await owner.api.as(token).send<{ comment: Comment }>("POST", `/rooms/${roomId}/comments`, {
      headers: { "Content-Type": "application/json", "Idempotency-Key": "once" },
      body: JSON.stringify({ userId: "me", text: "Once" }),
    });
    expect(answer.data.comment.id).toBe((sent.data as { comment: Comment }).comment.id);
  });

  it("reads a closed room, and changes nothing in it", async () => {
    const { owner, roomId, api } = await roomOfAda();
    const { id } = await comment(api, roomId);
    await owner.api.patch(`/rooms/${roomId}`, { state: "closed" });
    const statuses = [
      await api.get(`/rooms/${roomId}/comments`),
      await api.post(`/rooms/${roomId}/comments`, { userId: "me", text: "No" }),
      await api.patch(`/rooms/${roomId}/comments/${id}`, { text: "No" }),
      await api.put(`/rooms/${roomId}/stores/s/k`, { value: 1 }),
      await api.put(`/rooms/${roomId}/participants/me`, {}),
      await api.post(`/rooms/${roomId}/broadcast`, { event: "e" }),
    ].map(({ status }) => status);
    expect(statuses).toEqual([200, 403, 403, 403, 403, 403]);
  });

  it("names itself where it filters, and pays for what it searches", async () => {
    const { owner, roomId, api, userId } = await roomOfAda();
    await owner.api.upload({ roomId, userId }, new File(["Hello"], "hello.txt"));
    const { data } = await api.get<{ files: object[] }>(`/files?roomId=${roomId}&userId=me`);
    expect(data.files).toHaveLength(1);
    expect(pointsOf({ type: "COMMENT_SEARCH", data: { search: "x", after: 0 } })).toBe(1_000);
  });
});
