/** What the operator changes in an organization, in its audit log: written directly in the database, with the change. */
import type { AuditResource } from "../http/audit/table.ts";
import { quoteSql } from "./database.ts";

interface EntryOptions {
  /** Of a change in the directory: the entry stays there when the organization moves. */
  readonly inDirectory?: boolean;
  /** Only if the statement before it has changed something. */
  readonly ifChanged?: boolean;
}

/** Inserts an entry if there is an organization with this ID. */
export const insertOperatorEntry = (
  accountId: string,
  operation: string,
  resource: AuditResource,
  changes: object,
  { inDirectory = false, ifChanged = false }: EntryOptions = {},
): string =>
  `INSERT INTO audit_entries (id, account_id, at, actor_type, operation, resource, changes, in_directory, changes_before)
   SELECT ${quoteSql(crypto.randomUUID())}, id, ${Date.now()}, 'operator', ${quoteSql(operation)},
     ${quoteSql(resource)}, ${quoteSql(JSON.stringify(changes))}, ${Number(inDirectory)}, 0
   FROM accounts WHERE id = ${quoteSql(accountId)}${ifChanged ? " AND changes() > 0" : ""}`;
