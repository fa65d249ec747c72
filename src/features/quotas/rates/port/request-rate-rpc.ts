/** The RPC interface of the objects behind the port. It is the one file of the port that knows the Workers runtime. */
import type { RateReport, RateShare } from "./request-rate-port.ts";

export interface RequestRateRpc extends Rpc.DurableObjectBranded {
  report(accountId: string, report: RateReport): Promise<RateShare>;
}
