/** The remains of comments of erased authors. Without schemas. */
import type { Comment } from "./comment.ts";

/** A comment of an erased author. Lists the fields that stay, so that no other field outlives it. */
export function withoutContent(comment: Comment): Comment {
  const { id, room_id, user_id, thread_id, resolved, created_at, updated_at } = comment;
  return {
    ...{ id, room_id, user_id, thread_id, text: "", anchor: null, mentions: [], reactions: {} },
    resolved,
    ...("resolved_at" in comment && { resolved_at: comment.resolved_at }),
    ...("resolved_by" in comment && { resolved_by: comment.resolved_by }),
    ...{ created_at, updated_at },
  };
}
