/** Every endpoint of the API. */
import { accessEndpoints } from "./features/access/routes.ts";
import { accountEndpoints } from "./features/accounts/routes.ts";
import { auditEndpoints } from "./features/audit/routes.ts";
import type { EventLogContext } from "./features/events/queries.ts";
import { eventLogEndpoints } from "./features/events/routes.ts";
import type { FileContext } from "./features/files/context.ts";
import { fileEndpoints } from "./features/files/routes.ts";
import type { IdentityContext } from "./features/identities/commands.ts";
import { identityEndpoints } from "./features/identities/routes.ts";
import { groupEndpoints } from "./features/identities/routes-groups.ts";
import { linkEndpoints } from "./features/identities/routes-links.ts";
import { identityTokenEndpoints } from "./features/identities/routes-tokens.ts";
import { inboxEndpoints } from "./features/inbox/routes.ts";
import { notificationEndpoints } from "./features/inbox/routes-settings.ts";
import type { MemberContext } from "./features/members/commands.ts";
import { memberEndpoints } from "./features/members/routes.ts";
import { overviewEndpoints } from "./features/metrics/routes.ts";
import type { OrganizationContext } from "./features/organizations/deletion.ts";
import { organizationEndpoints } from "./features/organizations/routes.ts";
import type { PrivacyContext } from "./features/privacy/queries.ts";
import { privacyEndpoints } from "./features/privacy/routes.ts";
import type { QuotaContext } from "./features/quotas/guard.ts";
import { quotaEndpoints } from "./features/quotas/routes.ts";
import type { RequestLogContext } from "./features/request-log/queries.ts";
import { requestLogEndpoints } from "./features/request-log/routes.ts";
import { realtimeEndpoints, type SocketContext } from "./features/room-content/routes.ts";
import type { RoomContext } from "./features/rooms/context.ts";
import { roomEndpoints } from "./features/rooms/routes.ts";
import { userEndpoints } from "./features/users/routes.ts";
import type { PushContext } from "./features/web-push/commands.ts";
import { pushEndpoints } from "./features/web-push/routes.ts";
import type { WebhookContext } from "./features/webhooks/context.ts";
import { webhookEndpoints } from "./features/webhooks/routes.ts";
import type { WorkflowContext } from "./features/workflows/context.ts";
import { workflowEndpoints } from "./features/workflows/routes.ts";
import { triggerEndpoints } from "./features/workflows/routes-trigger.ts";
import type { Endpoint } from "./http/endpoint.ts";

export const ENDPOINTS: readonly Endpoint<AppContext>[] = [
  ...accountEndpoints,
  ...organizationEndpoints,
  ...memberEndpoints,
  ...auditEndpoints,
  ...requestLogEndpoints,
  ...overviewEndpoints,
  ...quotaEndpoints,
  ...roomEndpoints,
  ...userEndpoints,
  ...identityEndpoints,
  ...identityTokenEndpoints,
  ...groupEndpoints,
  ...accessEndpoints,
  ...linkEndpoints,
  ...inboxEndpoints,
  ...notificationEndpoints,
  ...pushEndpoints,
  ...privacyEndpoints,
  ...fileEndpoints,
  ...realtimeEndpoints,
  ...webhookEndpoints,
  ...workflowEndpoints,
  ...triggerEndpoints,
  ...eventLogEndpoints,
];

export interface AppContext
  extends QuotaContext,
    OrganizationContext,
    MemberContext,
    RequestLogContext,
    RoomContext,
    SocketContext,
    IdentityContext,
    Omit<PushContext, "inboxes">,
    FileContext,
    PrivacyContext,
    WebhookContext,
    WorkflowContext,
    EventLogContext {
  readonly inboxes: PushContext["inboxes"];
}
