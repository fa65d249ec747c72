/** The room's comments: threads, edits by their authors, resolving, reactions. */
import { AppError, notFound } from "../../platform/errors.ts";
import { presentTime } from "../../platform/time.ts";
import type { Comment } from "../protocol/comment.ts";
import {
  byteLength,
  MAX_ANCHOR_BYTES,
  MAX_COMMENTS,
  MAX_REACTING_USERS,
  MAX_REACTIONS,
} from "../protocol/limits.ts";
import type { CommentCreation, CommentPage } from "../protocol/messages.ts";
import type { RoomStorage } from "../storage/storage.ts";
import type { StoredComment } from "../storage/storage-content.ts";
import type { Changes } from "./changes.ts";

export interface CommentPorts {
  readonly storage: RoomStorage;
  readonly changes: Changes;
  readonly now: () => number;
  readonly newId: () => string;
}

const conflict = (why: string) => new AppError("Rooms", "CONFLICT", why);

export class Comments {
  readonly #ports: CommentPorts;

  constructor(ports: CommentPorts) {
    this.#ports = ports;
  }

  /** Begins a thread, or goes on with one: NOT_FOUND when that has no comment. */
  create(roomId: string, input: CommentCreation, author: string): Comment {
    const table = this.#ports.storage.comments;
    const { threadId, anchor = null } = input;
    if (byteLength(JSON.stringify(anchor)) > MAX_ANCHOR_BYTES)
      throw new AppError("Rooms", "VALIDATION_ERROR", `anchor: must have at most ${MAX_ANCHOR_BYTES} bytes`);
    if (threadId !== undefined && table.count({ threadId, resolved: null }) === 0)
      throw notFound("Rooms", "Thread");
    if (table.count({ threadId: null, resolved: null }) >= MAX_COMMENTS)
      throw conflict(`A room has ${MAX_COMMENTS} comments at most`);
    const id = this.#ports.newId();
    const at = presentTime(this.#ports.now());
    const comment: Comment = {
      id,
      room_id: roomId,
      user_id: author,
      thread_id: threadId ?? id,
      text: input.text,
      anchor,
      mentions: input.mentions,
      reactions: {},
      resolved: false,
      created_at: at,
      updated_at: at,
    };
    table.insert(rowOf(comment));
    this.#ports.changes.append("commentCreated", () => ({ comment, by: author }));
    return comment;
  }

  list({
    threadId = null,
    resolved = null,
    limit,
    offset,
  }: Required<Pick<CommentPage, "limit" | "offset">> & {
    readonly threadId?: string | null | undefined;
    readonly resolved?: boolean | null | undefined;
  }): { readonly comments: Comment[]; readonly total: number } {
    const table = this.#ports.storage.comments;
    const filter = { threadId, resolved };
    return { comments: table.list(filter, limit, offset).map(parse), total: table.count(filter) };
  }

  /** Its author's right, and the organization's (`by` null). */
  updateText(id: string, text: string, by: string | null): Comment {
    return this.#save({ ...this.#getOwn(id, by), text, updated_at: presentTime(this.#ports.now()) }, by);
  }

  resolve(id: string, resolved: boolean, by: string | null): Comment {
    const comment = this.#get(id);
    return comment.resolved === resolved ? comment : this.#save({ ...comment, resolved }, by);
  }

  delete(id: string, by: string | null): Comment {
    const comment = this.#getOwn(id, by);
    this.#ports.storage.comments.delete(id);
    this.#ports.changes.append("commentDeleted", () => ({ comment, by }));
    return comment;
  }

  /** Adds or takes back a user's reaction; one that changes nothing is told to nobody. */
  react(id: string, reaction: string, on: boolean, by: string): Comment {
    const comment = this.#get(id);
    const reactions = new Map(Object.entries(comment.reactions));
    const users = reactions.get(reaction) ?? [];
    if (users.includes(by) === on) return comment;
    const others = users.filter((user) => user !== by);
    if (on) reactions.set(reaction, [...others, by]);
    else if (others.length > 0) reactions.set(reaction, others);
    else reactions.delete(reaction);
    if (reactions.size > MAX_REACTIONS || others.length >= MAX_REACTING_USERS)
      throw conflict("The comment has as many reactions as it can have");
    return this.#save({ ...comment, reactions: Object.fromEntries(reactions) }, by);
  }

  #get(id: string): Comment {
    const row = this.#ports.storage.comments.find(id);
    if (row === null) throw notFound("Rooms", "Comment");
    return parse(row);
  }

  #getOwn(id: string, by: string | null): Comment {
    const comment = this.#get(id);
    if (by === null || comment.user_id === by) return comment;
    throw new AppError("Rooms", "FORBIDDEN", "Only its author may do this to a comment");
  }

  #save(comment: Comment, by: string | null): Comment {
    this.#ports.storage.comments.update(rowOf(comment));
    this.#ports.changes.append("commentUpdated", () => ({ comment, by }));
    return comment;
  }
}

const rowOf = (comment: Comment): StoredComment => ({
  id: comment.id,
  threadId: comment.thread_id,
  resolved: comment.resolved,
  comment: JSON.stringify(comment),
});

/** A comment as {@link rowOf} wrote it. */
const parse = (row: StoredComment): Comment => JSON.parse(row.comment) as Comment;
