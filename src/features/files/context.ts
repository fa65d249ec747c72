/** The context of files' commands and queries. */

import type { EventRelay } from "../../delivery/outbox/outbox.ts";
import type { OperationContext, RequestContext } from "../../platform/d1/context.ts";
import type { QuotaContext } from "../quotas/guard.ts";
import type { RoomRow } from "../rooms/table.ts";
import type { Blobs } from "./storage/blobs.ts";

export interface UploadBounds {
  readonly maxFileBytes: number;
  readonly maxPerUser: number;
  readonly maxPerRoom: number;
}

/** Reads and writes files, for a request or for a workflow's run. */
export interface FileOperationContext
  extends OperationContext,
    QuotaContext,
    EventRelay,
    Pick<RequestContext, "newId" | "defer"> {
  readonly blobs: Blobs;
  /** Limits of what a room's users upload; null for none. Absent where no user uploads. */
  readonly uploadBounds?: (room: RoomRow) => UploadBounds | null;
}

export interface FileContext extends RequestContext, Omit<FileOperationContext, keyof RequestContext> {
  readonly uploadBounds: (room: RoomRow) => UploadBounds | null;
}
