/** Every endpoint of the API. */

import type { AppContext } from "./app-context.ts";
import { accountEndpoints } from "./features/accounts/routes.ts";
import { auditEndpoints } from "./features/audit/routes.ts";
import { eventLogEndpoints } from "./features/events/routes.ts";
import { fileEndpoints } from "./features/files/routes.ts";
import { invitationEndpoints, memberEndpoints } from "./features/members/routes.ts";
import { overviewEndpoints } from "./features/metrics/routes.ts";
import { organizationEndpoints } from "./features/organizations/routes.ts";
import { privacyEndpoints } from "./features/privacy/routes.ts";
import { quotaEndpoints } from "./features/quotas/routes.ts";
import { requestLogEndpoints } from "./features/request-log/routes.ts";
import { realtimeEndpoints } from "./features/room-content/routes.ts";
import { roomEndpoints } from "./features/rooms/routes.ts";
import { roomWithUsersEndpoints, tokenEndpoints, userEndpoints } from "./features/users/routes.ts";
import { deliveryEndpoints, webhookEndpoints } from "./features/webhooks/routes.ts";
import { workflowEndpoints } from "./features/workflows/routes.ts";
import { triggerEndpoints, workflowSecretEndpoints } from "./features/workflows/routes-trigger.ts";
import type { Endpoint } from "./http/endpoint.ts";

export const ENDPOINTS: readonly Endpoint<AppContext>[] = [
  ...accountEndpoints,
  ...organizationEndpoints,
  ...memberEndpoints,
  ...invitationEndpoints,
  ...auditEndpoints,
  ...requestLogEndpoints,
  ...overviewEndpoints,
  ...quotaEndpoints,
  ...roomEndpoints,
  ...roomWithUsersEndpoints,
  ...userEndpoints,
  ...tokenEndpoints,
  ...privacyEndpoints,
  ...fileEndpoints,
  ...realtimeEndpoints,
  ...webhookEndpoints,
  ...deliveryEndpoints,
  ...workflowEndpoints,
  ...workflowSecretEndpoints,
  ...triggerEndpoints,
  ...eventLogEndpoints,
];
