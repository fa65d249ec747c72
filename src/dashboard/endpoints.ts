/** Every endpoint of the dashboard's own pages. */
import { memberPageEndpoints } from "../features/members/dashboard-routes.ts";
import { peopleEndpoints } from "../features/people/routes.ts";
import { personPrivacyEndpoints } from "../features/privacy/routes.ts";

export const DASHBOARD_ENDPOINTS = [...peopleEndpoints, ...memberPageEndpoints, ...personPrivacyEndpoints];
