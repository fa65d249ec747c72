/** `AtriumServer.requests`: the log of the latest requests to the API, some of them sampled. */
import type { ApiRequest } from "../wire/resources.ts";
import { Resource } from "./pages.ts";

/** Filters the request log; without a filter, all kept requests. */
export interface RequestFilter {
  /** At most 100; 50 by default. */
  readonly limit?: number;
  /** The `cursor` of an earlier page: only older requests. */
  readonly after?: string;
  /** True for requests with a status of 400 or more only. */
  readonly failed?: boolean;
  /** Only requests to this operation of the API, such as `deleteRoom`. */
  readonly operation?: string;
  /** Only requests with this API key, or by this member or user. */
  readonly credentialId?: string;
  readonly roomId?: string;
}

export class Requests extends Resource {
  /** Newest first, about a second late. */
  list(
    filter: RequestFilter = {},
  ): Promise<{ readonly requests: ApiRequest[]; readonly cursor: string | null }> {
    return this.rest.get(["requests"], filter);
  }

  /** A request by its request ID, as `AtriumError.requestId` has it. Throws `NOT_FOUND` when it is not in the log. */
  async get(requestId: string): Promise<ApiRequest> {
    return (await this.rest.get<{ request: ApiRequest }>(["requests", requestId])).request;
  }
}
