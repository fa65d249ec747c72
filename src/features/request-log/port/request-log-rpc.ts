/** The RPC interface of the objects that keep request logs. */
import type { LoggedRequest } from "./logged-request.ts";
import type { RequestLogPage, RequestLogQuery } from "./request-log-port.ts";

export interface RequestLogRpc extends Rpc.DurableObjectBranded {
  append(requests: readonly LoggedRequest[]): void;
  list(query: RequestLogQuery): RequestLogPage;
  find(id: string): LoggedRequest | null;
  remove(): Promise<void>;
}
