/** Guests never see the ID of another identity, which would identify people in other rooms. */
import { env } from "cloudflare:workers";
import type { Comment } from "@atrium/contract/resources/comment.ts";
import type { Identity } from "@atrium/contract/resources/identity.ts";
import { expect, it, vi } from "vitest";
import { openInbox } from "../../src/delivery/inboxes.ts";
import type { InboxObjectBase } from "../../src/features/inbox/shard/inbox-object.ts";
import { openInboxSocket, PAGE } from "../inbox/support.ts";
import { joinWith } from "../room/support/join.ts";
import { account, makeGuest } from "../support/api.ts";

it("a guest receives no ID of another identity, in the room, its inbox and over REST", async () => {
  const owner = await account();
  const { id: roomId } = await owner.api.createRoom();
  const identify = async (name: string) => {
    const { data } = await owner.api.post<{ identity: Identity; token: string }>("/identify", {
      ...{ customId: name, name },
    });
    await owner.api.put(`/rooms/${roomId}/access`, { identitiesAccesses: { [data.identity.id]: "editor" } });
    return { id: data.identity.id, token: data.token };
  };
  const [ada, ben] = [await identify("Ada"), await identify("Ben")];
  const { data } = await owner.api.post<{ group: { id: string } }>("/groups", { name: "Team" });
  const group = { kind: "group", id: data.group.id };
  const { guest } = await makeGuest(owner.api, roomId);
  const guestId = guest.identity.id;
  const { socket: adas, joined: ofAda } = await joinWith(owner.id, roomId, ada.token);
  const { socket: guests, joined: ofGuest } = await joinWith(owner.id, roomId, guest.token, { since: 0 });
  const inbox = await openInboxSocket(owner.id, guestId);
  await inbox.call("INBOX_JOIN", { token: guest.token });

  const mentions = [ada, ben].map(({ id }) => ({ kind: "user", id }));
  const comment = { text: "Hello", mentions: [...mentions, group], metadata: { mentioned: ["a name"] } };
  const { comment: first } = (await adas.call("COMMENT_CREATE", comment)).data as { comment: Comment };
  expect(first.mentioned).toEqual([...mentions, group]);
  const { data: own } = await guests.call("COMMENT_CREATE", { text: "Hi", threadId: first.id });
  const { comment: mentioning } = (
    await adas.call("COMMENT_CREATE", {
      ...{ text: "You?", threadId: first.id },
      mentions: [{ kind: "user", id: guestId }, ...mentions],
    })
  ).data as { comment: Comment };
  const { userId: guestUserId } = { userId: (own as { comment: Comment }).comment.user_id };
  const textMention = { mentionId: "m1", userId: guestUserId, document: "notes" };
  await adas.call("TEXT_MENTION_CREATE", textMention);

  const seen: unknown[] = [ofGuest, own];
  const requests = [
    ["COMMENT_LIST", {}],
    ["COMMENT_REACT", { commentId: first.id, reaction: "+1", on: true }],
    ["COMMENT_RESOLVE", { commentId: first.id, resolved: true }],
    ["THREAD_LIST", {}],
    ["USERS_GET", {}],
    ["ROOM_GET", {}],
  ] as const;
  for (const [type, message] of requests) {
    const response = await guests.call(type, message, type);
    expect(response).toMatchObject({ success: true });
    seen.push(response, await guests.call(type, message, type));
  }
  await adas.call("COMMENT_UPDATE", { commentId: first.id, text: "Hello, all" });
  await adas.call("COMMENT_DELETE", { commentId: mentioning.id });
  const events = await guests.takeEvents();
  const commented = events.filter(({ event }) => event.startsWith("comment"));
  expect(commented[0]?.data).toMatchObject({
    comment: { id: first.id, mentioned: [group], metadata: { mentioned: ["a name"] } },
  });
  seen.push(events, (await joinWith(owner.id, roomId, guest.token, { since: 0 })).joined);

  const page = await vi.waitFor(async () => {
    const found = await openInbox<InboxObjectBase>(env)(owner.id, guestId).list(
      { identityId: guestId },
      PAGE,
    );
    expect(found?.notifications).toHaveLength(1);
    return found;
  }, 20_000);
  const userId = (ofAda as { user: { id: string } }).user.id;
  expect(page?.notifications[0]?.activities).toMatchObject([{ created_by: userId }]);
  const api = owner.api.as(guest.token);
  seen.push(page, await api.get("/me/inbox-notifications"), await api.get(`/users?roomId=${roomId}`));
  seen.push(await inbox.takeEvents());
  const text = JSON.stringify(seen);
  for (const { id } of [ada, ben]) expect(text).not.toContain(id);
  const listed = (await adas.call("COMMENT_LIST", {})).data as { comments: Comment[] };
  expect(listed.comments[0]?.mentioned).toEqual([...mentions, group]);
});
