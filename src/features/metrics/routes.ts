/** The endpoints for an organization's overview and usage. */

import { Overview, Usage, UsageQuery } from "@atrium/contract/rest/metrics.ts";
import * as z from "zod";
import { endpointsFor } from "../../http/endpoint.ts";
import type { EventLogContext } from "../events/queries.ts";
import { getOverview, getUsage } from "./queries.ts";

const { endpoint } = endpointsFor<EventLogContext>({ module: "Accounts" });

export const endpoints = [
  endpoint({
    method: "GET",
    path: "/overview",
    operation: "getOverview",
    sdk: "organization.overview(): data",
    summary: "Get an overview",
    details: "Totals over all rooms, and activity in the last 24 hours.",
    done: "Overview retrieved",
    data: Overview,
    handle: (ctx) => getOverview(ctx),
  }),
  endpoint({
    method: "GET",
    path: "/usage",
    operation: "getUsage",
    sdk: "organization.usage(range?): usage",
    summary: "Get the usage over time",
    details:
      "Events and workflow runs of the last hour, 24 hours, 7 days or 30 days. `GET …/quotas` has how much of each quota is used now.",
    query: UsageQuery,
    done: "Usage retrieved",
    data: z.object({ usage: Usage }),
    handle: async (ctx, { query }) => ({ usage: await getUsage(ctx, query.range) }),
  }),
];
