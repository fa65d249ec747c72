/** What backups and restores are in the audit log of their organization. */
import { insertAuditEntry } from "../../http/audit/store.ts";
import type { Statement } from "../../platform/d1/d1.ts";
import type { OperatorCall } from "./operator-call.ts";

/** The entry of what the operator has done. */
export const operatorEntry = (
  { accountId, now, requestId }: OperatorCall,
  operation: "backUpOrganization" | "restoreOrganization",
  changes: Readonly<Record<string, string>>,
): Statement =>
  insertAuditEntry(
    accountId,
    {
      ...{ id: crypto.randomUUID(), at: now(), actorType: "operator", actorId: null, actorName: null },
      ...{ operation, resource: "organization", resourceId: accountId, changes: JSON.stringify(changes) },
      ...{ address: null, requestId },
    },
    false,
  );
