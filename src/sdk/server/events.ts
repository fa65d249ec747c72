/** `AtriumServer.events`: the event log of the organization or of one room. */
import type { EventPage, WebhookEventName } from "../wire/events.ts";
import { Resource } from "./pages.ts";

/** Filters the event log; without a filter, all kept events. */
export interface EventFilter {
  /** Only events of this room, which must exist; otherwise the events of all rooms, deleted ones included. */
  readonly roomId?: string;
  /** The `cursor` of an earlier page: only later events. */
  readonly after?: string;
  /** Without `after`: only events recorded at or after this time (RFC 3339, or a date for the start of that UTC day). */
  readonly from?: string;
  /** Only these events. */
  readonly events?: readonly WebhookEventName[];
  /** The most events of a page: at most 100; 50 by default. */
  readonly limit?: number;
}

export class Events extends Resource {
  /**
   * One page, oldest first. Its `cursor` continues behind it, also when it is empty. Throws `GONE` when events that
   * follow `after` are no longer kept.
   */
  list({ roomId, ...query }: EventFilter = {}): Promise<EventPage> {
    return this.rest.get(roomId === undefined ? ["events"] : ["rooms", roomId, "events"], query);
  }

  /**
   * The pages up to the newest event, one after the other. Store each page's `cursor` once you have handled its events,
   * and you can continue from there.
   */
  async *pages(filter: EventFilter = {}): AsyncGenerator<EventPage, void, undefined> {
    const { from, ...rest } = filter;
    let page = await this.list(filter);
    yield page;
    while (page.has_more) {
      page = await this.list({ ...rest, after: page.cursor });
      yield page;
    }
  }
}
