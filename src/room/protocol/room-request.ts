/** The requests of participants and of the organization: each is one transaction with one response. */
import type { RoomFields } from "../../wire/room.ts";
import type { UserRecord } from "../../wire/user.ts";
import type { ClientMessage, MessageOf } from "./messages.ts";

/** A request that the room answers from the database. */
export type DatabaseQuery = MessageOf<"ROOM_GET"> | MessageOf<"USERS_GET"> | FollowRequest;

/** About a user who has never joined: only the database knows whether they exist. */
type FollowRequest = MessageOf<"USER_FOLLOW"> | MessageOf<"USER_UNFOLLOW">;

export type QueryResult =
  | { readonly room: RoomFields }
  | { readonly userExists: boolean }
  | { readonly users: readonly UserRecord[]; readonly total: number };

/** A request that the room answers at once, from what it stores itself. */
export type RoomRequest =
  | Exclude<
      ClientMessage,
      {
        readonly type: "ROOM_GET" | "USERS_GET" | "JOIN_ROOM" | "LEAVE_ROOM" | "TOKEN_REFRESH" | "MARK";
      }
    >
  | OrganizationRequest;

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
  | {
      readonly type: "COMMENT_POST";
      readonly data: MessageOf<"COMMENT_CREATE">["data"] & { readonly userId: string };
    }
  | {
      readonly type: "COMMENT_EDIT";
      readonly data: {
        readonly commentId: string;
        readonly text?: string | undefined;
        readonly resolved?: boolean | undefined;
      };
    }
);
