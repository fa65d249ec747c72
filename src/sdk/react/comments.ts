/** The hook for the room's comments. */
import { useMemo } from "react";
import type { Comment, Comments } from "../client/index.ts";
import { CommentList } from "./comment-list.ts";
import { useRoomHandle } from "./context.ts";
import { ExternalSource, useExternalSource } from "./external-source.ts";

export type CommentActions = Pick<Comments, "create" | "update" | "delete" | "resolve" | "react">;

/** All comments of the room or of one thread, oldest first, and functions that change them. */
export function useComments(threadId?: string): [readonly Comment[], CommentActions] {
  const { client, connection } = useRoomHandle();
  const source = useMemo(() => {
    const list = new CommentList(client.comments, threadId);
    const watch = (changed: () => void) => list.watch(connection, changed);
    return new ExternalSource(watch, () => list.toArray());
  }, [client, connection, threadId]);
  const actions = useMemo((): CommentActions => {
    const { comments } = client;
    return {
      create: comments.create.bind(comments),
      update: comments.update.bind(comments),
      delete: comments.delete.bind(comments),
      resolve: comments.resolve.bind(comments),
      react: comments.react.bind(comments),
    };
  }, [client]);
  return [useExternalSource(source), actions];
}
