/** The endpoints of an organization itself. */

import {
  Organization,
  OrganizationDeletion,
  OrganizationUpdate,
} from "@atrium/contract/rest/organizations.ts";
import * as z from "zod";
import { endpointsFor } from "../../http/endpoint.ts";
import { deleteOrganization, updateOrganization } from "./commands.ts";
import type { OrganizationContext } from "./deletion.ts";
import { getOrganization } from "./queries.ts";

const { endpoint } = endpointsFor<OrganizationContext>({ module: "Accounts", database: "directory" });

export const endpoints = [
  endpoint({
    method: "GET",
    path: "/organization",
    operation: "getOrganization",
    sdk: "organization.get(): organization",
    summary: "Read the organization",
    details: "Its `id` is the account ID in every path.",
    done: "Organization retrieved",
    data: z.object({ organization: Organization }),
    handle: (ctx) => getOrganization(ctx),
  }),
  endpoint({
    method: "PATCH",
    path: "/organization",
    operation: "updateOrganization",
    isForAgents: false,
    right: "owner",
    sdk: "organization.rename(name): organization",
    summary: "Rename the organization",
    details: "Only owners and API keys can do this.",
    body: OrganizationUpdate,
    done: "Organization updated",
    data: z.object({ organization: Organization }),
    audit: { resource: "organization", shows: ["name"] },
    handle: (ctx, { body }) => updateOrganization(ctx, body),
  }),
  endpoint({
    method: "DELETE",
    path: "/organization",
    operation: "deleteOrganization",
    isForAgents: false,
    right: "owner",
    sdk: "organization.delete(confirm)",
    summary: "Delete the organization with everything that it owns",
    details:
      "Cannot be undone. API keys, memberships, invitations and users' tokens end at once, everywhere within 10 seconds. Webhooks, workflows, rooms, users and files are then removed in the background: thousands within a minute, very many within hours; no event is delivered any more. The persons stay, with their other organizations. Only owners and API keys can do this.",
    body: OrganizationDeletion,
    done: "Organization deleted",
    data: z.object({}),
    audit: { resource: "organization" },
    handle: (ctx, { body }) => deleteOrganization(ctx, body),
  }),
];
