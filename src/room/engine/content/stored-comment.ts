/** A comment as storage has it: as JSON, with or without its content. */
import type { Comment } from "../../../wire/comment.ts";
import type { StoredComment } from "../../storage/storage-content.ts";

export const rowOf = (comment: Comment): StoredComment => ({
  id: comment.id,
  threadId: comment.thread_id,
  resolved: comment.resolved,
  comment: JSON.stringify(comment),
});

/** What may be sent of a comment whose author is erased. */
export const withoutContent = (comment: Comment): Comment => ({
  ...{ ...comment, text: "", anchor: null, mentions: [], reactions: {} },
});

/** A comment as {@link rowOf} wrote it. */
export const parseComment = (row: StoredComment): Comment => JSON.parse(row.comment) as Comment;
