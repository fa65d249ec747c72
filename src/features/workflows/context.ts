/** The needs of workflows' commands and queries beyond a request. */
import type { DeliveryObjects } from "../../delivery/subscribers.ts";
import type { Sealer } from "../../platform/crypto/sealer.ts";
import type { RequestContext } from "../../platform/d1/context.ts";
import type { RoomGateway } from "../../room/host/gateway.ts";
import type { Compiler } from "../../sandbox/runners/compiler.ts";
import type { Script } from "../../sandbox/runners/runner.ts";
import type { QuotaContext } from "../quotas/guard.ts";

export interface WorkflowContext extends RequestContext, QuotaContext, DeliveryObjects {
  readonly rooms: RoomGateway;
  /** Makes a program ready to run, where that takes more than its row. Rejects when that fails. */
  deploy(script: Script): Promise<void>;
  readonly compile: Compiler;
  readonly secretSealer: Sealer;
  readonly signingSealer: Sealer;
  /** Counts a request that starts a workflow and has no credential. RATE_LIMITED above the organization's limit. */
  limitTrigger(ctx: Pick<RequestContext, "accountId" | "defer">, workflowId: string): Promise<void>;
}
