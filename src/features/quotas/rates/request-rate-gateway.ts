/** The only way to the objects that know the rates of requests: turns an organization into its stub. */
import type { Env } from "../../../env.ts";
import type { RequestRates } from "./port/request-rate-port.ts";

export const requestRateGateway = (env: Pick<Env, "REQUEST_RATES">): RequestRates => ({
  report: async (accountId, report) => env.REQUEST_RATES.getByName(accountId).report(accountId, report),
});
