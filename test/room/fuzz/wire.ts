/** Frames that the server may send by docs/protocol.md: every frame that a fuzzed client receives must match. */

import { ERROR_CODES, MODULES } from "@atrium/contract/errors.ts";
import { OnlinePlace } from "@atrium/contract/operations/presence.ts";
import { Comment } from "@atrium/contract/resources/comment.ts";
import { Permission } from "@atrium/contract/resources/permissions.ts";
import { Room } from "@atrium/contract/resources/room.ts";
import { SubscriptionSettings, Thread } from "@atrium/contract/resources/thread.ts";
import { Role, User } from "@atrium/contract/resources/user.ts";
import { byteLength } from "@atrium/contract/text.ts";
import * as z from "zod";
import { CLOSE } from "../../../src/room/protocol/protocol.ts";

/**
 * The largest frame: the changes of a join, or a page of a store with one entry too many, and the rest of the
 * message.
 */
const MAX_SENT_BYTES = 2 * 1024 * 1024;

const codes = Object.keys(ERROR_CODES) as (keyof typeof ERROR_CODES)[];
const requestId = z.string().max(255).optional();
const userId = z.string().min(1);
const State = z.record(z.string(), z.unknown()).refine((state) => "color" in state, "lacks a color");
const Seq = z.int().min(1);

const Answer = z.discriminatedUnion("success", [
  z.strictObject({
    type: z.literal("response"),
    success: z.literal(true),
    description: z.string().min(1),
    data: z.record(z.string(), z.unknown()),
    error: z.null(),
    requestId,
  }),
  z.strictObject({
    type: z.literal("response"),
    success: z.literal(false),
    description: z.string().min(1).max(1_000),
    data: z.strictObject({}),
    error: z.strictObject({
      module: z.enum(MODULES),
      code: z.enum(codes),
      message: z.string().min(1).max(1_000),
    }),
    requestId,
  }),
]);
export type Answer = z.infer<typeof Answer>;

const CommentChange = z.strictObject({ comment: Comment.strict(), by: userId.nullable() });
const FollowChange = z.strictObject({ userId, followerId: userId });
const UserChange = z.strictObject({ userId, user: User.strict() });
const StoreChange = z
  .strictObject({
    store: z.string(),
    key: z.string(),
    action: z.enum(["set", "update", "delete"]),
    value: z.unknown(),
    version: Seq,
    by: userId.nullable(),
    seq: Seq,
  })
  .refine(({ version, seq }) => version === seq, "the version is not the seq");

const changeData = {
  userCreated: UserChange,
  userUpdated: UserChange,
  userDeleted: z.strictObject({ userId }),
  userFollowed: FollowChange,
  userUnfollowed: FollowChange,
  roomUpdated: z.strictObject({ room: Room.strict() }),
  storeChanged: StoreChange,
  commentCreated: CommentChange,
  commentUpdated: CommentChange,
  commentDeleted: CommentChange,
};
type ChangeName = keyof typeof changeData;

const change = <Name extends ChangeName>(event: Name) =>
  z.strictObject({ seq: Seq, event: z.literal(event), data: changeData[event] });

/** A change as `changes` of a join has it. */
const Change = z.discriminatedUnion("event", [
  change("userCreated"),
  change("userUpdated"),
  change("userDeleted"),
  change("userFollowed"),
  change("userUnfollowed"),
  change("roomUpdated"),
  change("storeChanged"),
  change("commentCreated"),
  change("commentUpdated"),
  change("commentDeleted"),
]);
export type Change = z.infer<typeof Change>;

/** A state with a number that introduces the user, or with one instead of the user's id (R86). */
const Shown = z.union([
  z.tuple([userId, State.nullable(), z.int().min(0).optional()]),
  z.tuple([z.int().min(0), z.record(z.string(), z.unknown())]),
]);
const passing = <Name extends string, Data extends z.ZodType>(event: Name, data: Data) =>
  z.strictObject({ type: z.literal("event"), event: z.literal(event), data });

const Passing = z.discriminatedUnion("event", [
  passing("userJoined", UserChange),
  passing("userLeft", UserChange),
  passing("presence", z.strictObject({ every: z.int().min(51).optional(), updates: z.array(Shown) })),
  passing(
    "broadcast",
    z.strictObject({ event: z.string().min(1), data: z.unknown(), from: userId.nullable() }),
  ),
  passing("mark", z.strictObject({ mark: z.int().min(1) })),
  passing("roleChanged", z.strictObject({ role: Role })),
  passing("accessChanged", z.strictObject({ role: Role, permissions: z.array(Permission) })),
  passing("threadUpdated", z.strictObject({ thread: Thread.strict() })),
  passing("settingsUpdated", z.strictObject({ settings: SubscriptionSettings.strict() })),
  passing("authFailed", z.strictObject({ code: z.enum(codes), message: z.string().min(1) })),
]);
export type Passing = z.infer<typeof Passing>;

/** `data` of the response to a join. */
export const Joined = z.strictObject({
  room: Room.strict(),
  user: User.strict(),
  role: Role,
  permissions: z.array(Permission),
  sessionId: z.string().min(1),
  users: z.array(User.strict()).min(1),
  next: OnlinePlace.strict().optional(),
  follows: z.record(z.string(), z.array(z.string()).min(1)),
  presence: z.record(z.string(), State),
  epoch: z.string().min(1),
  seq: z.int().min(0),
  changes: z.array(Change).optional(),
  reset: z.literal(true).optional(),
});
export type Joined = z.infer<typeof Joined>;

export const CLOSE_CODES: ReadonlySet<number> = new Set([
  ...Object.values(CLOSE),
  ...Object.values(ERROR_CODES).map(({ close }) => close),
]);

/** A frame of the server, by its kind. */
export type Received =
  | { readonly kind: "answer"; readonly answer: Answer }
  | { readonly kind: "change"; readonly change: Change }
  | { readonly kind: "passing"; readonly event: Passing };

/** The value itself, which matches the schema: zod's own result lacks a field that is called `__proto__`. */
export function requireMatch<Schema extends z.ZodType>(schema: Schema, value: unknown): z.infer<Schema> {
  schema.parse(value);
  return value as z.infer<Schema>;
}

const Typed = z.looseObject({ type: z.string() });

/** The latest parsed frame: most frames go to several clients. */
let latest: { readonly text: string; readonly received: readonly Received[] } | null = null;

/**
 * The messages of a frame; a client that joined with `batch` receives arrays. Throws for frames that no client
 * expects.
 */
export function parseReceived(text: string): readonly Received[] {
  if (latest?.text !== text) latest = { text, received: parseFrame(text) };
  return latest.received;
}

function parseFrame(text: string): Received[] {
  if (byteLength(text) > MAX_SENT_BYTES) throw new Error(`A frame has ${byteLength(text)} bytes`);
  const json: unknown = JSON.parse(text);
  return (Array.isArray(json) ? json : [json]).map(parseMessage);
}

function parseMessage(message: unknown): Received {
  const fields = requireMatch(Typed, message);
  if (fields.type === "response") return { kind: "answer", answer: requireMatch(Answer, message) };
  if (!("seq" in fields)) return { kind: "passing", event: requireMatch(Passing, message) };
  const { type: _, ...rest } = fields;
  return { kind: "change", change: requireMatch(Change, rest) };
}
