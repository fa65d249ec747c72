/** Every endpoint of the dashboard's own pages. */
import { memberPageEndpoints } from "../features/members/dashboard-routes.ts";
import { oidcEndpoints } from "../features/oidc/routes.ts";
import { passkeyEndpoints } from "../features/passkeys/routes.ts";
import { peopleEndpoints } from "../features/people/routes.ts";
import { personPrivacyEndpoints } from "../features/privacy/routes.ts";
import { secondFactorEndpoints } from "../features/second-factor/routes.ts";

export const DASHBOARD_ENDPOINTS = [
  ...peopleEndpoints,
  ...oidcEndpoints,
  ...passkeyEndpoints,
  ...secondFactorEndpoints,
  ...memberPageEndpoints,
  ...personPrivacyEndpoints,
];
