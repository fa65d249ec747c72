/** The endpoints that read the event log. */

import { EventLogQuery, EventPage } from "@atrium/contract/rest/event-log.ts";
import { endpointsFor } from "../../http/endpoint.ts";
import { type EventLogContext, listEvents, listRoomEvents } from "./queries.ts";

const { endpoint } = endpointsFor<EventLogContext>({ module: "Events" });

const RETENTION =
  "Events are kept for 30 days, unless the operator of the service has set another time. A cursor whose events are no longer kept answers `GONE`, and says from when on events are.";

export const endpoints = [
  endpoint({
    method: "GET",
    path: "/events",
    operation: "listEvents",
    sdk: "events.list(filter?: EventFilter): data",
    summary: "Read the events of the organization again",
    details: `Oldest first: the events of all rooms, also of deleted ones, and of the organization's identities and groups, whether a webhook wanted them or not. Events of one room are in the order in which they happened; events of different rooms in about the order of time. A receiver that has lost something reads from \`from\` or \`after\` until \`has_more\` is false: no event is ever recorded behind a cursor. ${RETENTION}`,
    errors: ["GONE"],
    query: EventLogQuery,
    done: "Events retrieved",
    data: EventPage,
    handle: (ctx, { query }) => listEvents(ctx, query),
  }),
  endpoint({
    method: "GET",
    path: "/rooms/:roomId/events",
    operation: "listRoomEvents",
    sdk: "events.list({ roomId }): data",
    summary: "Read the events of a room again",
    details: `Oldest first, in the order in which they happened. ${RETENTION}`,
    errors: ["NOT_FOUND", "GONE"],
    query: EventLogQuery,
    done: "Events retrieved",
    data: EventPage,
    handle: (ctx, { params, query }) => listRoomEvents(ctx, params.roomId, query),
  }),
];
