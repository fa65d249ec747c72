/** The room's comments: replies, edits by their authors, resolving and reactions. */

import { AppError, notFound } from "@atrium/contract/errors.ts";
import { LIMITS } from "@atrium/contract/limits.ts";
import type {
  CommentCreation,
  CommentEdit,
  CommentFilter,
  CommentPage,
} from "@atrium/contract/operations/comments.ts";
import type { InputOf, OutputOf } from "@atrium/contract/operations/room.ts";
import type { Comment } from "@atrium/contract/resources/comment.ts";
import { withoutContent } from "@atrium/contract/resources/erased-comment.ts";
import type { ThreadEvent } from "@atrium/contract/resources/events.ts";
import type { Author, Mentioned, Reader, Thread } from "@atrium/contract/resources/thread.ts";
import { byteLength, fold } from "@atrium/contract/text.ts";
import { presentTime } from "@atrium/contract/time.ts";
import { type CommentPart, commentIdOf, type StoredComment } from "../../storage/sqlite-content.ts";
import type { RoomStorage } from "../../storage/storage.ts";
import type { RoomPorts } from "../../transport/room-ports.ts";
import { type EventPorts, recordComment, recordThread } from "../outbox/room-events.ts";
import type { Changes } from "./changes.ts";
import { requireWithinLimit } from "./own-limits.ts";
import type { RoomThreads } from "./threads.ts";

/** Stored form of a comment: JSON, with or without its content. */
const rowOf = (comment: Comment): StoredComment => ({
  id: comment.id,
  threadId: comment.thread_id,
  resolved: comment.resolved,
  comment: JSON.stringify(comment),
});

/** The comment without users and identities in its mentions, reactions and resolution; null if it names none of them. */
function withoutUsers(comment: Comment, ids: ReadonlySet<string>): Comment | null {
  const { mentioned = [], resolved_by } = comment;
  const isResolver = typeof resolved_by === "string" && ids.has(resolved_by);
  const named = [
    ...[comment.mentions, ...Object.values(comment.reactions)].flat(),
    ...mentioned.map(({ id }) => id),
  ];
  if (!isResolver && !named.some((id) => ids.has(id))) return null;
  const others = (users: readonly string[]): string[] => users.filter((user) => !ids.has(user));
  const reactions = Object.entries(comment.reactions).map(([name, users]) => [name, others(users)] as const);
  const left = Object.fromEntries(reactions.filter(([, users]) => users.length > 0));
  const stay = mentioned.filter(({ id }) => !ids.has(id));
  const mentions = { mentions: others(comment.mentions), mentioned: stay.length > 0 ? stay : undefined };
  return { ...comment, ...mentions, reactions: left, ...(isResolver && { resolved_by: null }) };
}

/** The comment as it may be sent once these are erased. */
const withoutErased = (comment: Comment, erased: ReadonlySet<string>): Comment =>
  erased.has(comment.user_id) ? withoutContent(comment) : (withoutUsers(comment, erased) ?? comment);

/** A comment as {@link rowOf} wrote it. */
const parseComment = (row: StoredComment): Comment => JSON.parse(row.comment) as Comment;

/** Read limit per search chunk, so that a search blocks the room no longer than a large write. */
const MAX_READ = 1_000;
const MAX_READ_BYTES = 1024 * 1024;
const READ_AT_ONCE = 20;
/** Comments that one turn deletes, each with its change and its event. */
const MAX_DELETED = 100;

/** The fields of a remembered answer that name users. */
interface RememberedAnswer {
  readonly comment?: Comment;
  readonly comments?: readonly Comment[];
  readonly thread?: Thread;
  readonly unnotified?: readonly string[];
}

/** Mentions as comments have them: users by their IDs apart from identities and groups. */
function mentionsOf(mentions: CommentCreation["mentions"]): Pick<Comment, "mentions" | "mentioned"> {
  const mentioned = mentions.filter((mention) => typeof mention !== "string");
  return {
    mentions: mentions.filter((mention) => typeof mention === "string"),
    mentioned: mentioned.length > 0 ? mentioned : undefined,
  };
}

/** The people among these whom a comment does not mention yet. */
function newlyMentioned({ mentions, mentioned = [] }: Comment, recipients: Mentioned): Mentioned {
  const { readers, groups } = recipients;
  const known = new Set([...mentions, ...mentioned.map(({ id }) => id)]);
  return {
    ...recipients,
    readers: readers.filter(({ subject, userId }) => !known.has(subject) && !known.has(userId ?? subject)),
    groups: groups.filter((id) => !known.has(id)),
  };
}

