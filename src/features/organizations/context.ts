/** What the deletion of an organization needs beyond a request. */
import type { UserContext } from "../users/context.ts";
import type { DeletionPorts } from "./deletion.ts";

export interface OrganizationContext extends UserContext, DeletionPorts {}
