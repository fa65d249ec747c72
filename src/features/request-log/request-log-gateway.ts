/** The only way to the objects of request logs: turns an organization into its stub. */
import type { Env } from "../../env.ts";
import type { RequestLogGateway } from "./port/request-log-port.ts";

export function requestLogGateway(env: Pick<Env, "REQUEST_LOGS">): RequestLogGateway {
  const stub = (accountId: string) => env.REQUEST_LOGS.getByName(accountId);
  return {
    append: async (accountId, requests) => stub(accountId).append(requests),
    list: async (accountId, query) => stub(accountId).list(query),
    find: async (accountId, id) => stub(accountId).find(id),
    remove: async (accountId) => stub(accountId).remove(),
  };
}
