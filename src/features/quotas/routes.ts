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
      "The organization's use of each quota, and its limit. Most counts are exact. Some are late: users online by about a second, waiting events by up to a minute, requests in a second by up to 20 seconds, and the bytes of stores by up to a MiB for each room. A request above a quota fails with `FORBIDDEN`, or `RATE_LIMITED` for the rate of requests. Only the operator of the service can raise a limit.",
    done: "Quotas retrieved",
    data: z.object({ quotas: z.array(Quota) }),
    handle: async (ctx) => ({ quotas: (await listQuotas(ctx)).map(presentQuota) }),
  }),
];
