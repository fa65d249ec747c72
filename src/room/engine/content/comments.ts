/** The room's comments: replies, edits by their authors, resolving and reactions. */

import { AppError, notFound } from "../../../platform/errors.ts";
import { byteLength, fold } from "../../../platform/text.ts";
import { presentTime } from "../../../platform/time.ts";
import type { Comment } from "../../../wire/comment.ts";
import type { ThreadEvent } from "../../../wire/events.ts";
import type { Author, Mentioned, Reader, Thread } from "../../../wire/thread.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { CommentCreation, CommentEdit, CommentPage } from "../../protocol/messages.ts";
import type { CommentFilter, CommentPart, StoredComment } from "../../storage/sqlite-content.ts";
import type { RoomStorage } from "../../storage/storage.ts";
import type { RoomPorts } from "../../transport/room-ports.ts";
import { type EventPorts, recordComment, recordThread } from "../outbox/room-events.ts";
import type { Changes } from "./changes.ts";
import type { StoreQuota } from "./stores.ts";
import type { Threads } from "./threads.ts";

/** A comment as storage has it: as JSON, with or without its content. */
const rowOf = (comment: Comment): StoredComment => ({
  id: comment.id,
  threadId: comment.thread_id,
  resolved: comment.resolved,
  comment: JSON.stringify(comment),
});

