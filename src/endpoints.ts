/** Every endpoint of the API. */
import { accountEndpoints } from "./accounts/routes.ts";
import type { AppContext } from "./app-context.ts";
import { auditEndpoints } from "./audit/routes.ts";
import { eventLogEndpoints } from "./event-log/routes.ts";
import { fileSearchEndpoints } from "./files/find-routes.ts";
import { fileEndpoints } from "./files/routes.ts";
import type { Endpoint } from "./http/endpoint.ts";
import { invitationEndpoints } from "./members/invitation-routes.ts";
import { memberEndpoints } from "./members/routes.ts";
import { overviewEndpoints } from "./metrics/routes.ts";
import { organizationEndpoints } from "./organizations/routes.ts";
import { privacyEndpoints } from "./privacy/routes.ts";
import { quotaEndpoints } from "./quotas/routes.ts";
import { realtimeEndpoints } from "./realtime/rest/routes.ts";
import { requestLogEndpoints } from "./request-log/routes.ts";
import { roomEndpoints } from "./rooms/routes.ts";
import { userEndpoints } from "./users/routes.ts";
import { roomWithUsersEndpoints } from "./users/routes-room.ts";
import { tokenEndpoints } from "./users/routes-tokens.ts";
import { webhookEndpoints } from "./webhooks/routes.ts";
import { deliveryEndpoints } from "./webhooks/routes-deliveries.ts";
import { workflowEndpoints } from "./workflows/routes.ts";
import { workflowSecretEndpoints } from "./workflows/routes-secrets.ts";
import { triggerEndpoints } from "./workflows/routes-trigger.ts";

/** Every endpoint under `/v1/accounts/:accountId`. Listing one here routes, documents and tests it. */
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
  ...fileSearchEndpoints,
  ...realtimeEndpoints,
  ...webhookEndpoints,
  ...deliveryEndpoints,
  ...workflowEndpoints,
  ...workflowSecretEndpoints,
  ...triggerEndpoints,
  ...eventLogEndpoints,
];
