/** The endpoint that reads the audit log. */

import { AuditEntry, AuditResource } from "@atrium/contract/rest/audit.ts";
import { cursorShape, dates, exactly } from "@atrium/contract/rest/lists.ts";
import * as z from "zod";
import { endpointsFor } from "../../http/endpoint.ts";
import { following, toPage } from "../../http/lists.ts";
import type { RequestContext } from "../../platform/d1/context.ts";
import { listAuditEntries } from "./queries.ts";

const { endpoint } = endpointsFor<RequestContext>({ module: "Accounts" });

const MAX_FILTER_CHARS = 512;

export const endpoints = [
  endpoint({
    method: "GET",
    path: "/audit",
    operation: "listAuditEntries",
    isForAgents: false,
    right: "owner",
    sdk: "organization.listAuditEntries(filter?: AuditFilter): data",
    summary: "Read the audit log",
    details:
      "Newest first: who changed the organization, its members, invitations, API keys, webhooks, workflows and quotas, ended tokens, or deleted rooms, users and files. The contents of rooms, and the actions of their users, are in the [events](#tag/events) instead. Entries are kept for 90 days, unless the operator of the service has set another time. Only owners and API keys can read it.",
    query: z.object({
      ...following,
      ...dates,
      actorId: exactly(MAX_FILTER_CHARS, "Only entries with this person's or API key's ID."),
      operation: exactly(MAX_FILTER_CHARS, "Only entries with this operation."),
      resource: AuditResource.optional().meta({ description: "Only changes of this type of resource." }),
      resourceId: exactly(MAX_FILTER_CHARS, "Only entries with this resource's ID."),
    }),
    done: "Audit log retrieved",
    data: z.object({ entries: z.array(AuditEntry), ...cursorShape }),
    handle: (ctx, { query }) => listAuditEntries(ctx, toPage({ ...query, offset: 0 }), query),
  }),
];
