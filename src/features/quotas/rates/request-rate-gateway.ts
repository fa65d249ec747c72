/** Opens the objects that know the rates of requests: one for each organization. */
import type { Env } from "../../../env.ts";
import { openStub } from "../../../platform/objects/rpc.ts";
import type { RequestRateObject } from "./object/request-rate-object.ts";
import type { RequestRates } from "./port/request-rate-port.ts";

export const openRequestRates = (env: Pick<Env, "REQUEST_RATES">): RequestRates => ({
  report: (accountId, report) =>
    openStub<RequestRateObject>(env.REQUEST_RATES, accountId).report(accountId, report),
});
