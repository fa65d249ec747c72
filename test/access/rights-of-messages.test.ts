/** Every message that a room offers, from every kind of user: it is refused without its right, and changes nothing then. */
import {
  type MessageType,
  type OperationType,
  parseMessage,
  rightOf,
} from "@atrium/contract/operations/room.ts";
import {
  type Permission,
  PRESETS,
  READ,
  RESOURCES,
  type Rights,
  refusalOf,
  rightsIn,
  rightsOfRole,
} from "@atrium/contract/resources/permissions.ts";
import type { UserWithToken } from "@atrium/contract/rest/users.ts";
import { expect, it } from "vitest";
import { joinRoom } from "../room/support/join.ts";
import { type Account, account, makeGuest } from "../support/api.ts";

type Message = MessageType & OperationType;

/** IDs that the messages name. */
interface Things {
  readonly userId: string;
  /** A comment of the sender, which is a thread. */
  readonly commentId: string;
}

/**
 * A successful message of each type for a sender with its right. Run in this order, each finds the things that
 * it names.
 */
const SAMPLES: { readonly [Type in Message]: (things: Things) => object } = {
  PRESENCE_UPDATE: () => ({ state: { cursor: 1 } }),
  PRESENCE_SUBSCRIBE: () => ({ target: "all", on: true }),
  BROADCAST: () => ({ event: "ping", data: 1 }),
  USERS_ONLINE: () => ({}),
  STORE_SYNC: () => ({ store: "tasks" }),
  STORE_GET: () => ({ store: "tasks", key: "kept" }),
  STORE_SET: () => ({ store: "tasks", key: "b", value: 1 }),
  STORE_UPDATE: () => ({ store: "tasks", key: "kept", value: { done: true } }),
  STORE_DELETE: () => ({ store: "tasks", key: "kept" }),
  STORE_BATCH: () => ({ operations: [{ type: "STORE_SET", store: "tasks", key: "c", value: 1 }] }),
  COMMENT_LIST: () => ({}),
  COMMENT_CREATE: () => ({ text: "Another one" }),
  COMMENT_UPDATE: ({ commentId }) => ({ commentId, text: "Changed" }),
  COMMENT_RESOLVE: ({ commentId }) => ({ commentId, resolved: true }),
  COMMENT_REACT: ({ commentId }) => ({ commentId, reaction: "👍", on: true }),
  THREAD_LIST: () => ({}),
  THREAD_GET: ({ commentId }) => ({ threadId: commentId }),
  THREAD_SUBSCRIBE: ({ commentId }) => ({ threadId: commentId }),
  THREAD_READ: ({ commentId }) => ({ threadId: commentId }),
  SUBSCRIPTION_SETTINGS: () => ({ threads: "none" }),
  TEXT_MENTION_CREATE: ({ userId }) => ({ mentionId: "m", userId, document: "text" }),
  TEXT_MENTION_DELETE: ({ userId }) => ({ mentionId: "m", userId }),
  ROOM_GET: () => ({}),
  USERS_GET: () => ({}),
  USER_FOLLOW: ({ userId }) => ({ userId }),
  USER_UNFOLLOW: ({ userId }) => ({ userId }),
  COMMENT_DELETE: ({ commentId }) => ({ commentId }),
};
const TYPES = Object.keys(SAMPLES) as Message[];

const owner = await account();

interface Kind {
  readonly rights: Rights;
  readonly readsOnly?: boolean;
  /** A token for the room, and its user. */
  make(account: Account, roomId: string): Promise<{ readonly token: string; readonly userId: string }>;
}

const userOf = async ({ api }: Account, roomId: string, fields: object = {}) => {
  const { user } = (await api.post<{ user: UserWithToken }>("/users", { name: "Ada", roomId, ...fields }))
    .data;
  return { token: user.token, userId: user.id };
};

/** A token narrowed to these permissions, of an identity that may do everything. */
const narrowed = (...permissions: Permission[]): Kind => ({
  rights: rightsIn(permissions),
  readsOnly: rightsIn(permissions) === READ,
  make: async (of, roomId) => {
    const made = await of.api.post<{ identity: { id: string } }>("/identities", { name: "Ida" });
    const { id } = made.data.identity;
    await of.api.put(`/rooms/${roomId}/access`, { identitiesAccesses: { [id]: "editor" } });
    const { userId } = await userOf(of, roomId, { identityId: id });
    const issued = await of.api.post<{ token: string }>(`/identities/${id}/tokens`, { permissions });
    return { token: issued.data.token, userId };
  },
});

const KINDS: Readonly<Record<string, Kind>> = {
  "an editor": { rights: rightsOfRole("editor"), make: userOf },
  "a viewer": {
    rights: rightsOfRole("viewer"),
    make: (of, roomId) => userOf(of, roomId, { role: "viewer" }),
  },
  "a guest who comments": {
    rights: rightsIn(PRESETS.commenter),
    make: async ({ id, api }, roomId) => {
      const { guest } = await makeGuest(api, roomId, { permissions: "commenter" });
      (await joinRoom(id, roomId, guest.token)).close();
      const { users } = (await api.get<{ users: { id: string }[] }>(`/users?roomId=${roomId}`)).data;
      return { token: guest.token, userId: users[0]?.id ?? "" };
    },
  },
  "an identity's token that reads": narrowed("*:read"),
  ...Object.fromEntries(
    RESOURCES.map((resource) => [`an identity's token for ${resource}`, narrowed(`${resource}:write`)]),
  ),
};

/** All that the room keeps. */
const stateOf = async ({ api }: Account, roomId: string) => {
  const paths = ["stores/tasks", "comments", "presence", "threads"];
  return Promise.all(paths.map(async (path) => (await api.get(`/rooms/${roomId}/${path}`)).data));
};

it.each(Object.entries(KINDS))("%s does what is its right, and nothing else", async (_, kind) => {
  const { id: roomId } = await owner.api.createRoom();
  const { token, userId } = await kind.make(owner, roomId);
  const other = await userOf(owner, roomId, { name: "Bo" });
  const witness = await joinRoom(owner.id, roomId, other.token);
  await owner.api.put(`/rooms/${roomId}/stores/tasks/kept`, { value: { text: "Tea" } });
  const comment = { userId, text: "Mine" };
  const posted = await owner.api.post<{ comment: { id: string } }>(`/rooms/${roomId}/comments`, comment);
  const things = { userId: other.userId, commentId: posted.data.comment.id };
  const socket = await joinRoom(owner.id, roomId, token);
  const subject = { isOrganization: false, rights: kind.rights, readsOnly: kind.readsOnly ?? false };
  const mayDo = (type: Message): boolean => {
    const { data } = parseMessage(type, SAMPLES[type](things));
    return refusalOf(rightOf(type, data as never), subject, "Rooms") === null;
  };
  const answerTo = async (type: Message) => {
    const { success, error } = await socket.call(type, SAMPLES[type](things));
    return [type, success ? "done" : error?.code];
  };

  const [allowed, denied] = [TYPES.filter(mayDo), TYPES.filter((type) => !mayDo(type))];
  await witness.drain();
  const before = await stateOf(owner, roomId);
  for (const type of denied) expect(await answerTo(type)).toEqual([type, "FORBIDDEN"]);
  expect(await stateOf(owner, roomId)).toEqual(before);
  expect(await witness.drain()).toEqual([]);
  for (const type of allowed) expect(await answerTo(type)).toEqual([type, "done"]);
});
