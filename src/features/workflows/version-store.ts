/** The only SQL about the versions of workflows. */
import { and, count, eq } from "drizzle-orm";
import { build, type Page, type Statement, statement, type Tenant } from "../../platform/d1/d1.ts";
import { type AuthorType, workflowVersions } from "./table.ts";

const KEPT_VERSIONS = 50;

export interface VersionSummary {
  readonly version: number;
  readonly savedAt: number;
  /** Null for code that was saved before versions were kept. */
  readonly authorType: AuthorType | null;
  readonly authorId: string | null;
  readonly bytes: number;
}

export interface StoredVersion extends VersionSummary {
  readonly code: string;
}

const COLUMNS = `version, saved_at AS savedAt, author_type AS authorType, author_id AS authorId,
  length(CAST(code AS BLOB)) AS bytes`;
const FROM = "FROM workflow_versions WHERE account_id = ? AND workflow_id = ?";

/** In the directory: the names of those of these authors that are people. */
export const selectAuthorNames = (ids: readonly string[]): Statement<{ id: string; name: string }> => ({
  sql: "SELECT id, name FROM people WHERE id IN (SELECT value FROM json_each(?))",
  params: [JSON.stringify(ids)],
});

export const selectVersions = (
  { accountId }: Tenant,
  workflowId: string,
  { limit, offset }: Page,
): Statement<VersionSummary> => ({
  sql: `SELECT ${COLUMNS} ${FROM} ORDER BY version DESC LIMIT ? OFFSET ?`,
  params: [accountId, workflowId, limit, offset],
});

export const countVersions = ({ accountId }: Tenant, workflowId: string): Statement<{ total: number }> =>
  statement(
    build
      .select({ total: count().as("total") })
      .from(workflowVersions)
      .where(and(eq(workflowVersions.accountId, accountId), eq(workflowVersions.workflowId, workflowId))),
  );

export const selectVersion = (
  { accountId }: Tenant,
  workflowId: string,
  version: number,
): Statement<StoredVersion> => ({
  sql: `SELECT ${COLUMNS}, code ${FROM} AND version = ?`,
  params: [accountId, workflowId, version],
});

export interface Author {
  readonly type: AuthorType;
  readonly id: string;
}

/** Keeps the code that the workflow has as its version, unless it is kept, and forgets the oldest beyond 50. */
export const keepVersion = (
  { accountId }: Tenant,
  workflowId: string,
  author: Author | null,
): readonly [Statement, Statement] => [
  {
    sql: `INSERT INTO workflow_versions (account_id, workflow_id, version, saved_at, author_type, author_id, code)
      SELECT account_id, id, version, updated_at, ?, ?, code FROM workflows WHERE account_id = ? AND id = ?
      ON CONFLICT DO NOTHING`,
    params: [author?.type ?? null, author?.id ?? null, accountId, workflowId],
  },
  {
    sql: `DELETE FROM workflow_versions WHERE account_id = ?1 AND workflow_id = ?2
      AND version <= (SELECT version FROM workflows WHERE account_id = ?1 AND id = ?2) - ${KEPT_VERSIONS}`,
    params: [accountId, workflowId],
  },
];
