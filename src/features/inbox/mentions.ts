/** The mentions that wake an agent, from the event log. */
import { AppError } from "@atrium/contract/errors.ts";
import type { AgentMentionedEvent } from "@atrium/contract/resources/events.ts";
import type { MentionPage, MentionQuery } from "@atrium/contract/rest/event-log.ts";
import type * as z from "zod";
import { type EventLogContext, listMentionsOf } from "../events/queries.ts";
import { type InboxContext, ownInbox } from "./commands.ts";
import { readInboxAccess, visibleRooms } from "./recipients/access.ts";

export type MentionContext = EventLogContext & InboxContext;

/**
 * A page of the mentions of the calling identity, of the rooms that it may enter now within its token. BAD_REQUEST for a
 * cursor of another identity or log, GONE for one that a restore has lost, FORBIDDEN for guests.
 */
export async function listOwnMentions(
  ctx: MentionContext,
  query: z.infer<typeof MentionQuery>,
): Promise<MentionPage> {
  const { actor } = ctx;
  const { caller } = ownInbox(ctx);
  if (actor.type === "identity" && actor.isGuest)
    throw new AppError("Inbox", "FORBIDDEN", "Guests are no agents: nothing wakes them");
  const page = await listMentionsOf(ctx, caller.identityId, query);
  const own = page.events.filter(
    (event): event is AgentMentionedEvent =>
      event.event === "agent.mentioned" && event.data.identityId === caller.identityId,
  );
  if (own.length === 0) return { ...page, events: [] };
  const access = await readInboxAccess(ctx, caller.identityId, [
    ...new Set(own.map(({ data }) => data.roomId)),
  ]);
  const visible = new Set(visibleRooms(access, caller));
  return { ...page, events: own.filter(({ data }) => visible.has(data.roomId)) };
}
