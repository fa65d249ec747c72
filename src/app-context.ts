/** Everything that endpoints need of a request. */
import type { EventLogContext } from "./features/events/queries.ts";
import type { FileContext } from "./features/files/context.ts";
import type { MemberContext } from "./features/members/context.ts";
import type { OrganizationContext } from "./features/organizations/context.ts";
import type { PrivacyContext } from "./features/privacy/context.ts";
import type { QuotaContext } from "./features/quotas/guard.ts";
import type { RequestLogContext } from "./features/request-log/context.ts";
import type { RoomContext } from "./features/rooms/context.ts";
import type { UserContext } from "./features/users/context.ts";
import type { WebhookContext } from "./features/webhooks/context.ts";
import type { WorkflowContext } from "./features/workflows/context.ts";

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
