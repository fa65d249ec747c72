/** The requests of participants and of the organization: each is one transaction with one response. */
import type { RoomFields } from "../../wire/room.ts";
import type { Addressees, Reader } from "../../wire/thread.ts";
import type { UserRecord } from "../../wire/user.ts";
import type { ClientMessage, CommentCreation, CommentEdit, MessageOf } from "./messages.ts";

/** A request that the room answers from the database. */
export type DatabaseQuery =
  | MessageOf<"ROOM_GET">
  | MessageOf<"USERS_GET">
  | FollowRequest
  | MentioningRequest;

/** About people whom only the database knows. */
type MentioningRequest =
  | MessageOf<"COMMENT_CREATE">
  | MessageOf<"COMMENT_UPDATE">
  | MessageOf<"TEXT_MENTION_CREATE">
  | MessageOf<"TEXT_MENTION_DELETE">;

/** The people whom a request mentions; that of a text may be a user of the room or an identity. */
export const mentionsOf = ({ data }: MentioningRequest): CommentCreation["mentions"] =>
  "userId" in data ? [data.userId, { kind: "user", id: data.userId }] : (data.mentions ?? []);

/** About a user who has never joined: only the database knows whether they exist. */
type FollowRequest = MessageOf<"USER_FOLLOW"> | MessageOf<"USER_UNFOLLOW">;

export type QueryResult =
  | { readonly room: RoomFields }
  | { readonly userExists: boolean }
  | { readonly addressees: Addressees }
  | { readonly users: readonly UserRecord[]; readonly total: number };

/** A request that the room answers at once, from what it stores itself. */
export type RoomRequest =
  | (MentioningRequest & WithAddressees)
  | (ThreadMessage & WithReader)
  | Exclude<
      ClientMessage,
      {
        readonly type:
          | "ROOM_GET"
          | "USERS_GET"
          | "JOIN_ROOM"
          | "LEAVE_ROOM"
          | "TOKEN_REFRESH"
          | "MARK"
          | MentioningRequest["type"]
          | ThreadMessage["type"];
      }
    >
  | OrganizationRequest;

/** Beside `data`, so that a repeated request is recognized whatever the database says by then. */
interface WithAddressees {
  readonly addressees?: Addressees;
}

type ThreadMessage =
  | MessageOf<"THREAD_LIST">
  | MessageOf<"THREAD_GET">
  | MessageOf<"THREAD_SUBSCRIBE">
  | MessageOf<"THREAD_READ">
  | MessageOf<"SUBSCRIPTION_SETTINGS">;

/** The reader for whom the organization asks; a connection asks for its own user. */
interface WithReader {
  readonly reader?: Reader;
}

/** A user's time online without a socket (`ttl` in seconds), with its presence. */
export interface ParticipantInput {
  /** Undefined for what it has shown so far. */
  readonly state: Readonly<Record<string, unknown>> | null | undefined;
  readonly ttl: number;
}

/** A filter by the time users were last seen (epoch ms); null is no filter. */
export interface SeenFilter {
  readonly online: boolean | null;
  readonly from: number | null;
  readonly to: number | null;
  /** When users who are online are seen. */
  readonly now: number;
}

/** A request that exists only over REST. Its request id, if any, is the `Idempotency-Key`. */
export type OrganizationRequest = { readonly requestId?: string | undefined } & (
  | { readonly type: "STORE_LIST" }
  | { readonly type: "PRESENCE_GET" }
  | { readonly type: "USERS_SEEN"; readonly data: SeenFilter }
  | { readonly type: "IDENTITY_ONLINE"; readonly data: { readonly identityId: string } }
  | { readonly type: "PARTICIPANT_REMOVE"; readonly data: { readonly userId: string } }
  | {
      readonly type: "COMMENT_SEARCH";
      readonly data: {
        /** Folded. */
        readonly search: string;
        readonly threadId?: string | undefined;
        readonly resolved?: boolean | undefined;
        readonly after: number;
      };
    }
  | { readonly type: "COMMENTS_GET"; readonly data: { readonly commentIds: readonly string[] } }
  | {
      readonly type: "COMMENT_POST";
      readonly data: MessageOf<"COMMENT_CREATE">["data"] & { readonly userId: string };
      readonly addressees?: Addressees;
    }
  | { readonly type: "THREAD_PARTICIPANTS"; readonly data: { readonly threadId: string } }
  | {
      readonly type: "THREAD_RESOLVE";
      readonly data: { readonly threadId: string; readonly resolved: boolean };
    }
  | { readonly type: "THREAD_DELETE"; readonly data: { readonly threadId: string } }
  | {
      readonly type: "COMMENT_EDIT";
      readonly data: CommentEdit & { readonly commentId: string };
      readonly addressees?: Addressees;
    }
);
