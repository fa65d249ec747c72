/** The endpoint for an organization's overview. */
import type { EventLogContext } from "../event-log/context.ts";
import { endpointsFor } from "../http/endpoint.ts";
import { getOverview } from "./queries.ts";
import { Overview } from "./schema.ts";

const { endpoint } = endpointsFor<EventLogContext>();

export const overviewEndpoints = [
  endpoint({
    method: "GET",
    path: "/overview",
    operation: "getOverview",
    module: "Accounts",
    access: "organization",
    summary: "Get an overview",
    details: "Totals over all rooms, and activity in the last 24 hours.",
    errors: [],
    status: 200,
    done: "Overview retrieved",
    data: Overview,
    handle: (ctx) => getOverview(ctx),
  }),
];