/** A comment whose author is erased, as it is sent. */
const withoutContent = (comment: Comment): Comment => ({
  ...comment,
  text: "",
  anchor: null,
  metadata: undefined,
  mentions: [],
  mentioned: undefined,
  reactions: {},
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

/** One turn reads no more, so that others in the room wait for it no longer than for a large write. */
const MAX_READ = 1_000;
const MAX_READ_BYTES = 1024 * 1024;
const READ_AT_ONCE = 20;
/** Comments that one turn deletes, each with its change and its event. */
const MAX_DELETED = 100;

interface CommentSearch {
  readonly search: string;
  readonly threadId?: string | null | undefined;
  readonly resolved?: boolean | null | undefined;
  readonly after: number;
}

export interface CommentsFound {
  readonly comments: readonly Comment[];
  readonly positions: readonly number[];
  readonly next: number | null;
}

export interface CommentsListed {
  readonly comments: readonly Comment[];
  /** On all pages. */
  readonly total: number;
  /** The place behind which the next page begins; null on the last one. */
  readonly next: number | null;
}

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
function furtherThan({ mentions, mentioned = [] }: Comment, addressees: Mentioned): Mentioned {
  const { readers, groups } = addressees;
  const known = new Set([...mentions, ...mentioned.map(({ id }) => id)]);
  return {
    ...addressees,
    readers: readers.filter(({ subject, userId }) => !known.has(subject) && !known.has(userId ?? subject)),
    groups: groups.filter((id) => !known.has(id)),
  };
}

const ALL: CommentFilter = { threadId: null, resolved: null };

/** Refuses JSON of more bytes. */
function requireSize(field: string, value: unknown, bytes: number): void {
  if (byteLength(JSON.stringify(value)) <= bytes) return;
  throw new AppError("Rooms", "VALIDATION_ERROR", `${field}: must have at most ${bytes} bytes`);
}

const conflict = (why: string) => new AppError("Rooms", "CONFLICT", why);

export class Comments {
  readonly #ports: Pick<RoomPorts, "storage" | "now" | "newId" | "roomId">;
  readonly #table: RoomStorage["comments"];
  readonly #changes: Changes;
  readonly #threads: Threads;
  readonly #events: EventPorts;
  readonly #quota: Pick<StoreQuota, "maxCommentBytes">;
  readonly #erased: ReadonlySet<string>;

  constructor(
    ports: Pick<RoomPorts, "storage" | "now" | "newId" | "roomId">,
    changes: Changes,
    threads: Threads,
    events: EventPorts,
    quota: Pick<StoreQuota, "maxCommentBytes">,
    erased: ReadonlySet<string> = new Set(),
  ) {
    this.#ports = ports;
    this.#table = ports.storage.comments;
    this.#changes = changes;
    this.#threads = threads;
    this.#events = events;
    this.#quota = quota;
    this.#erased = erased;
  }

  /** Starts a thread, or replies in one; NOT_FOUND when that thread has no comment. */
  create(input: CommentCreation, author: Author, mentioned: Mentioned): Comment {
    const { threadId, anchor = null, metadata = null } = input;
    requireSize("anchor", anchor, LIMITS.anchorBytes);
    requireSize("metadata", metadata, LIMITS.commentMetadataBytes);
    if (threadId !== undefined && !this.#table.hasThread(threadId)) throw notFound("Rooms", "Thread");
    if (this.#table.totals().comments >= LIMITS.comments)
      throw conflict(`A room can have at most ${LIMITS.comments} comments`);
    const id = this.#ports.newId();
    const at = presentTime(this.#ports.now());
    const comment: Comment = {
      id,
      room_id: this.#ports.roomId(),
      user_id: author.userId,
      thread_id: threadId ?? id,
      text: input.text,
      anchor,
      ...(metadata !== null && { metadata }),
      ...mentionsOf(input.mentions),
      reactions: {},
      resolved: false,
      created_at: at,
      updated_at: at,
    };
    const row = rowOf(comment);
    this.#requireSpace(byteLength(row.comment));
    const { seq } = this.#changes.append("commentCreated", () => ({ comment, by: author.userId }));
    this.#table.insert({ ...row, seq });
    const first = this.#firstMentions(id, mentioned);
    this.#threads.commented({ ...first, id, threadId: comment.thread_id, seq, author });
    recordComment(this.#events, "comment.created", comment, author.userId);
    if (comment.thread_id === id) this.#recordThread("thread.created", id, author.userId);
    return comment;
  }

  list({ threadId, resolved, ...part }: CommentPage): CommentsListed {
    const filter = { threadId: threadId ?? null, resolved: resolved ?? null };
    return { ...this.part(part, filter), total: this.#table.count(filter) };
  }

  /** Some comments, oldest first, and the place behind which the next ones are; null at the end. */
  part(part: CommentPart, filter = ALL): { readonly comments: Comment[]; readonly next: number | null } {
    const found = this.#table.list(filter, { ...part, limit: part.limit + 1 });
    const shown = found.slice(0, part.limit);
    const next = found.length > part.limit ? (shown.at(-1)?.position ?? null) : null;
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
  search({ search, threadId = null, resolved = null, after }: CommentSearch): CommentsFound {
    const comments: Comment[] = [];
    const positions: number[] = [];
    let position = after;
    let bytes = 0;
    for (let rows = 0; rows < MAX_READ && bytes < MAX_READ_BYTES; rows += READ_AT_ONCE) {
      const placed = this.#table.list({ threadId, resolved }, { after: position, limit: READ_AT_ONCE });
      for (const row of placed) {
        bytes += row.comment.length;
        const comment = parseComment(row);
        if (!fold(comment.text).includes(search)) continue;
        comments.push(comment);
        positions.push(row.position);
      }
      if (placed.length < READ_AT_ONCE) return { comments, positions, next: null };
      position = placed.at(-1)?.position ?? position;
    }
    return { comments, positions, next: position };
  }

  /**
   * For the author, and for the organization (`by` null). FORBIDDEN for others. Metadata that is null is removed.
   * Notifies those whom the comment has not mentioned before.
   */
  edit(
    id: string,
    { text, anchor, metadata, mentions }: Omit<CommentEdit, "resolved">,
    by: string | null,
    mentioned: Mentioned,
  ): Comment {
    const earlier = this.#getOwn(id, by);
    if (anchor !== undefined) requireSize("anchor", anchor, LIMITS.anchorBytes);
    if (metadata !== undefined) requireSize("metadata", metadata, LIMITS.commentMetadataBytes);
    const comment: Comment = {
      ...earlier,
      text: text ?? earlier.text,
      anchor: anchor === undefined ? earlier.anchor : anchor,
      metadata: metadata === undefined ? earlier.metadata : (metadata ?? undefined),
      ...(mentions && mentionsOf(mentions)),
      updated_at: presentTime(this.#ports.now()),
    };
    recordComment(this.#events, "comment.updated", comment, by);
    const commentSeq = this.#table.find(id)?.seq ?? 0;
    this.#save(comment, by);
    const { thread_id: threadId, user_id: userId } = comment;
    const { lastSeq: seq } = this.#changes;
    const first = this.#firstMentions(id, furtherThan(earlier, mentioned));
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
  resolveThread(threadId: string, resolved: boolean): Thread {
    const [first] = this.#table.list({ threadId, resolved: null }, { after: 0, limit: 1 });
    if (first !== undefined) this.resolve(first.id, resolved, null);
    return this.#threads.get(threadId, null);
  }

  delete(id: string, by: string | null): Comment {
    const comment = this.#getOwn(id, by);
    if (!this.#isLast(comment)) this.#threads.uncommented(comment.thread_id, [id]);
    this.#remove(comment, by);
    return comment;
  }

  /** Deletes a thread, for the organization. No one finds its comments any more; of many, the room removes most later. */
  deleteThread(threadId: string): Thread {
    const thread = this.#threads.get(threadId, null);
    this.#recordThread("thread.deleted", threadId, null);
    this.#threads.ending(threadId);
    this.#table.endThread(threadId, this.#events.cause());
    if (this.removeEnded()) this.#events.planAlarm();
    return thread;
  }

  /** Removes some comments of deleted threads; what is sent does not name the `erased`. True while others are left. */
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

  /** Adds or removes a user's reaction. Without a difference nothing is logged. */
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
   * Deletes comments of users and identities, and takes their IDs out of the mentions, reactions and resolutions of others'
   * comments: in some behind a place. Returns the next place; null at the end. The deletions are sent without text.
   */
  eraseSome(ids: readonly string[], after: number): number | null {
    const ofErased = new Set([...this.#erased, ...ids]);
    if (this.removeEnded(ofErased)) return after;
    const erased: Comment[] = [];
    let [position, rows, bytes] = [after, 0, 0];
    while (rows < MAX_READ && bytes < MAX_READ_BYTES && erased.length < MAX_DELETED) {
      const placed = this.#table.list(ALL, { after: position, limit: READ_AT_ONCE });
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
      position = placed.at(-1)?.position ?? position;
      if (placed.length < READ_AT_ONCE) break;
    }
    for (const [threadId, comments] of Map.groupBy(erased, ({ thread_id }) => thread_id)) {
      const ids = comments.map(({ id }) => id);
      if (this.#table.hasThread(threadId)) this.#threads.uncommented(threadId, ids);
    }
    return position === after ? null : position;
  }

  /** Takes users and identities out of the answers that a repeated request receives: it is still done once. */
  eraseFromAnswers(ids: readonly string[]): void {
    const { receipts } = this.#ports.storage;
    const erased = new Set(ids);
    for (const receipt of ids.flatMap((id) => receipts.listNaming(id))) {
      const { comment, comments, ...others } = JSON.parse(receipt.answer) as RememberedAnswer;
      const { thread, unnotified } = others;
      const isResolver = erased.has(thread?.resolved_by ?? "");
      const answer = {
        ...others,
        comment: comment && withoutErased(comment, erased),
        comments: comments?.map((each) => withoutErased(each, erased)),
        thread: isResolver ? { ...thread, resolved_by: null } : thread,
        unnotified: unnotified?.filter((id) => !erased.has(id)),
      };
      receipts.rewrite({ ...receipt, answer: JSON.stringify(answer) });
    }
  }

  /** CONFLICT when the room's comments cannot grow by so many bytes. */
  #requireSpace(growth: number): void {
    const limit = this.#quota.maxCommentBytes;
    if (growth > 0 && this.#table.totals().bytes + growth > limit)
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
