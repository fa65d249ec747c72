/** What a live room must hear of changes made over REST. */
/** A change that the room's object must carry out for those connected. Handing it on twice does no harm. */
export type RoomCommand =
  /** Sockets are closed and sessions ended; joining is refused until the room is active again. */
  | { readonly type: "room.closed" }
  /** Sockets are closed and everything the object keeps is removed. */
  | { readonly type: "room.deleted" }
  /** The user's sockets are closed and its session is ended. */
  | { readonly type: "user.deleted"; readonly userId: string }
  /** Members see the room's new fields, which the room reads itself. */
  | { readonly type: "room.updated" }
  /** Members hear of a user that can join from now on. */
  | { readonly type: "user.created"; readonly userId: string }
  /** Members see the user's new fields. The room reads them itself: of two changes the later one must win. */
  | { readonly type: "user.updated"; readonly userId: string };
