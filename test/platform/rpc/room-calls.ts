/** The calls of a room's object: see `calls.ts`. */
import * as Y from "yjs";
import { fold } from "../../../src/platform/text.ts";
import { type RoomGateway, roomGateway } from "../../../src/room/host/gateway.ts";
import type { RoomRequest } from "../../../src/room/protocol/room-request.ts";
import { PERSONAL_PARTS, type RoomCommand } from "../../../src/room/types/room-object.ts";
import { archiveCalls, type Calls, keptAs, type Place } from "./place.ts";

const CAUSE = { workflowId: "workflow", depth: 1 };
const TRACE = { requestId: "request", traceparent: `00-${"1".repeat(32)}-${"2".repeat(16)}-01` };
const PAGE = { before: 99, limit: 9 };
const AUTHOR = { type: "key", id: "key" } as const;

/** An update that is the same in each run. */
function updateOf(text: string, clientId: number): Uint8Array {
  const document = new Y.Doc();
  document.clientID = clientId;
  document.getText("text").insert(0, text);
  return Y.encodeStateAsUpdate(document);
}

const room =
  (call: (gateway: RoomGateway, at: readonly [roomId: string, accountId: string], place: Place) => unknown) =>
  async (place: Place): Promise<unknown> =>
    call(roomGateway(place.env), [place.roomId, place.accountId], place);

const request = (requestOf: (place: Place) => RoomRequest, isTraced = false) =>
  room((to, at, place) =>
    isTraced ? to.request(...at, requestOf(place), CAUSE, TRACE) : to.request(...at, requestOf(place)),
  );

export const upgrade = () =>
  new Request("https://atrium.test/", {
    headers: { Upgrade: "websocket", "CF-Connecting-IP": "198.51.100.7" },
  });

const apply = (commandOf: (place: Place) => RoomCommand, isTraced = false) =>
  room((to, at, place) => to.apply(...at, { ...commandOf(place), ...(isTraced && { trace: TRACE }) }));

const requests: Calls = {
  "set an entry, traced": request(
    () => ({
      ...{ type: "STORE_SET", requestId: "set" },
      data: { store: "tasks", key: "milk", value: { title: "Milk" }, ifVersion: 0 },
    }),
    true,
  ),
  "update an entry": request(() => ({
    ...{ type: "STORE_UPDATE", requestId: undefined },
    data: { store: "tasks", key: "milk", value: { done: true }, ifVersion: undefined },
  })),
  "get an entry": request(() => ({
    ...{ type: "STORE_GET", requestId: undefined },
    data: { store: "tasks", key: "milk" },
  })),
  "write stores": room((to, at, { userId }) =>
    to.writeStores(...at, userId, [
      {
        ...{ type: "STORE_BATCH", requestId: "batch" },
        data: {
          operations: [{ type: "STORE_SET", store: "tasks", key: "tea", value: 1 }],
          atomic: true,
        },
      },
      { type: "STORE_BATCH", data: { operations: [{ type: "INVALID", message: "No" }], atomic: false } },
    ]),
  ),
  "write stores of the organization": room((to, at) =>
    to.writeStores(...at, null, [
      {
        type: "STORE_BATCH",
        data: { operations: [{ type: "STORE_DELETE", store: "tasks", key: "tea" }], atomic: true },
      },
    ]),
  ),
  "read a store": request(() => ({
    ...{ type: "STORE_SYNC", requestId: undefined },
    data: { store: "tasks", after: "a", limit: 9 },
  })),
  "list stores": request(() => ({ type: "STORE_LIST" })),
  "delete an entry": request(() => ({
    ...{ type: "STORE_DELETE", requestId: undefined },
    data: { store: "tasks", key: "milk", ifVersion: undefined },
  })),
  "read presence": request(() => ({ type: "PRESENCE_GET" })),
  "read who was seen": request(({ now }) => ({
    type: "USERS_SEEN",
    data: { online: null, from: now, to: null, now },
  })),
  "post a comment": room(async (to, at, place) => {
    const posted = await to.request(
      ...at,
      {
        ...{ type: "COMMENT_POST", requestId: "post" },
        data: { userId: place.userId, text: "Hello", anchor: { x: 1 }, mentions: [place.userId] },
      } satisfies RoomRequest,
      CAUSE,
      TRACE,
    );
    place.kept.set("comment", (posted as { readonly comment: { readonly id: string } }).comment.id);
  }),
  "reply to a comment": request((place) => ({
    type: "COMMENT_POST",
    data: { userId: place.userId, text: "Hi", mentions: [], threadId: keptAs(place, "comment") },
  })),
  "edit a comment": request((place) => ({
    type: "COMMENT_EDIT",
    data: { commentId: keptAs(place, "comment"), text: "Hello!", resolved: true },
  })),
  "list comments": request(() => ({
    ...{ type: "COMMENT_LIST", requestId: undefined },
    data: { after: 0, limit: 1, offset: 0 },
  })),
  "list some comments": request((place) => ({
    ...{ type: "COMMENT_LIST", requestId: undefined },
    data: { threadId: keptAs(place, "comment"), resolved: true, after: 0, limit: 9, offset: 0 },
  })),
  "search comments": request(() => ({ type: "COMMENT_SEARCH", data: { search: fold("hello"), after: 0 } })),
};

