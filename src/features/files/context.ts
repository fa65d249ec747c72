/** What files' commands and queries need beyond an operation or a request. */

import type { EventRelay } from "../../delivery/outbox/outbox.ts";
import type { OperationContext, RequestContext } from "../../platform/d1/context.ts";
import type { QuotaContext } from "../quotas/guard.ts";
import type { RoomRow } from "../rooms/table.ts";
import type { Blobs } from "./storage/blobs.ts";

/** What the users of a room may upload, where anyone can become one. */
export interface UploadBounds {
  readonly maxFileBytes: number;
  /** How many files are kept at once, of one user and of the room. */
  readonly maxPerUser: number;
  readonly maxPerRoom: number;
}

/** Reads and writes files, for a request or for a workflow's run. */
export interface FileOperationContext
  extends OperationContext,
    QuotaContext,
    EventRelay,
    Pick<RequestContext, "newId" | "defer"> {
  /** The bytes of files. */
  readonly blobs: Blobs;
  /** What the room's users may upload; null for no bounds beyond those of every file. Absent where no user uploads. */
  readonly uploadBounds?: (room: RoomRow) => UploadBounds | null;
}

export interface FileContext extends RequestContext, QuotaContext, EventRelay {
  readonly blobs: Blobs;
  readonly uploadBounds: (room: RoomRow) => UploadBounds | null;
}
