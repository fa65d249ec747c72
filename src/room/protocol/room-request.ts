/** The requests of participants and of the organization: each is one transaction with one response. */
import type { InputOf, OperationType } from "@atrium/contract/operations/room.ts";
import type { RoomFields } from "@atrium/contract/resources/room.ts";
import type { Mention, MentionRecipients, Reader } from "@atrium/contract/resources/thread.ts";
import type { UserRecord } from "@atrium/contract/resources/user.ts";

/** A request as it reaches a room. Over REST, its request ID is the `Idempotency-Key`, if any. */
export type RequestOf<Type extends OperationType> = {
  [Each in Type]: {
    readonly type: Each;
    readonly requestId?: string | undefined;
    readonly data: InputOf<Each>;
  } & Subjects;
}[Type];

/** The people of a request, beside `data`: a repeated one is recognized whatever the database says by then. */
export interface Subjects {
  /** The user or identity for whom the organization asks or writes; a connection does it for its own user. */
  readonly reader?: Reader | undefined;
  /** The people whom the request mentions. */
  readonly recipients?: MentionRecipients | undefined;
}

/** A request that the room answers from the database. */
export type DatabaseQuery = RequestOf<"ROOM_GET" | "USERS_GET"> | FollowRequest | MentioningRequest;

/** About people whom only the database knows. */
type MentioningRequest = RequestOf<
  "COMMENT_CREATE" | "COMMENT_UPDATE" | "TEXT_MENTION_CREATE" | "TEXT_MENTION_DELETE"
>;

/** The people whom a request mentions. A mention in a text may be of a user of the room or of an identity. */
export const mentionsOf = ({ data }: MentioningRequest): readonly (string | Mention)[] =>
  "userId" in data ? mentionsOfText(data) : (data.mentions ?? []);

export const mentionsOfText = ({ userId }: { readonly userId: string }): readonly (string | Mention)[] => [
  userId,
  { kind: "user", id: userId },
];

/** About a user who has never joined: only the database knows whether they exist. */
type FollowRequest = RequestOf<"USER_FOLLOW" | "USER_UNFOLLOW">;

export type QueryResult =
  | { readonly room: RoomFields }
  | { readonly userExists: boolean }
  | { readonly recipients: MentionRecipients }
  | { readonly users: readonly UserRecord[]; readonly total: number };

/** Operations that the room runs at once, on its own storage. */
export type RoomOperation = Exclude<OperationType, "ROOM_GET" | "USERS_GET">;
export type RoomRequest = RequestOf<RoomOperation>;

/** A user's time online without a socket (`ttl` in seconds), with its presence. */
export interface ParticipantInput {
  /** Undefined keeps the present state. */
  readonly state: Readonly<Record<string, unknown>> | null | undefined;
  readonly ttl: number;
}
