/** Wakes the agents that comments mention: the rule that bounds chains of them, and the records of a wake. */
import { LIMITS } from "@atrium/contract/limits.ts";
import type { Comment } from "@atrium/contract/resources/comment.ts";
import type { AgentMentionedEvent } from "@atrium/contract/resources/events.ts";
import type { CommentAuthor, MentionedAgent, MentionRecipients } from "@atrium/contract/resources/thread.ts";
import { byteLength } from "@atrium/contract/text.ts";
import { type EventPorts, recordAgentMention } from "../outbox/room-events.ts";

/** The facts that decide which agents a comment wakes. */
export interface WakeSituation {
  /** The agents that it mentions, in their order; one may stand for several mentions. */
  readonly agents: readonly MentionedAgent[];
  readonly author: CommentAuthor;
  /** The identities that the comment has woken before. */
  readonly woken: ReadonlySet<string>;
  /** The depth of the deepest mention of the author that is still a cause; 0 without one. */
  readonly causeDepth: number;
  /** The wakes by comments of agents that still count. */
  readonly spent: number;
}

export interface WakePlan {
  readonly woken: readonly MentionedAgent[];
  readonly refused: readonly MentionedAgent[];
  /** Depth of the mentions. */
  readonly depth: number;
}

/** The agents that a comment wakes: none twice, not its author, and within depth and budget if an agent has written it. Pure. */
export function planWakes({ agents, author, woken, causeDepth, spent }: WakeSituation): WakePlan {
  const isByAgent = author.kind === "agent";
  const depth = isByAgent ? causeDepth + 1 : 1;
  const mentioned = new Map(agents.toReversed().map((agent) => [agent.identityId, agent]));
  const fresh = [...mentioned.values()]
    .toReversed()
    .filter(({ identityId }) => identityId !== author.identityId && !woken.has(identityId));
  const budget = isByAgent ? Math.max(0, LIMITS.wakesByAgents - spent) : fresh.length;
  const allowed = depth > LIMITS.wakeDepth ? 0 : Math.min(budget, LIMITS.wokenAgents);
  return { woken: fresh.slice(0, allowed), refused: fresh.slice(allowed), depth };
}

/** The texts that an agent receives, oldest first, from the latest comments down: as many as fit. Pure. */
export function textsOf(latest: readonly Comment[]): AgentMentionedEvent["thread"]["comments"] {
  let bytes = 0;
  const end = latest.findIndex(({ text }) => {
    bytes += byteLength(text);
    return bytes > LIMITS.wakeTextBytes;
  });
  const fitting = end === -1 ? latest : latest.slice(0, end);
  return fitting.map(({ id, user_id, text, created_at }) => ({ id, user_id, text, created_at })).toReversed();
}

/** A comment whose author is gone is its organization's. */
const ORGANIZATION: CommentAuthor = { identityId: null, kind: "person" };

export class RoomWakes {
  readonly #ports: EventPorts;

  constructor(ports: EventPorts) {
    this.#ports = ports;
  }

  /**
   * Wakes the agents that a comment mentions, in the transaction that writes it: each by an event, and by an update for its
   * inbox. Returns the IDs by which the comment mentions those that are not woken.
   */
  wake(comment: Comment, { agents = [], author = ORGANIZATION }: MentionRecipients): readonly string[] {
    if (agents.length === 0) return [];
    const { storage, now } = this.#ports;
    const { wakes } = storage;
    const { id: commentId, thread_id: threadId } = comment;
    const [at, since] = [now(), now() - LIMITS.wakeLifetimeMs];
    const isByAgent = author.kind === "agent";
    // A thread that an agent starts has no mention of it yet: its cause is in another one.
    const causeThread = threadId === commentId ? null : threadId;
    const plan = planWakes({
      agents,
      author,
      woken: wakes.wokenBy(commentId),
      causeDepth: isByAgent ? wakes.depthOf(author.identityId ?? "", causeThread, since) : 0,
      spent: isByAgent ? wakes.countByAgents(since) : 0,
    });
    const { woken, refused, depth } = plan;
    if (woken.length > 0) {
      const thread = this.#threadOf(comment);
      wakes.deleteUntil(since);
      for (const agent of woken) {
        const { identityId } = agent;
        wakes.add({ commentId, threadId, identityId, depth, at, isByAgent });
        recordAgentMention(this.#ports, { comment, agent, author, depth, thread });
      }
    }
    return refused.map(({ mention }) => mention);
  }

  #threadOf({ id, thread_id: threadId }: Comment): AgentMentionedEvent["thread"] {
    const { comments } = this.#ports.storage;
    const parse = ({ comment }: { readonly comment: string }) => JSON.parse(comment) as Comment;
    const row = comments.find(threadId);
    const { user_id = null, metadata } = row === null ? {} : parse(row);
    const latest = comments.latest(threadId, LIMITS.wakeComments + 1).map(parse);
    const others = latest.filter((other) => other.id !== id).slice(0, LIMITS.wakeComments);
    return { id: threadId, user_id, metadata, comments: textsOf(others) };
  }
}
