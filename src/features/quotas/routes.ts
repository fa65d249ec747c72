/** The endpoint for quotas. */
import * as z from "zod";
import { endpointsFor } from "../../http/endpoint.ts";
import type { RequestContext } from "../../platform/d1/context.ts";
import type { QuotaContext } from "./guard.ts";
import { listQuotas } from "./queries.ts";
import { presentQuota, Quota } from "./schema.ts";

const { endpoint } = endpointsFor<RequestContext & QuotaContext>({ module: "Accounts" });

export const quotaEndpoints = [
  endpoint({
    method: "GET",
    path: "/quotas",
    operation: "listQuotas",
    summary: "List quotas",
    details:
      "How much of each quota the organization uses, and its limit. The counts are exact, but for those that are reported: users online, late by about a second; the bytes of stores, late by up to a MiB for each room; what waits for webhooks and workflows, late by up to a minute; and the requests in a second, late by up to 20 seconds. What would exceed a quota is refused with `FORBIDDEN`, or `RATE_LIMITED` for requests; only the operator of the service can raise a limit.",
    done: "Quotas retrieved",
    data: z.object({ quotas: z.array(Quota) }),
    handle: async (ctx) => ({ quotas: (await listQuotas(ctx)).map(presentQuota) }),
  }),
];
