/** Organizations as they are presented. */

import type { Organization } from "@atrium/contract/rest/organizations.ts";
import { presentTime } from "@atrium/contract/time.ts";
import type { OrganizationRow } from "./store.ts";

export const presentOrganization = ({ createdAt, ...row }: OrganizationRow): Organization => ({
  ...row,
  created_at: presentTime(createdAt),
});