const conflict = (why: string) => new AppError("Rooms", "CONFLICT", why);

export class RoomComments {
  readonly #ports: Pick<RoomPorts, "storage" | "now" | "newId" | "roomId" | "limits">;
  readonly #table: RoomStorage["comments"];
  readonly #changes: Changes;
  readonly #threads: RoomThreads;
  readonly #events: EventPorts;
  readonly #erased: ReadonlySet<string>;

  constructor(
    ports: Pick<RoomPorts, "storage" | "now" | "newId" | "roomId" | "limits">,
    changes: Changes,
    threads: RoomThreads,
    events: EventPorts,
    erased: ReadonlySet<string> = new Set(),
  ) {
    this.#ports = ports;
    this.#table = ports.storage.comments;
    this.#changes = changes;
    this.#threads = threads;
    this.#events = events;
    this.#erased = erased;
  }

  /** Starts a thread, or replies in one; NOT_FOUND when that thread has no comment. */
  create(input: CommentCreation, author: Author, mentioned: Mentioned): Comment {
    const { threadId, mentions, anchor = null, metadata, ...written } = input;
    const before = this.#threads.stateOf(threadId, author);
    if (this.#table.totals().comments >= LIMITS.comments)
      throw conflict(`A room can have at most ${LIMITS.comments} comments`);
    const unique = this.#ports.newId();
    const at = presentTime(this.#ports.now());
    const commentOf = (seq: number): Comment => {
      const id = commentIdOf(seq, unique);
      return {
        id,
        room_id: this.#ports.roomId(),
        user_id: author.userId,
        thread_id: threadId ?? id,
        ...written,
        anchor,
        metadata: metadata ?? undefined,
        ...mentionsOf(mentions),
        reactions: {},
        resolved: false,
        created_at: at,
        updated_at: at,
      };
    };
    this.#requireSpace(byteLength(rowOf(commentOf(0)).comment));
    const by = author.userId;
    const { seq } = this.#changes.append("commentCreated", (seq) => ({ comment: commentOf(seq), by }));
    const comment = commentOf(seq);
    const { id } = comment;
    this.#table.insert({ ...rowOf(comment), seq, at, author });
    const first = this.#firstMentions(id, mentioned);
    this.#threads.commented({ ...first, id, threadId: comment.thread_id, seq, author }, before);
    recordComment(this.#events, "comment.created", comment, by);
    if (comment.thread_id === id) this.#recordThread("thread.created", id, by);
    return comment;
  }

  list(page: CommentPage): Pick<OutputOf<"COMMENT_LIST">, "comments" | "total" | "next"> {
    return { ...this.part(page, page), total: this.#table.count(page) };
  }

  /** Some comments, oldest first, and the place behind which the next ones are; null at the end. */
  part(
    part: CommentPart,
    filter: CommentFilter = {},
  ): { readonly comments: Comment[]; readonly next: number | null } {
    const found = this.#table.list(filter, { ...part, limit: part.limit + 1 });
    const shown = found.slice(0, part.limit);
    const next = found.length > part.limit ? (shown.at(-1)?.seq ?? null) : null;
    return { comments: shown.map(parseComment), next };
  }

  /** The comments that exist, in the order of the IDs. */
  find(ids: readonly string[]): Comment[] {
    return ids.flatMap((id) => {
      const row = this.#table.find(id);
      return row === null ? [] : [parseComment(row)];
    });
  }

  /** Searches some of the comments behind a place, oldest first, for a folded text. `next` is the next place; null at the end. */
  search({ search, after, ...filter }: InputOf<"COMMENT_SEARCH">): OutputOf<"COMMENT_SEARCH"> {
    const comments: Comment[] = [];
    const positions: number[] = [];
    let position = after;
    let bytes = 0;
    for (let rows = 0; rows < MAX_READ && bytes < MAX_READ_BYTES; rows += READ_AT_ONCE) {
      const placed = this.#table.list(filter, { after: position, limit: READ_AT_ONCE });
      for (const row of placed) {
        bytes += row.comment.length;
        const comment = parseComment(row);
        if (!fold(comment.text).includes(search)) continue;
        comments.push(comment);
        positions.push(row.seq);
      }
      if (placed.length < READ_AT_ONCE) return { comments, positions, next: null };
      position = placed.at(-1)?.seq ?? position;
    }
    return { comments, positions, next: position };
  }

  /**
   * Edits the author's comment, or any for the organization (`by` null). FORBIDDEN for others. Null metadata is
   * removed. Notifies readers whom the comment has not mentioned before.
   */
  edit(
    id: string,
    { mentions, metadata, ...written }: Omit<CommentEdit, "resolved">,
    by: string | null,
    mentioned: Mentioned,
  ): Comment {
    const earlier = this.#getOwn(id, by);
    const comment: Comment = {
      ...earlier,
      ...written,
      text: written.text ?? earlier.text,
      ...(metadata !== undefined && { metadata: metadata ?? undefined }),
      ...(mentions && mentionsOf(mentions)),
      updated_at: presentTime(this.#ports.now()),
    };
    recordComment(this.#events, "comment.updated", comment, by);
    const commentSeq = this.#table.find(id)?.seq ?? 0;
    this.#save(comment, by);
    const { thread_id: threadId, user_id: userId } = comment;
    const { lastSeq: seq } = this.#changes;
    const first = this.#firstMentions(id, newlyMentioned(earlier, mentioned));
    this.#threads.mentioned({ id, threadId, seq, userId, commentSeq, ...first }, by);
    return comment;
  }

  /** The people among these who have not been notified of a mention in the comment before. */
  #firstMentions(id: string, { readers, groups, ...counted }: Mentioned): Mentioned {
    const notified = this.#table.notifiedOf(id);
    const asReader = (groupId: string): Reader => ({ subject: `group:${groupId}`, userId: null });
    const isFirst = ({ subject }: Reader) => !notified.has(subject);
    const first = {
      ...counted,
      readers: readers.filter(isFirst),
      groups: groups.filter((groupId) => isFirst(asReader(groupId))),
    };
    this.#table.addNotified(id, [...first.readers, ...first.groups.map(asReader)]);
    return first;
  }

  resolve(id: string, resolved: boolean, by: string | null): Comment {
    const earlier = this.#get(id);
    if (earlier.resolved === resolved) return earlier;
    const resolution = { resolved_at: presentTime(this.#ports.now()), resolved_by: by };
    const comment = { ...earlier, resolved, ...(resolved && resolution) };
    recordComment(this.#events, resolved ? "comment.resolved" : "comment.updated", comment, by);
    const wasResolved = this.#threads.get(comment.thread_id, null).resolved;
    this.#save(comment, by);
    if (resolved && !wasResolved && this.#threads.get(comment.thread_id, null).resolved)
      this.#recordThread("thread.resolved", comment.thread_id, by);
    return comment;
  }

  /** Resolves or reopens a thread by its first comment. */
  resolveThread(threadId: string, resolved: boolean, by: string | null): Thread {
    const [first] = this.#table.list({ threadId }, { after: 0, limit: 1 });
    if (first !== undefined) this.resolve(first.id, resolved, by);
    return this.#threads.get(threadId, null);
  }

  delete(id: string, by: string | null): Comment {
    const comment = this.#getOwn(id, by);
    if (!this.#isLast(comment)) this.#threads.uncommented(comment.thread_id, [id]);
    this.#remove(comment, by);
    return comment;
  }

  /**
   * Deletes a thread, for the organization. Comments disappear at once; the room removes the rows of a long
   * thread later.
   */
  deleteThread(threadId: string): Thread {
    const thread = this.#threads.get(threadId, null);
    this.#recordThread("thread.deleted", threadId, null);
    this.#threads.ending(threadId);
    this.#table.endThread(threadId, this.#events.cause());
    if (this.removeEnded()) this.#events.planAlarm();
    return thread;
  }

  /**
   * Removes some comments of deleted threads; the sent changes do not name the `erased`. True while others are
   * left.
   */
  removeEnded(erased = this.#erased): boolean {
    const ended = this.#table.findEnded();
    if (ended === null) return false;
    const as = { events: { ...this.#events, cause: () => ended.cause }, erased };
    let bytes = 0;
    for (let deleted = 0; deleted < MAX_DELETED && bytes < MAX_READ_BYTES; deleted += READ_AT_ONCE) {
      for (const row of this.#table.listEnded(ended.id, READ_AT_ONCE)) {
        bytes += row.comment.length;
        this.#remove(parseComment(row), null, as);
      }
    }
    return this.#table.findEnded() !== null;
  }

  #isLast({ thread_id }: Comment): boolean {
    return this.#table.hasLast(thread_id);
  }

  /** Sends the comment without those who are erased; the last one takes its thread with it. */
  #remove(removed: Comment, by: string | null, { events = this.#events, erased = this.#erased } = {}): void {
    const comment = withoutErased(removed, erased);
    if (this.#isLast(comment)) {
      this.#recordThread("thread.deleted", comment.thread_id, by);
      this.#threads.ending(comment.thread_id);
    }
    this.#table.delete(comment.id);
    this.#changes.append("commentDeleted", () => ({ comment, by }));
    recordComment(events, "comment.deleted", comment, by);
  }

  #recordThread(event: ThreadEvent["event"], threadId: string, by: string | null): void {
    recordThread(this.#events, event, this.#threads.get(threadId, null), by);
  }

  /** Adds or removes a user's reaction. Logs nothing when nothing changes. */
  react(id: string, reaction: string, on: boolean, by: string): Comment {
    const comment = this.#get(id);
    const reactions = new Map(Object.entries(comment.reactions));
    const users = reactions.get(reaction) ?? [];
    if (users.includes(by) === on) return comment;
    const others = users.filter((user) => user !== by);
    if (on) reactions.set(reaction, [...others, by]);
    else if (others.length > 0) reactions.set(reaction, others);
    else reactions.delete(reaction);
    if (reactions.size > LIMITS.reactions || others.length >= LIMITS.reactingUsers)
      throw conflict("The comment cannot take more reactions");
    return this.#save({ ...comment, reactions: Object.fromEntries(reactions) }, by);
  }

  /**
   * Deletes comments of users and identities, and removes their IDs from mentions, reactions and resolutions of
   * a chunk of others' comments behind `after`. Returns the next place; null at the end. The deletions are sent
   * without text.
   */
  eraseSome(ids: readonly string[], after: number): number | null {
    const ofErased = new Set([...this.#erased, ...ids]);
    if (this.removeEnded(ofErased)) return after;
    const erased: Comment[] = [];
    let [position, rows, bytes] = [after, 0, 0];
    while (rows < MAX_READ && bytes < MAX_READ_BYTES && erased.length < MAX_DELETED) {
      const placed = this.#table.list({}, { after: position, limit: READ_AT_ONCE });
      for (const row of placed) {
        const comment = parseComment(row);
        bytes += row.comment.length;
        if (ids.includes(comment.user_id)) {
          this.#remove(comment, null, { erased: ofErased });
          erased.push(comment);
        } else {
          const left = withoutUsers(comment, ofErased);
          if (left !== null) this.#save(left, null);
        }
      }
      rows += placed.length;
      position = placed.at(-1)?.seq ?? position;
      if (placed.length < READ_AT_ONCE) break;
    }
    for (const [threadId, comments] of Map.groupBy(erased, ({ thread_id }) => thread_id)) {
      const ids = comments.map(({ id }) => id);
      if (this.#table.hasThread(threadId)) this.#threads.uncommented(threadId, ids);
    }
    return position === after ? null : position;
  }

  /** Removes users and identities from the answers in receipts. Repeated requests are still recognized. */
  eraseFromAnswers(ids: readonly string[]): void {
    const { receipts } = this.#ports.storage;
    const erased = new Set(ids);
    const rewrite = (json: string): string => {
      const { comment, comments, ...others } = JSON.parse(json) as RememberedAnswer;
      const { thread, unnotified } = others;
      const isResolver = erased.has(thread?.resolved_by ?? "");
      return JSON.stringify({
        ...others,
        comment: comment && withoutErased(comment, erased),
        comments: comments?.map((each) => withoutErased(each, erased)),
        thread: isResolver ? { ...thread, resolved_by: null } : thread,
        unnotified: unnotified?.filter((id) => !erased.has(id)),
      });
    };
    for (const id of ids) receipts.rewriteNaming(id, rewrite);
  }

  /** CONFLICT when the room's comments cannot grow by this number of bytes, FORBIDDEN above the room's own limit. */
  #requireSpace(growth: number): void {
    const limit = this.#ports.limits().commentBytes;
    const { bytes } = this.#table.totals();
    requireWithinLimit(this.#ports.storage, "commentBytes", bytes, bytes + growth);
    if (growth > 0 && bytes + growth > limit)
      throw conflict(`The comments of this room can have at most ${limit} bytes; delete some`);
  }

  #get(id: string): Comment {
    const row = this.#table.find(id);
    if (row === null) throw notFound("Rooms", "Comment");
    return parseComment(row);
  }

  #getOwn(id: string, by: string | null): Comment {
    const comment = this.#get(id);
    if (by === null || comment.user_id === by) return comment;
    throw new AppError("Rooms", "FORBIDDEN", "Only the author of a comment can change or delete it");
  }

  #save(comment: Comment, by: string | null): Comment {
    const row = rowOf(comment);
    this.#requireSpace(byteLength(row.comment) - byteLength(this.#table.find(comment.id)?.comment ?? ""));
    this.#table.update(row);
    this.#changes.append("commentUpdated", () => ({ comment, by }));
    return comment;
  }
}
