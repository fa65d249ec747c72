/** Bugs in quotas. */
import type { Mutant } from "./mutant.ts";

export const QUOTAS: readonly Mutant[] = [
  {
    bug: "the operator's limit for an organization is ignored",
    file: "src/quotas/shared-store.ts",
    code: "used + ? <= coalesce(max, ?)",
    by: "used + ? <= ?",
    tests: ["test/quotas/quotas.test.ts"],
  },
  {
    bug: "webhooks are created beyond the quota",
    file: "src/webhooks/commands.ts",
    code: "await ctx.commit([insertWebhook(ctx, stored), quota.statement], data)",
    by: "await ctx.commit([insertWebhook(ctx, stored)], data)",
    tests: ["test/quotas/quotas.test.ts"],
  },
  {
    bug: "rooms are created beyond the quota",
    file: "src/rooms/commands.ts",
    code: "insertRoomEvent(ctx, created), quota.statement]",
    by: "insertRoomEvent(ctx, created)]",
    tests: ["test/quotas/quotas.test.ts"],
  },
  {
    bug: "files are stored beyond the quota",
    file: "src/files/pending-upload.ts",
    code: "uploaded, quota.statement]",
    by: "uploaded]",
    tests: ["test/quotas/quotas.test.ts"],
  },
];
