/** The only SQL about workflows. */
import { and, asc, lt, type SQL, sql } from "drizzle-orm";
import { accountRows } from "../../platform/d1/account-rows.ts";
import {
  build,
  columnsOf,
  insertionInto,
  isNotFenced,
  nextVersion,
  type Page,
  type Statement,
  statement,
  type Tenant,
} from "../../platform/d1/d1.ts";
import { ordering } from "../../platform/d1/ordering.ts";
import {
  type RunnableWorkflow,
  retiredScripts,
  type StoredWorkflow,
  type TriggerableWorkflow,
  type WorkflowRow,
  workflows,
} from "./table.ts";

const STORED = columnsOf(workflows);
/** Columns without data that only runs need: the module alone is larger than everything else. */
const { hash, origin, problemAtRun, module, ...READABLE } = STORED;
/** Columns without secrets, so that most requests cannot reveal them. */
const { triggerSecret, previousTriggerSecret, previousTriggerSecretUntil, ...SHOWN } = READABLE;
const { code, ...SUMMARY } = SHOWN;

/** Names the tables, which drizzle leaves out: a bare name would mean the inner table's column. */
const SEALED_SECRETS = sql<string>`(SELECT json_group_array(json_array(name, key_id, sealed)) FROM workflow_secrets
    WHERE workflow_secrets.account_id = workflows.account_id AND workflow_secrets.workflow_id = workflows.id)`;

const ORDERS = { created_at: "createdAt", updated_at: "updatedAt", name: "nameFolded" } as const;
const order = ordering({ table: workflows, by: ORDERS, time: "createdAt", id: "id" });
const rows = accountRows(workflows, workflows.nameFolded, order);
const { byId, selectOne, selectPage, count, updateOne, deleteOne } = rows;

export const selectWorkflow = selectOne<WorkflowRow>(SHOWN);

export const selectWorkflowSummary = selectOne<Omit<WorkflowRow, "code"> & { hash: string }>({
  ...SUMMARY,
  hash,
});

/** The data of a run: only for the object that runs it. */
export const selectRunnable = selectOne<RunnableWorkflow>({
  ...SUMMARY,
  hash,
  origin,
  problemAtRun,
  module,
  secrets: SEALED_SECRETS.as("secrets"),
});

/** The HTTP trigger's data, secrets included: only for requests that start the workflow. */
export const selectTriggerable = selectOne<TriggerableWorkflow>({
  id: STORED.id,
  name: STORED.name,
  roomId: STORED.roomId,
  enabled: STORED.enabled,
  httpTrigger: STORED.httpTrigger,
  updatedAt: STORED.updatedAt,
  triggerSecret,
  previousTriggerSecret,
  previousTriggerSecretUntil,
  accountTokenEpoch:
    sql<number>`(SELECT accounts.token_epoch FROM accounts WHERE accounts.id = workflows.account_id)`.as(
      "accountTokenEpoch",
    ),
});

const workflowPage = selectPage<WorkflowRow>(SHOWN);

/** A page ends with the workflow whose code exceeds this: a hundred of the largest would be too much for a response. */
const MAX_PAGE_BYTES = 4 * 1024 * 1024;
const SHOWN_NAMES = Object.keys(SHOWN).map((name) => `"${name}"`);

/** The order of a page by the names that it selects its columns under. */
function orderOf({ order }: Page): string {
  const column = Object.entries(ORDERS).find(([field]) => field === order?.by)?.[1] ?? "createdAt";
  const direction = order?.descending === false ? "ASC" : "DESC";
  return `"${column}" ${direction}, "id" ${direction}`;
}

/** A page may hold fewer workflows than its limit; the first one is always there. */
export const selectWorkflows = (tenant: Tenant, page: Page): Statement<WorkflowRow> => {
  const { sql: all, params } = workflowPage(tenant, page);
  const order = orderOf(page);
  return {
    sql: `SELECT ${SHOWN_NAMES} FROM (
            SELECT *, sum(bytes) OVER (ORDER BY ${order}) - bytes AS bytes_before
            FROM (SELECT *, length(CAST("code" AS BLOB)) AS bytes FROM (${all}))
          ) WHERE bytes_before <= ${MAX_PAGE_BYTES} ORDER BY ${order}`,
    params,
  };
};

export const countWorkflows = count;

export const deleteWorkflow = deleteOne;

export const insertWorkflow = insertionInto(workflows);

type WorkflowChanges = Partial<
  Omit<StoredWorkflow, "accountId" | "id" | "createdAt" | "updatedAt" | "version">
