/** Everything that endpoints need of a request. */
import type { EventLogContext } from "./event-log/context.ts";
import type { FileContext } from "./files/context.ts";
import type { MemberContext } from "./members/context.ts";
import type { OrganizationContext } from "./organizations/context.ts";
import type { PrivacyContext } from "./privacy/context.ts";
import type { QuotaContext } from "./quotas/guard.ts";
import type { RequestLogContext } from "./request-log/context.ts";
import type { RoomContext } from "./rooms/context.ts";
import type { UserContext } from "./users/context.ts";
import type { WebhookContext } from "./webhooks/context.ts";
import type { WorkflowContext } from "./workflows/context.ts";

/** Everything that endpoints need of a request. */
export interface AppContext
  extends QuotaContext,
    OrganizationContext,
    MemberContext,
    RequestLogContext,
    RoomContext,
    UserContext,
    FileContext,
    PrivacyContext,
    WebhookContext,
    WorkflowContext,
    EventLogContext {}
