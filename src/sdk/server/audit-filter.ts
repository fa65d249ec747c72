/** Which entries of the audit log to list. */
import type { AuditEntry } from "../wire/resources.ts";

/** Which entries of the audit log to read; all that are kept, unless said otherwise. */
export interface AuditFilter {
  /** At most 100; 50 by default. */
  readonly limit?: number;
  /** The `cursor` of an earlier page: only what follows it. */
  readonly after?: string;
  /** The earliest time: RFC 3339, or a date for the start of that UTC day. */
  readonly from?: string;
  /** The latest time: RFC 3339, or a date for the end of that UTC day. */
  readonly to?: string;
  /** Only changes by this person or API key. */
  readonly actorId?: string;
  /** Only changes by this operation of the API, such as `deleteRoom`. */
  readonly operation?: string;
  readonly resource?: AuditEntry["resource"]["type"];
  readonly resourceId?: string;
}
