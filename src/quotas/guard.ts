/** Keeps creations within an organization's quotas, in the very batch that creates. */
import type { Statement, Tenant } from "../platform/d1.ts";
import { violatedConstraint } from "../platform/d1-errors.ts";
import { AppError } from "../platform/errors.ts";
import { listQuotas } from "./queries.ts";
import { describeExceeded, type QuotaDefaults, type QuotaName } from "./quota.ts";
import { QUOTA_EXCEEDED, requireWithinQuota } from "./shared-store.ts";

/** What a command that creates something needs. */
export interface QuotaContext extends Tenant {
  /** The limits of organizations for which the operator has set none. */
  readonly quotaDefaults: QuotaDefaults;
}

export interface QuotaGuard {
  /** Belongs into the batch that creates, after the statement that does; without it, the batch is atomic as ever. */
  readonly statement: Statement;
  /** Translates the error of that batch: FORBIDDEN, which names the quota, its use and its limit; others unchanged. */
  refuse(error: unknown): Promise<never>;
}

/** Guards a quota against what a batch creates, and against `upcoming` more. */
export const guardQuota = (ctx: QuotaContext, quota: QuotaName, upcoming = 0): QuotaGuard => ({
  statement: requireWithinQuota(ctx, quota, ctx.quotaDefaults[quota], upcoming),
  refuse: async (error) => {
    if (violatedConstraint(error) !== QUOTA_EXCEEDED) throw error;
    const exceeded = (await listQuotas(ctx)).find((use) => use.quota === quota);
    if (exceeded === undefined) throw error;
    throw new AppError("Accounts", "FORBIDDEN", describeExceeded(exceeded));
  },
});
