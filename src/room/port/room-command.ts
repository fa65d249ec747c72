/** What REST tells a live room after a change in the database. */

import type { Trace } from "../../platform/trace.ts";

/** A change with the request that it follows from. */
export type TracedCommand = RoomCommand & { readonly trace?: Trace | null };

/** A change for the room's object to carry out. Applying a command twice is harmless. */
export type RoomCommand =
  /** Closes all sockets and ends their sessions; the room refuses joins until it is active again. */
  | { readonly type: "room.closed" }
  /** Closes all sockets and removes everything the object keeps. */
  | { readonly type: "room.deleted" }
  /** Closes the user's sockets and ends its session. */
  | { readonly type: "user.deleted"; readonly userId: string }
  /** The same, and removes what the user wrote, and what names the user in the room and in its events. */
  | { readonly type: "user.erased"; readonly userId: string }
  /** Closes the sockets that joined with ended tokens: those of a user, or of all users. The room reads which they are. */
  | { readonly type: "tokens.ended"; readonly userId: string | null }
  /** Shows participants the room's new fields, which the room reads itself. */
  | { readonly type: "room.updated" }
  /** Shows participants a user that can join from now on. */
  | { readonly type: "user.created"; readonly userId: string }
  /** Shows participants the user's new fields. The room reads them itself, so the later of two changes wins. */
  | { readonly type: "user.updated"; readonly userId: string };
