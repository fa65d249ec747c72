/** Every message that a client can send, as zod schemas. */

import * as z from "zod";
import { describeField } from "../../platform/issues.ts";
import { segment, text } from "../../platform/text.ts";
import { Mention, SubscriptionSettings } from "../../wire/thread.ts";
import { Role } from "../../wire/user.ts";
import { DOCUMENT_LIMITS } from "../documents/updates/limits.ts";
import { LIMITS } from "./limits.ts";

const MAX_REQUEST_ID_LENGTH = 255;

export const RequestId = z.string().max(MAX_REQUEST_ID_LENGTH).optional();
/** The request id of a batch over REST, where it is required. */
export const BatchRequestId = z.string().min(1).max(MAX_REQUEST_ID_LENGTH);

const Seq = z.int().min(0);

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Any JSON value; `z.unknown` alone would accept a missing one. */
export const Json = z.unknown().refine((value) => value !== undefined, "is required");
export const JsonObject = z
  .unknown()
  .refine(isRecord, "must be a JSON object")
  .meta({ override: { type: "object" } });

const Id = text(1, LIMITS.idLength);
export const StoreName = text(1, LIMITS.storeNameLength);
export const Key = text(1, LIMITS.keyLength);
/** The store and key of a write: its entry can be read at its address. */
export const WrittenPlace = z.object({
  store: segment(LIMITS.storeNameLength),
  key: segment(LIMITS.keyLength),
});
/** The version that the entry must have; 0 if it must not exist. */
export const IfVersion = z.int().min(0).optional();

const CommentText = text(1, LIMITS.commentLength);
const Mentions = z
  .array(z.union([Id, Mention.extend({ id: Id }).strict()]))
  .max(LIMITS.mentions)
  .meta({
    description:
      'Users of the room by their IDs, and identities and groups as `{ kind: "user" | "group", id }`.',
  });

/** The fields of a new comment; `anchor` is what the comment is about, in the client's own format, as is `metadata`. */
export const CommentCreation = z.object({
  text: CommentText,
  threadId: Id.optional(),
  anchor: z.unknown().optional(),
  metadata: z.unknown().optional(),
  mentions: Mentions.default([]),
});
export type CommentCreation = z.infer<typeof CommentCreation>;

export const CommentEdit = z.object({
  text: CommentText.optional(),
  anchor: z.unknown().optional(),
  metadata: z.unknown().optional(),
  mentions: Mentions.optional(),
  resolved: z.boolean().optional(),
});
export type CommentEdit = z.infer<typeof CommentEdit>;

/** A person who is mentioned inside a document: a user of the room or an identity, by its ID. */
export const TextMention = z.object({
  mentionId: segment(LIMITS.idLength),
  userId: Id,
  document: text(1, DOCUMENT_LIMITS.documentNameLength).optional(),
});

const CommentPage = z.object({
  threadId: Id.optional(),
  resolved: z.boolean().optional(),
  after: z.int().min(0).default(0),
  limit: z.int().min(1).max(100).default(50),
  offset: z.int().min(0).default(0),
});
export type CommentPage = z.infer<typeof CommentPage>;

/** The place of a thread in lists, behind which the next page begins. */
const ThreadPlace = z.object({ last_seq: Seq, id: Id });

const ThreadPage = z.object({
  resolved: z.boolean().optional(),
  unread: z.boolean().optional(),
  subscribed: z.boolean().optional(),
  after: ThreadPlace.optional(),
  limit: z.int().min(1).max(100).default(50),
  offset: z.int().min(0).default(0),
});
export type ThreadPage = z.infer<typeof ThreadPage>;

const OnlineLimit = z.int().min(1).max(LIMITS.onlinePage);

/** A place among the users online: behind this user, who joined then. */
export const OnlinePlace = z.object({ joined_at: z.iso.datetime(), id: Id });
export type OnlinePlace = z.infer<typeof OnlinePlace>;

/** `data` of `JOIN_ROOM`. A token that is missing or not a string counts as empty, and is refused as invalid. */
const JoinRoom = z.object({
  token: z.string().catch(""),
  role: Role.default("editor"),
  since: Seq.optional(),
  epoch: z.string().max(LIMITS.idLength).optional(),
  batch: z.boolean().default(false),
  usersLimit: OnlineLimit.optional(),
});
export type JoinRoom = z.infer<typeof JoinRoom>;

/** A page of a store: the entries after a key, in the order of keys. */
const StorePage = z.object({
  store: StoreName,
  after: Key.optional(),
  limit: z.int().min(1).max(LIMITS.pageEntries).default(LIMITS.pageEntries),
});
export type StorePage = z.infer<typeof StorePage>;
/** With `download`, a large store may be answered with a download instead of a page; with `lines`, with one response. */
const StoreSync = StorePage.extend({ download: z.boolean().optional(), lines: z.boolean().optional() });

const address = { store: StoreName, key: Key, ifVersion: IfVersion };

/** Subscribes to presence, or ends it; everyone's can have numbers for users (R86). */
const PresenceSubscription = z.object({
  target: Id,
  on: z.boolean(),
  numbers: z.boolean().default(false),
});
export type PresenceSubscription = z.infer<typeof PresenceSubscription>;

/** A whole presence state, or changes to it: the fields of `patch` are set, and those of `remove` removed. */
export const PresenceUpdate = z
  .object({
    state: JsonObject.nullable().optional(),
    patch: JsonObject.optional(),
    remove: z.array(z.string()).max(LIMITS.removedFields).optional(),
  })
  .refine(({ state, patch }) => (state === undefined) !== (patch === undefined), {
    path: ["state"],
    message: "pass either state or patch",
  });
