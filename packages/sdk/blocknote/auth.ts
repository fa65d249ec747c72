/** The rights of a user over the threads of a document: the permissions of the room, which can change at any time. */
import type { AnyClient } from "../react/shared-connection.ts";
import type { CommentData, ThreadData, ThreadStoreAuth } from "./thread-data.ts";

/** `marksElsewhere`: the text of a new thread is marked by someone who may. */
export function authOf(
  client: AnyClient,
  threads: () => ReadonlyMap<string, ThreadData>,
  marksElsewhere: boolean,
): ThreadStoreAuth {
  const mayComment = () => client.canWrite("comments");
  const isOwn = ({ userId }: CommentData) => userId === client.userId;
  const hasReacted = ({ reactions }: CommentData, emoji: string) =>
    reactions.some((reaction) => reaction.emoji === emoji && reaction.userIds.includes(client.userId));
  /** The first of several comments holds the thread's subject. */
  const isFirstOfMany = ({ id }: CommentData) => {
    const comments = threads().get(id)?.comments ?? [];
    return comments.length > 1 && comments[0]?.id === id;
  };
  return {
    canCreateThread: () => mayComment() && (marksElsewhere || client.canWrite("documents")),
    canAddComment: mayComment,
    canUpdateComment: (comment) => mayComment() && isOwn(comment),
    canDeleteComment: (comment) => mayComment() && isOwn(comment) && !isFirstOfMany(comment),
    canDeleteThread: ({ comments }) => mayComment() && comments.every(isOwn),
    canResolveThread: mayComment,
    canUnresolveThread: mayComment,
    canAddReaction: (comment, emoji) => mayComment() && !(emoji && hasReacted(comment, emoji)),
    canDeleteReaction: (comment, emoji) => mayComment() && (!emoji || hasReacted(comment, emoji)),
  };
}
