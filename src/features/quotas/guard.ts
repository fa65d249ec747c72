/** Keeps creations within an organization's quotas, in the very batch that creates. */

import { AppError } from "@atrium/contract/errors.ts";
import {
  describeExceeded,
  type QuotaDefaults,
  type QuotaName,
  type QuotaUse,
} from "@atrium/contract/resources/quota.ts";
import { type Statement, type Tenant, violatedConstraint } from "../../platform/d1/d1.ts";
import { readQuotas } from "./queries.ts";
import { QUOTA_EXCEEDED, requireWithinQuota, type Upcoming } from "./statements.ts";

export interface QuotaContext extends Tenant {
  /** The limits of organizations for which the operator has set none. */
  readonly quotaDefaults: QuotaDefaults;
}

/** Translates the error of a batch: FORBIDDEN with the exceeded quota that `find` returns, its use and its limit. */
const refuseBy =
  (ctx: QuotaContext, find: (uses: readonly QuotaUse[]) => QuotaUse | undefined) =>
  async (error: unknown): Promise<never> => {
    if (violatedConstraint(error) !== QUOTA_EXCEEDED) throw error;
    const exceeded = find(await readQuotas(ctx));
    if (exceeded === undefined) throw error;
    throw new AppError("Accounts", "FORBIDDEN", describeExceeded(exceeded));
  };

const requireQuota = (ctx: QuotaContext, quota: QuotaName, upcoming?: Upcoming): Statement =>
  requireWithinQuota(ctx, quota, ctx.quotaDefaults[quota], upcoming);

/**
 * Guards a quota against what a batch creates, and against `upcoming` more. `statement` belongs into that batch, behind the
 * statement that creates, or before it with what it is going to create; `refuse` translates the batch's error.
 */
export const guardQuota = (ctx: QuotaContext, quota: QuotaName, upcoming?: Upcoming) => ({
  statement: requireQuota(ctx, quota, upcoming),
  refuse: refuseBy(ctx, (uses) => uses.find((use) => use.quota === quota)),
});

const isWaiting = ({ quota }: QuotaUse): boolean => quota === "waiting_events" || quota === "waiting_bytes";

/** Guards the quota of webhooks or of workflows, and refuses another one while more waits for all of them than may. */
export const guardSubscribers = (ctx: QuotaContext, quota: "webhooks" | "workflows") => ({
  statements: [
    requireQuota(ctx, quota),
    requireQuota(ctx, "waiting_events"),
    requireQuota(ctx, "waiting_bytes"),
  ],
  refuse: refuseBy(
    ctx,
    (uses) =>
      uses.find((use) => isWaiting(use) && use.used > use.limit) ?? uses.find((use) => use.quota === quota),
  ),
});

/** Guards the quota of invitations, and refuses another one while there may be no further member. */
export const guardInvitation = (ctx: QuotaContext) => ({
  statements: [requireQuota(ctx, "invitations"), requireQuota(ctx, "members", 1)],
  refuse: refuseBy(
    ctx,
    (uses) =>
      uses.find(({ quota, used, limit }) => quota === "members" && used >= limit) ??
      uses.find(({ quota }) => quota === "invitations"),
  ),
});
