/** The context of the deletion of an organization. */
import type { UserContext } from "../users/context.ts";
import type { DeletionPorts } from "./deletion.ts";

export interface OrganizationContext extends UserContext, DeletionPorts {}