const documents: Calls = {
  "write a document": room((to, at) =>
    to.writeDocument(...at, "page", updateOf("Hello", 1), { author: AUTHOR, onlyIfEmpty: true }),
  ),
  "write a document that keeps a version": room((to, at, { userId }) =>
    to.writeDocument(...at, "page", updateOf("Hi", 2), {
      ...{ author: { type: "user", id: userId }, onlyIfEmpty: false, keepsVersion: true, basedOn: 1 },
    }),
  ),
  "write a document that has content": room((to, at) =>
    to.writeDocument(...at, "page", updateOf("No", 3), { author: AUTHOR, onlyIfEmpty: true }),
  ),
  "have a write refused": room((to, at) =>
    to
      .writeDocument(...at, "page", new Uint8Array([1]), { author: AUTHOR, onlyIfEmpty: false })
      .catch(() => undefined),
  ),
  "list documents": room((to, at) => to.stub(at[0]).listDocuments(at[1])),
  "describe a document": room((to, at) => to.stub(at[0]).describeDocument(at[1], "page")),
  "describe no document": room((to, at) => to.stub(at[0]).describeDocument(at[1], "none")),
  "read a document": room((to, at) => to.readDocument(...at, "page")),
  "read a trail": room((to, at) => to.stub(at[0]).readTrail(at[1], "page", PAGE)),
  "name a version": room((to, at) =>
    to.changeVersion(...at, "page", { type: "create", name: "First", by: AUTHOR }),
  ),
  "rename a version": room((to, at) =>
    to.changeVersion(...at, "page", { type: "rename", seq: 2, name: null, by: AUTHOR }),
  ),
  "list versions": room((to, at) => to.stub(at[0]).listVersions(at[1], "page", PAGE)),
  "read a version": room((to, at) => to.readVersion(...at, "page", 2)),
  "read what was written": room((to, at) => to.readWritten(...at, "page", { after: 0, upTo: null })),
  "write to one document, which has all of it": room((to, at) =>
    to.writeDocument(...at, "page", updateOf("Hi", 2), {
      ...{ author: AUTHOR, onlyIfEmpty: false, keepsVersion: true, basedOn: 2, documentId: 1 },
    }),
  ),
  "read a version of one document": room((to, at) => to.readVersion(...at, "page", 2, 1)),
  "read what was written in one document": room((to, at) =>
    to.readWritten(...at, "page", { after: 0, upTo: null, documentId: 1 }),
  ),
  "delete a version": room((to, at) => to.changeVersion(...at, "page", { type: "delete", seq: 2 })),
  "have a change refused": room((to, at) =>
    to.changeVersion(...at, "page", { type: "delete", seq: 99 }).catch(() => undefined),
  ),
};

const personalData: Calls = Object.fromEntries(
  PERSONAL_PARTS.map((part) => [
    `read personal data: ${part}`,
    room((to, at, { userId }) => to.stub(at[0]).readPersonalData(at[1], userId, part, null)),
  ]),
);

export const ROOM_CALLS: Calls = {
  "take part without a socket": room((to, at, { userId }) =>
    to.addParticipant(...at, userId, { state: { cursor: 1 }, ttl: 60 }, TRACE),
  ),
  "take part for longer": room((to, at, { userId }) => to.addParticipant(...at, userId, { ttl: 60 })),
  "read the room": room((to, at, { userId }) => to.read(...at, [userId])),
  "read a user": room((to, at, { userId }) => to.stub(at[0]).readUser(at[1], userId)),
  ...requests,
  ...documents,
  ...personalData,
  "delete a comment": request((place) => ({
    ...{ type: "COMMENT_DELETE", requestId: undefined },
    data: { commentId: keptAs(place, "comment") },
  })),
  "delete a document": room((to, at) => to.stub(at[0]).deleteDocument(at[1], "page")),
  "set the counter right": room((to, at) => to.stub(at[0]).reconcile(at[1])),
  connect: room((to, at) => to.connect(...at, upgrade())),
  "connect for documents": room((to, at) =>
    to.connect(...at, upgrade(), { wire: "yWebsocket", name: "page", token: "token", protocol: null }, TRACE),
  ),
  "download nothing": room((to, [roomId]) => to.download(roomId, "none")),
  "remove a participant": request(({ userId }) => ({ type: "PARTICIPANT_REMOVE", data: { userId } })),
  "announce a user": apply(({ userId }) => ({ type: "user.created", userId }), true),
  "announce a changed user": apply(({ userId }) => ({ type: "user.updated", userId })),
  "announce a changed room": apply(() => ({ type: "room.updated" })),
  "announce ended tokens": apply(({ userId }) => ({ type: "tokens.ended", userId })),
  "announce that all tokens ended": apply(() => ({ type: "tokens.ended", userId: null })),
  "announce a closed room": apply(() => ({ type: "room.closed" })),
  "announce an erased user": apply(({ userId }) => ({ type: "user.erased", userId })),
  "announce a deleted user": apply(({ userId }) => ({ type: "user.deleted", userId })),
  "announce a deleted room": apply(() => ({ type: "room.deleted" })),
  ...archiveCalls(({ env, roomId }) => roomGateway(env).archived(roomId)),
};
