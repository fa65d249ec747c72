/** What files' commands and queries need beyond an operation or a request. */
import type { OperationContext, RequestContext } from "../context/context.ts";
import type { QuotaContext } from "../quotas/guard.ts";
import type { Blobs } from "./storage/blobs.ts";

/** Reads and writes files, for a request or for a workflow's run. */
export interface FileOperationContext extends OperationContext, QuotaContext {
  /** The bytes of files. */
  readonly blobs: Blobs;
}

export interface FileContext extends RequestContext, QuotaContext {
  readonly blobs: Blobs;
}
