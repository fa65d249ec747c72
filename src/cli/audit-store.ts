/** What the operator changes in an organization, in its audit log: written directly in the database, with the change. */
import type { AuditResource } from "../http/audit/rule.ts";
import { quoteSql } from "./database.ts";

/** Inserts an entry if there is an organization with this ID. */
export const insertOperatorEntry = (
  accountId: string,
  operation: string,
  resource: AuditResource,
  changes: object,
): string =>
  `INSERT INTO audit_entries (id, account_id, at, actor_type, operation, resource, changes, changes_before)
   SELECT ${quoteSql(crypto.randomUUID())}, id, ${Date.now()}, 'operator', ${quoteSql(operation)},
     ${quoteSql(resource)}, ${quoteSql(JSON.stringify(changes))}, 0
   FROM accounts WHERE id = ${quoteSql(accountId)}`;
