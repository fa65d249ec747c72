/** The hook for the room's comments. */
import type { Comment } from "../client/index.ts";
import type { CommentActions } from "./comment-source.ts";
import { useRoomHandle } from "./context.ts";
import { useSource } from "./selection.ts";

/** All comments of the room or of one thread, oldest first, and functions that change them. */
export function useComments(threadId?: string): [readonly Comment[], CommentActions] {
  const { source, actions } = useRoomHandle().comments(threadId);
  return [useSource(source), actions];
}
