/** The only SQL about workflows. */
import { and, asc, count, eq, lt, sql } from "drizzle-orm";
import {
  build,
  columnsOf,
  type Page,
  prepared,
  preparedByShape,
  type Statement,
  statement,
  type Tenant,
} from "../platform/d1.ts";
import {
  type RetiredScript,
  type RunnableWorkflow,
  retiredScripts,
  type StoredWorkflow,
  type WorkflowRow,
  workflows,
} from "./table.ts";

const STORED = columnsOf(workflows);
/** Without what only runs need: the module alone is larger than all the rest. */
const { hash, origin, problemAtRun, module, ...SHOWN } = STORED;
const { code, ...UNREAD } = SHOWN;

const ofAccount = eq(workflows.accountId, sql.placeholder("accountId"));
const byId = and(ofAccount, eq(workflows.id, sql.placeholder("id")));
const whereIs = ({ accountId }: Tenant, id: string) =>
  and(eq(workflows.accountId, accountId), eq(workflows.id, id));

const workflowById = prepared(() => build.select(SHOWN).from(workflows).where(byId).limit(1));

export const selectWorkflow = ({ accountId }: Tenant, id: string): Statement<WorkflowRow> =>
  workflowById({ accountId, id });

const summaryById = prepared(() =>
  build
    .select({ ...UNREAD, hash })
    .from(workflows)
    .where(byId)
    .limit(1),
);

/** Without its code: whether it is there, and how it stands. */
export const selectWorkflowSummary = (
  { accountId }: Tenant,
  id: string,
): Statement<Omit<WorkflowRow, "code"> & { hash: string }> => summaryById({ accountId, id });

const runnableById = prepared(() =>
  build
    .select({ ...UNREAD, hash, origin, problemAtRun, module })
    .from(workflows)
    .where(byId)
    .limit(1),
);

/** What a run needs: for the object that runs it, and for nobody else. */
export const selectRunnable = ({ accountId }: Tenant, id: string): Statement<RunnableWorkflow> =>
  runnableById({ accountId, id });

type Filter = "all" | "searched";
const filterOf = (page: Page): Filter => (page.search === "" ? "all" : "searched");

const filtered = (filter: Filter) =>
  and(
    ofAccount,
    filter === "all" ? undefined : sql`instr(${workflows.nameFolded}, ${sql.placeholder("search")})`,
  );

const workflowPage = preparedByShape((filter: Filter) =>
  build
    .select(SHOWN)
    .from(workflows)
    .where(filtered(filter))
    .orderBy(sql`${workflows.createdAt} DESC`, sql`${workflows.id} DESC`)
    .limit(sql.placeholder("limit"))
    .offset(sql.placeholder("offset")),
);

/** A page ends with the workflow whose code goes beyond this: a hundred of the largest would be too much to answer. */
const MAX_PAGE_BYTES = 4 * 1024 * 1024;
const SHOWN_NAMES = Object.keys(SHOWN).map((name) => `"${name}"`);
const NEWEST_FIRST = '"createdAt" DESC, "id" DESC';

/** A page may have fewer workflows than it has room for; the first one is always there. */
export const selectWorkflows = ({ accountId }: Tenant, page: Page): Statement<WorkflowRow> => {
  const { sql: rows, params } = workflowPage(filterOf(page), { accountId, ...page });
  return {
    sql: `SELECT ${SHOWN_NAMES} FROM (
            SELECT *, sum(bytes) OVER (ORDER BY ${NEWEST_FIRST}) - bytes AS bytes_before
            FROM (SELECT *, length(CAST("code" AS BLOB)) AS bytes FROM (${rows}))
          ) WHERE bytes_before <= ${MAX_PAGE_BYTES} ORDER BY ${NEWEST_FIRST}`,
    params,
  };
};

const workflowCount = preparedByShape((filter: Filter) =>
  build
    .select({ total: count().as("total") })
    .from(workflows)
    .where(filtered(filter)),
);

export const countWorkflows = ({ accountId }: Tenant, page: Page): Statement<{ total: number }> =>
  workflowCount(filterOf(page), { accountId, ...page });

export const insertWorkflow = (_: Tenant, row: StoredWorkflow): Statement =>
  statement(build.insert(workflows).values(row));

export type WorkflowChanges = Partial<Omit<StoredWorkflow, "accountId" | "id" | "createdAt" | "updatedAt">>;

export const updateWorkflow = (
  tenant: Tenant,
  id: string,
  changes: WorkflowChanges,
  now: number,
): Statement<WorkflowRow> =>
  statement(
    build
      .update(workflows)
      // Later than before, whatever the clock says: two changes within a millisecond are two versions.
      .set({ ...changes, updatedAt: sql`max(${now}, ${workflows.updatedAt} + 1)` })
      .where(whereIs(tenant, id))
      .returning(SHOWN),
  );

export const deleteWorkflow = (tenant: Tenant, id: string): Statement<{ id: string }> =>
  statement(build.delete(workflows).where(whereIs(tenant, id)).returning({ id: workflows.id }));

const retire = (condition: string): string =>
  `INSERT INTO retired_scripts (account_id, workflow_id, hash, retired_at)
   SELECT account_id, id, hash, ? FROM workflows WHERE account_id = ? AND id = ? AND ${condition}
   ON CONFLICT DO UPDATE SET retired_at = excluded.retired_at`;

/** Before the statement that deletes the workflow. */
export const retireScript = ({ accountId }: Tenant, id: string, now: number): Statement => ({
  sql: retire("TRUE"),
  params: [now, accountId, id],
});

/** Before the statement that gives the workflow this script; null when it keeps the one that it has. */
export const retireReplacedScript = (
  { accountId }: Tenant,
  id: string,
  hash: string | null,
  now: number,
): Statement => ({
  sql: retire("hash <> coalesce(?, hash)"),
  params: [now, accountId, id, hash],
});

/** Retires a script that no workflow came to have. */
export const insertRetired = (row: RetiredScript): Statement =>
  statement(build.insert(retiredScripts).values(row).onConflictDoNothing());

/** By the tables' names: drizzle leaves them out, and a bare name would be that of the inner table. */
const IS_IN_USE = sql<number>`EXISTS (SELECT 1 FROM workflows WHERE workflows.account_id = retired_scripts.account_id
  AND workflows.id = retired_scripts.workflow_id AND workflows.hash = retired_scripts.hash)`;

/** Those retired before `before` (epoch ms), the oldest first, and whether their workflow has taken them up again. */
export const selectRetired = (
  before: number,
  limit: number,
): Statement<RetiredScript & { isInUse: number }> =>
  statement(
    build
      .select({
        ...columnsOf(retiredScripts),
        isInUse: IS_IN_USE.as("isInUse"),
      })
      .from(retiredScripts)
      .where(lt(retiredScripts.retiredAt, before))
      .orderBy(asc(retiredScripts.retiredAt))
      .limit(limit),
  );

/** Forgets a retired script, unless it was retired once more since this was read. */
export const deleteRetired = ({ accountId, workflowId, hash, retiredAt }: RetiredScript): Statement =>
  statement(
    build
      .delete(retiredScripts)
      .where(
        and(
          eq(retiredScripts.accountId, accountId),
          eq(retiredScripts.workflowId, workflowId),
          eq(retiredScripts.hash, hash),
          eq(retiredScripts.retiredAt, retiredAt),
        ),
      ),
  );
