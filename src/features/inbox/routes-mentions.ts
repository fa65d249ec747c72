/** The endpoint of the mentions that wake an agent. */
import { MentionPage, MentionQuery } from "@atrium/contract/rest/event-log.ts";
import { endpointsFor } from "../../http/endpoint.ts";
import { listOwnMentions, type MentionContext } from "./mentions.ts";

const { endpoint } = endpointsFor<MentionContext>({ module: "Inbox" });

export const endpoints = [
  endpoint({
    right: "identity",
    method: "GET",
    path: "/me/mentions",
    operation: "listOwnMentions",
    summary: "List the mentions of an agent",
    details:
      "Oldest first: the `agent.mentioned` events of the calling identity in the rooms that it may enter now, and that its token names. A mention that wakes no agent is not among them. An agent reads from `after` until `has_more` is false; with `now`, it begins with the mentions that are still to come. They are kept as the event log is, for 30 days, unless the operator of the service has set another time; an older cursor goes on with the oldest that are kept. A cursor that a restore of the organization has lost answers `GONE`. Guests are no agents: `FORBIDDEN`.",
    errors: ["FORBIDDEN", "GONE"],
    query: MentionQuery,
    done: "Mentions retrieved",
    data: MentionPage,
    handle: (ctx, { query }) => listOwnMentions(ctx, query),
  }),
];
