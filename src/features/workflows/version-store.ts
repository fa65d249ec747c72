/** The only SQL about the versions of workflows. */
import { and, count, eq, type SQL, sql } from "drizzle-orm";
import { build, listed, type Page, type Statement, statement, type Tenant } from "../../platform/d1/d1.ts";
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

const COLUMNS = sql`version, saved_at AS savedAt, author_type AS authorType, author_id AS authorId,
    length(CAST(code AS BLOB)) AS bytes`;
const ofWorkflow = ({ accountId }: Tenant, workflowId: string): SQL =>
  sql`workflow_versions WHERE account_id = ${accountId} AND workflow_id = ${workflowId}`;

/** Names of authors who are people; runs in the directory. */
export const selectAuthorNames = (ids: readonly string[]): Statement<{ id: string; name: string }> =>
  statement`SELECT id, name FROM people WHERE id IN ${listed(ids)}`;

export const selectVersions = (
  tenant: Tenant,
  workflowId: string,
  { limit, offset }: Page,
): Statement<VersionSummary> =>
  statement`SELECT ${COLUMNS} FROM ${ofWorkflow(tenant, workflowId)}
      ORDER BY version DESC LIMIT ${limit} OFFSET ${offset}`;

export const countVersions = ({ accountId }: Tenant, workflowId: string): Statement<{ total: number }> =>
  statement(
    build
      .select({ total: count().as("total") })
      .from(workflowVersions)
      .where(and(eq(workflowVersions.accountId, accountId), eq(workflowVersions.workflowId, workflowId))),
  );

export const selectVersion = (
  tenant: Tenant,
  workflowId: string,
  version: number,
): Statement<StoredVersion> =>
  statement`SELECT ${COLUMNS}, code FROM ${ofWorkflow(tenant, workflowId)} AND version = ${version}`;

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
  statement`INSERT INTO workflow_versions (account_id, workflow_id, version, saved_at, author_type, author_id, code)
      SELECT account_id, id, version, updated_at, ${author?.type ?? null}, ${author?.id ?? null}, code FROM workflows
        WHERE account_id = ${accountId} AND id = ${workflowId}
      ON CONFLICT DO NOTHING`,
  statement`DELETE FROM workflow_versions WHERE account_id = ${accountId} AND workflow_id = ${workflowId}
      AND version <= (SELECT version FROM workflows
        WHERE account_id = ${accountId} AND id = ${workflowId}) - ${KEPT_VERSIONS}`,
];
