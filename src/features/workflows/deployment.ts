/** A workflow's code on its way to the runner: compiled, deployed, and removed when no run uses it any more. */

import { sha256 } from "../../platform/crypto/hash.ts";
import type { Database } from "../../platform/d1/d1.ts";
import { AppError } from "../../platform/errors.ts";
import type { Runner } from "../../sandbox/runners/runner.ts";
import type { WorkflowContext } from "./context.ts";
import { deleteRetired, insertRetired, selectRetired } from "./store.ts";
import type { StoredWorkflow } from "./table.ts";

/** By then every run of a retired script has started; removal does not stop runs in progress. */
const REMOVED_AFTER_MS = 60_000;
const SWEEP_SIZE = 100;

/** Code as a workflow's row holds it. */
export type PreparedCode = Pick<StoredWorkflow, "code" | "module" | "problemAtRun" | "hash">;

/** Compiles a workflow's source; VALIDATION_ERROR with line and column when it does not compile. */
export async function prepareCode(
  { accountId, compile }: Pick<WorkflowContext, "accountId" | "compile">,
  code: string,
): Promise<PreparedCode> {
  const compilation = await compile(accountId, code);
  if (!compilation.ok) {
    const { line, column, message } = compilation.problem;
    const where = `line ${line}, column ${column}`;
    throw new AppError("Workflows", "VALIDATION_ERROR", `code: ${where}: ${message}`);
  }
  const { module, problemAtRun } = compilation;
  return {
    code,
    module,
    problemAtRun: problemAtRun && JSON.stringify(problemAtRun),
    hash: await sha256(new TextEncoder().encode(module)),
  };
}

/** Deploys a workflow's code, before its row refers to it. */
export async function deploy(
  ctx: WorkflowContext,
  workflowId: string,
  { module, hash }: PreparedCode,
): Promise<void> {
  try {
    await ctx.runner.deploy({ accountId: ctx.accountId, workflowId, module, hash });
  } catch (error) {
    if (error instanceof AppError) throw error;
    ctx.log("A workflow's code could not be deployed", error);
    const why = "The code could not be deployed; nothing was changed. Try again";
    throw new AppError("Workflows", "INTERNAL_ERROR", why);
  }
}

/** Retires code that was deployed but whose row could not be written, and rethrows the failure. */
export const undeployOnFailure =
  (ctx: WorkflowContext, workflowId: string, { hash }: PreparedCode) =>
  async (failure: unknown): Promise<never> => {
    const row = { accountId: ctx.accountId, workflowId, hash, retiredAt: ctx.now() };
    await ctx.db.run([insertRetired(row)]).catch((error: unknown) => {
      ctx.log("Deployed code that no workflow uses could not be retired", error);
    });
    throw failure;
  };

/** Removes scripts that were retired a while ago; those that cannot be removed stay for the next run. */
export async function sweepRetiredScripts(
  db: Database,
  openRunner: () => Pick<Runner, "remove">,
  now: number,
  log: (message: string, error: unknown) => void,
): Promise<void> {
  const [retired] = await db.run([selectRetired(now - REMOVED_AFTER_MS, SWEEP_SIZE)]);
  for (const { isInUse, ...script } of retired) {
    try {
      if (!isInUse) await openRunner().remove(script);
      await db.run([deleteRetired(script)]);
    } catch (error) {
      log("A retired script could not be removed yet", error);
    }
  }
}
