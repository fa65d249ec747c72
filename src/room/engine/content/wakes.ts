/** Wakes the agents that comments mention: the rule that bounds chains of them, and the records of a wake. */
import { LIMITS } from "@atrium/contract/limits.ts";
import type { Comment } from "@atrium/contract/resources/comment.ts";
import type { AgentMentionedEvent } from "@atrium/contract/resources/events.ts";
import type { CommentAuthor, MentionedAgent, MentionRecipients } from "@atrium/contract/resources/thread.ts";
import { byteLength, cutToBytes } from "@atrium/contract/text.ts";
import { type EventPorts, recordAgentMention } from "../outbox/room-events.ts";

/** The facts that decide which agents a comment wakes. */
export interface WakeSituation {
  /** The agents that it mentions, in their order; one may stand for several mentions. */
  readonly agents: readonly MentionedAgent[];
  readonly author: CommentAuthor;
  /** The identities that the comment has woken before. */
  readonly woken: ReadonlySet<string>;
  /** The depth of what an agent or a workflow answers with the comment; null for a person, whom nothing bounds. */
  readonly causeDepth: number | null;
  /** The wakes by agents in the room's hour, and of an identity on its day. */
  readonly spent: number;
  readonly spentOn: (identityId: string) => number;
}

export interface WakePlan {
  readonly woken: readonly MentionedAgent[];
  readonly refused: readonly MentionedAgent[];
  /** Depth of the mentions. */
  readonly depth: number;
}

/** The agents that a comment wakes: none twice, not its author, and within depth and budgets unless a person has written it. Pure. */
export function planWakes(situation: WakeSituation): WakePlan {
  const { agents, author, woken: before, causeDepth, spent, spentOn } = situation;
  const depth = (causeDepth ?? 0) + 1;
  const left = causeDepth === null ? LIMITS.wokenAgents : LIMITS.wakesInRoom - spent;
  const most = depth > LIMITS.wakeDepth ? 0 : Math.min(left, LIMITS.wokenAgents);
  const woken: MentionedAgent[] = [];
  const refused: MentionedAgent[] = [];
  const done = new Set([author.identityId, ...before]);
  for (const agent of agents) {
    const { identityId } = agent;
    if (done.has(identityId)) continue;
    done.add(identityId);
    const isSpent = causeDepth !== null && spentOn(identityId) >= LIMITS.wakesOfAgent;
    (woken.length < most && !isSpent ? woken : refused).push(agent);
  }
  return { woken, refused, depth };
}

/** The texts that an agent receives, oldest first, from the latest comments down: as many as fit, long ones cut. Pure. */
export function textsOf(latest: readonly Comment[]): AgentMentionedEvent["thread"]["comments"] {
  let left: number = LIMITS.wakeTextBytes;
  const texts = latest.map(({ id, user_id, text: whole, created_at }) => {
    const text = cutToBytes(whole, Math.min(left, LIMITS.wakeTextBytesOfOne));
    left -= byteLength(text);
    return { id, user_id, text, created_at };
  });
  return texts.filter(({ text }) => text !== "").toReversed();
}

/** A comment whose author is gone is its organization's. */
const ORGANIZATION: CommentAuthor = { identityId: null, kind: "person" };

export class RoomWakes {
  readonly #ports: EventPorts;

  constructor(ports: EventPorts) {
    this.#ports = ports;
  }

  /**
   * Wakes the agents that a comment mentions, in the transaction that writes it: each by an event. Returns the IDs by which
   * the comment mentions those that are not woken.
   */
  wake(comment: Comment, { agents = [], author = ORGANIZATION }: MentionRecipients): readonly string[] {
    if (agents.length === 0) return [];
    const { storage, now } = this.#ports;
    const { wakes } = storage;
    const { id: commentId } = comment;
    const at = now();
    const causeDepth = this.#causeDepth(author, at);
    const { woken, refused, depth } = planWakes({
      ...{ agents, author, causeDepth },
      woken: wakes.wokenBy(commentId),
      spent: wakes.countOf(null, at),
      spentOn: (identityId) => wakes.countOf(identityId, at),
    });
    const thread = woken.length === 0 ? null : this.#threadOf(comment);
    for (const agent of woken) {
      const { identityId } = agent;
      wakes.add({ commentId, identityId, depth, at, isByAgent: causeDepth !== null });
      if (thread !== null) recordAgentMention(this.#ports, { comment, agent, author, depth, thread });
    }
    return refused.map(({ mention }) => mention);
  }

  /**
   * An agent's comment answers the latest mention of it, wherever it is written: the depth of agents that answer each other
   * grows, as none is set back but by a person. Null for a person's own comment.
   */
  #causeDepth({ identityId, kind }: CommentAuthor, at: number): number | null {
    const run = this.#ports.cause();
    if (kind !== "agent") return run?.depth ?? null;
    return Math.max(this.#ports.storage.wakes.depthOf(identityId ?? "", at), run?.depth ?? 0);
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
