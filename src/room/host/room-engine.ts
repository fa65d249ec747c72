/** The engine of rooms with the schemas of their operations, which an isolate without a room does not need. */

export { operationOf, rightOf } from "@atrium/contract/operations/room.ts";
export { isErasure, PartialFailure } from "../engine/room-commands.ts";
export { RoomRuntime } from "./room-runtime.ts";
export { settleRestored } from "./settle-restored.ts";
