/** The context of files' commands and queries. */

import type { EventRelay } from "../../delivery/outbox/outbox.ts";
import type { OperationContext, RequestContext } from "../../platform/d1/context.ts";
import type { QuotaContext } from "../quotas/guard.ts";
import type { Blobs } from "./storage/blobs.ts";

/** Reads and writes files, for a request or for a workflow's run. */
export interface FileOperationContext
  extends OperationContext,
    QuotaContext,
    EventRelay,
    Pick<RequestContext, "newId" | "defer"> {
  readonly blobs: Blobs;
}

export interface FileContext extends RequestContext, Omit<FileOperationContext, keyof RequestContext> {}
