/** `AtriumServer.events`, the event log, and `AtriumServer.requests`, the log of the latest requests to the API. */
import type * as wire from "../wire/resources.ts";
import { type Listed, Resource, type ScrollShown } from "./pages.ts";

/** Filters the event log; without a filter, all kept events. */
export interface EventFilter {
  /** Only events of this room, which must exist; otherwise the events of all rooms, deleted ones included. */
  readonly roomId?: string | undefined;
  /** The `cursor` of an earlier page: only later events. */
  readonly after?: string | undefined;
  /** Without `after`: only events recorded at or after this time (RFC 3339, or a date for the start of that UTC day). */
  readonly from?: string | undefined;
  /** Only these events. */
  readonly events?: readonly wire.WebhookEventName[] | undefined;
  /** The most events of a page: at most 100; 50 by default. */
  readonly limit?: number | undefined;
}

export class Events extends Resource {
  /** One page, oldest first. Its `cursor` continues behind it. `GONE` when events after `after` are no longer kept. */
  list({ roomId, ...query }: EventFilter = {}): Promise<wire.EventPage> {
    return this.rest.get(roomId === undefined ? ["events"] : ["rooms", roomId, "events"], query);
  }

  /** The pages up to the newest event. Store a page's `cursor` once its events are handled, to continue from there. */
  async *pages(filter: EventFilter = {}): AsyncGenerator<wire.EventPage, void, undefined> {
    const { from, ...rest } = filter;
    let page = await this.list(filter);
    yield page;
    while (page.has_more) {
      page = await this.list({ ...rest, after: page.cursor });
      yield page;
    }
  }
}

/** Filters the request log; without a filter, all kept requests. */
export interface RequestFilter {
  /** At most 100; 50 by default. */
  readonly limit?: number | undefined;
  /** The `cursor` of an earlier page: only older requests. */
  readonly after?: string | undefined;
  /** True for requests with a status of 400 or more only. */
  readonly failed?: boolean | undefined;
  /** Only requests to this operation of the API, such as `deleteRoom`. */
  readonly operation?: string | undefined;
  /** Only requests with this API key, or by this member or user. */
  readonly credentialId?: string | undefined;
  readonly roomId?: string | undefined;
}

/** `AtriumServer.requests`: the latest requests to the API. */
export class Requests extends Resource {
  /** Newest first, about a second late; some are sampled. */
  list(
    filter: RequestFilter = {},
  ): Promise<Listed<"requests", wire.ApiRequest, Pick<ScrollShown, "cursor">>> {
    return this.rest.get(["requests"], filter);
  }

  /** A request by its request ID, as `AtriumError.requestId` has it. Throws `NOT_FOUND` when it is not in the log. */
  get(requestId: string): Promise<wire.ApiRequest> {
    return this.only("request", this.rest.get(["requests", requestId]));
  }
}