export type PresenceUpdate = z.infer<typeof PresenceUpdate>;

/** A shortcut for cursors, thousands a second: a whole state or a patch alone. Null for the schema to decide. */
export function parseMove(data: unknown): PresenceUpdate | null {
  if (!isRecord(data) || data.remove !== undefined) return null;
  const { state, patch } = data;
  if (patch === undefined) return isRecord(state) ? { state } : null;
  return state === undefined && isRecord(patch) ? { patch } : null;
}

const StoreSet = WrittenPlace.extend({ ifVersion: IfVersion, value: Json });
const StoreUpdate = WrittenPlace.extend({ ifVersion: IfVersion, value: JsonObject });
const StoreDelete = z.object(address);

export const StoreOperation = z.discriminatedUnion("type", [
  StoreSet.extend({ type: z.literal("STORE_SET") }),
  StoreUpdate.extend({ type: z.literal("STORE_UPDATE") }),
  StoreDelete.extend({ type: z.literal("STORE_DELETE") }),
]);
export type StoreOperation = z.infer<typeof StoreOperation>;

/** An operation of a batch that violates its schema; `message` starts with the field. */
interface InvalidOperation {
  readonly type: "INVALID";
  readonly message: string;
}
export type BatchOperation = StoreOperation | InvalidOperation;

/** Operations of a batch. One that is invalid fails as any other can: alone, unless the batch is atomic. */
export const StoreBatch = z.object({
  operations: z
    .array(z.unknown())
    .min(1)
    .max(LIMITS.batchOperations)
    .transform((operations) => operations.map(parseOperation)),
  atomic: z.boolean().default(true),
});
export type StoreBatch = z.infer<typeof StoreBatch>;

function parseOperation(operation: unknown, index: number): BatchOperation {
  const parsed = StoreOperation.safeParse(operation);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const path = ["operations", index, ...(issue?.path ?? [])].join(".");
  return { type: "INVALID", message: describeField(path, issue?.message ?? "is not valid") };
}

export const BroadcastData = z.object({
  event: text(1, LIMITS.eventNameLength),
  data: z.unknown().optional(),
  userIds: z.array(Id).max(LIMITS.broadcastUsers).optional(),
});
export type BroadcastData = z.infer<typeof BroadcastData>;

const commentId = Id;
const message = <Type extends string, Data extends z.ZodType>(type: Type, data: Data) =>
  z.object({ type: z.literal(type), requestId: RequestId, data });

export const ClientMessage = z.discriminatedUnion("type", [
  message("JOIN_ROOM", JoinRoom),
  message("LEAVE_ROOM", z.object({})),
  message("TOKEN_REFRESH", z.object({ token: z.string() })),
  message("PRESENCE_UPDATE", PresenceUpdate),
  message("PRESENCE_SUBSCRIBE", PresenceSubscription),
  message("BROADCAST", BroadcastData),
  message("STORE_SYNC", StoreSync),
  message("STORE_GET", z.object({ store: StoreName, key: Key })),
  message("STORE_SET", StoreSet),
  message("STORE_UPDATE", StoreUpdate),
  message("STORE_DELETE", StoreDelete),
  message("STORE_BATCH", StoreBatch),
  message("COMMENT_CREATE", CommentCreation),
  message("COMMENT_LIST", CommentPage),
  message("COMMENT_UPDATE", CommentEdit.omit({ resolved: true }).extend({ commentId })),
  message("COMMENT_DELETE", z.object({ commentId })),
  message("COMMENT_RESOLVE", z.object({ commentId, resolved: z.boolean().default(true) })),
  message(
    "COMMENT_REACT",
    z.object({ commentId, reaction: text(1, LIMITS.reactionLength), on: z.boolean().default(true) }),
  ),
  message("TEXT_MENTION_CREATE", TextMention),
  message("TEXT_MENTION_DELETE", TextMention.omit({ document: true })),
  message("THREAD_LIST", ThreadPage),
  message("THREAD_GET", z.object({ threadId: Id })),
  message("THREAD_SUBSCRIBE", z.object({ threadId: Id, on: z.boolean().default(true) })),
  message("THREAD_READ", z.object({ threadId: Id, seq: Seq.optional() })),
  message("SUBSCRIPTION_SETTINGS", SubscriptionSettings.partial()),
  message("USER_FOLLOW", z.object({ userId: Id })),
  message("USER_UNFOLLOW", z.object({ userId: Id })),
  message("MARK", z.object({ mark: z.int().min(0) })),
  message("ROOM_GET", z.object({})),
  message(
    "USERS_ONLINE",
    z.object({ after: OnlinePlace.optional(), limit: OnlineLimit.default(LIMITS.onlinePage) }),
  ),
  message(
    "USERS_GET",
    z.object({
      limit: z.int().min(1).max(LIMITS.usersShown).default(LIMITS.usersShown),
      offset: z.int().min(0).default(0),
      after: z.object({ created_at: z.iso.datetime(), id: Id }).optional(),
      userIds: z.array(Id).max(LIMITS.usersNamed).optional(),
    }),
  ),
]);
export type ClientMessage = z.infer<typeof ClientMessage>;

export type MessageOf<Type extends ClientMessage["type"]> = Extract<ClientMessage, { readonly type: Type }>;
