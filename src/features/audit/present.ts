/** The entries of the audit log as they are presented. */

import type { AuditEntry } from "@atrium/contract/rest/audit.ts";
import { presentTime } from "@atrium/contract/time.ts";
import type { AuditRow } from "../../http/audit/table.ts";

export const presentAuditEntry = (row: AuditRow): AuditEntry => ({
  id: row.id,
  at: presentTime(row.at),
  actor: { type: row.actorType, id: row.actorId, name: row.actorName },
  operation: row.operation,
  resource: { type: row.resource, id: row.resourceId },
  changes: JSON.parse(row.changes) as AuditEntry["changes"],
  address: row.address,
  request_id: row.requestId,
});
