/** Why a join is refused. */
import { joinRefusal } from "./join-decision.ts";

export const INVALID_TOKEN = joinRefusal("Auth", "UNAUTHORIZED", "The token is invalid or has expired", true);
export const ANOTHER_ROOM = joinRefusal("Auth", "FORBIDDEN", "The token is for another room", true);
export const ROOM_GONE = joinRefusal("Rooms", "NOT_FOUND", "Room not found");
export const ROOM_CLOSED = joinRefusal("Rooms", "FORBIDDEN", "The room is closed");
export const TOO_MANY_JOINS = joinRefusal(
  "Rooms",
  "RATE_LIMITED",
  "This user has joined too often, or was disconnected for sending too much; wait and retry",
);
/** No one receives it. */
export const SOCKET_GONE = joinRefusal("Rooms", "BAD_REQUEST", "The socket is closed");
