/** The endpoint for quotas. */
import * as z from "zod";
import type { RequestContext } from "../context/context.ts";
import { endpointsFor } from "../http/endpoint.ts";
import type { QuotaContext } from "./guard.ts";
import { listQuotas } from "./queries.ts";
import { presentQuota, Quota } from "./schema.ts";

const { endpoint } = endpointsFor<RequestContext & QuotaContext>();

export const quotaEndpoints = [
  endpoint({
    method: "GET",
    path: "/quotas",
    operation: "listQuotas",
    module: "Accounts",
    access: "organization",
    summary: "List quotas",
    details:
      "How much of each quota the organization uses, and its limit. The counts are exact, but for two that rooms report: users online, late by about a second, and the bytes of stores, late by up to a MiB for each room. What would exceed a quota is refused with `FORBIDDEN`; only the operator of the service can raise a limit.",
    errors: [],
    status: 200,
    done: "Quotas retrieved",
    data: z.object({ quotas: z.array(Quota) }),
    handle: async (ctx) => ({ quotas: (await listQuotas(ctx)).map(presentQuota) }),
  }),
];