>;

const change = updateOne<WorkflowRow, StoredWorkflow>(SHOWN);

export const updateWorkflow = (
  tenant: Tenant,
  id: string,
  changes: WorkflowChanges & { readonly version?: SQL },
  now: number,
): Statement<WorkflowRow> =>
  change(tenant, id, { ...changes, updatedAt: nextVersion(workflows.updatedAt, now) });

/**
 * Gives the workflow a new version, so that runs read it again, if the statement before it in the batch has changed
 * something. Returns no row if not.
 */
export const touchIfChanged = (tenant: Tenant, id: string, now: number): Statement<{ updatedAt: number }> =>
  statement(
    build
      .update(workflows)
      .set({ updatedAt: nextVersion(workflows.updatedAt, now) })
      .where(and(byId(tenant, id), sql`changes() > 0`))
      .returning({ updatedAt: columnsOf(workflows).updatedAt }),
  );

/** Replaces the secret of the HTTP trigger; the previous one is accepted beside it until `previousUntil` (epoch ms). */
export const rotateTriggerSecret = (
  tenant: Tenant,
  id: string,
  newSecret: string,
  previousUntil: number,
  now: number,
): Statement<WorkflowRow> =>
  change(tenant, id, {
    triggerSecret: newSecret,
    triggerSecretAt: now,
    previousTriggerSecret: sql`${workflows.triggerSecret}`,
    previousTriggerSecretUntil: previousUntil,
  });

export const deleteTriggerSecret = (tenant: Tenant, id: string): Statement<WorkflowRow> =>
  change(tenant, id, {
    triggerSecret: null,
    triggerSecretAt: null,
    previousTriggerSecret: null,
    previousTriggerSecretUntil: null,
  });

/** Changes the workflow with its code, which counts as a new version unless it is the present one. */
export const updateCode = (
  tenant: Tenant,
  id: string,
  changes: WorkflowChanges & Pick<StoredWorkflow, "code">,
  now: number,
): Statement<WorkflowRow> =>
  updateWorkflow(tenant, id, { ...changes, version: nextCodeVersion(changes.code) }, now);

const nextCodeVersion = (code: string): SQL => sql`${workflows.version} + (${workflows.code} <> ${code})`;

const retire = ({ accountId }: Tenant, id: string, now: number, condition: SQL): Statement =>
  statement`INSERT INTO retired_scripts (account_id, workflow_id, hash, retired_at)
      SELECT account_id, id, hash, ${now} FROM workflows
        WHERE account_id = ${accountId} AND id = ${id} AND ${condition}
      ON CONFLICT DO UPDATE SET retired_at = excluded.retired_at`;

/** Retires the workflow's script; runs before the statement that deletes the workflow. */
export const retireScript = (tenant: Tenant, id: string, now: number): Statement =>
  retire(tenant, id, now, sql`TRUE`);

/** Runs before the statement that gives the workflow the script `hash`; null when it keeps its script. */
export const retireReplacedScript = (
  tenant: Tenant,
  id: string,
  hash: string | null,
  now: number,
): Statement => retire(tenant, id, now, sql`hash <> coalesce(${hash}, hash)`);

type RetiredScript = typeof retiredScripts.$inferSelect;

export const insertRetired = (row: RetiredScript): Statement =>
  statement(build.insert(retiredScripts).values(row).onConflictDoNothing());

/** Names the tables, which drizzle leaves out: a bare name would mean the inner table's column. */
const IS_IN_USE = sql<number>`EXISTS (SELECT 1 FROM workflows WHERE workflows.account_id = retired_scripts.account_id
    AND workflows.id = retired_scripts.workflow_id AND workflows.hash = retired_scripts.hash)`;

/**
 * Scripts retired before `before` (epoch ms), oldest first, and whether their workflow uses them again. Those of fenced
 * organizations wait, as their rows cannot be deleted.
 */
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
      .where(and(lt(retiredScripts.retiredAt, before), isNotFenced(retiredScripts.accountId)))
      .orderBy(asc(retiredScripts.retiredAt))
      .limit(limit),
  );

/** Deletes the record of a retired script, unless it was retired again since it was read. */
export const deleteRetired = ({ accountId, workflowId, hash, retiredAt }: RetiredScript): Statement =>
  statement`DELETE FROM retired_scripts WHERE account_id = ${accountId} AND workflow_id = ${workflowId}
      AND hash = ${hash} AND retired_at = ${retiredAt}`;
