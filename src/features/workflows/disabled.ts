/** The reasons for which the service disables a workflow. */
import type { DisabledReason } from "./table.ts";

export const DISABLED_MESSAGES: Readonly<Record<DisabledReason, string>> = {
  backlogged:
    "Too many events were waiting, for this workflow or for all of the organization, or the oldest for too long. Make the workflow faster, then enable it again: it runs on what waits.",
  killed:
    "Two runs in a row passed a limit and had to be killed. Their executions say which one. Change the code, then enable the workflow again: it runs on what waits.",
};
