/** The endpoint for quotas. */
import { EXACTNESS } from "@atrium/contract/resources/quota.ts";
import { presentQuota, Quota } from "@atrium/contract/rest/quotas.ts";
import * as z from "zod";
import { endpointsFor } from "../../http/endpoint.ts";
import type { RequestContext } from "../../platform/d1/context.ts";
import type { QuotaContext } from "./guard.ts";
import { listQuotas } from "./queries.ts";

const { endpoint } = endpointsFor<RequestContext & QuotaContext>({ module: "Accounts" });

export const endpoints = [
  endpoint({
    method: "GET",
    path: "/quotas",
    operation: "listQuotas",
    sdk: "organization.listQuotas(): data",
    summary: "List quotas",
    details: `The organization's use of each quota, and its limit. ${EXACTNESS} A request above a quota fails with \`FORBIDDEN\`, or \`RATE_LIMITED\` for the rate of requests. Only the operator of the service can raise a limit.`,
    done: "Quotas retrieved",
    data: z.object({ quotas: z.array(Quota) }),
    handle: async (ctx) => ({ quotas: (await listQuotas(ctx)).map(presentQuota) }),
  }),
];
