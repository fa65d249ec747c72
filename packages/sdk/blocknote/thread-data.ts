/** Threads in BlockNote's words, made of the comments of a room. */
import type { Comment } from "../client/index.ts";
import { isRecord } from "../core/json.ts";
import { shallowEqual } from "../react/external-source.ts";
import { bodyOf } from "./body.ts";

export interface CommentData {
  type: "comment";
  id: string;
  userId: string;
  createdAt: Date;
  updatedAt: Date;
  /** `createdAt` is that of the comment: reactions have no time. */
  reactions: { emoji: string; createdAt: Date; userIds: string[] }[];
  metadata: unknown;
  /** A BlockNote document. */
  body: unknown;
  /** Deleted comments are gone. */
  deletedAt?: never;
}

export interface ThreadData {
  type: "thread";
  id: string;
  createdAt: Date;
  updatedAt: Date;
  comments: CommentData[];
  resolved: boolean;
  /** When it was resolved last. `resolvedBy` is left out: BlockNote throws while it draws a user whom it has not loaded. */
  resolvedUpdatedAt?: Date;
  metadata: unknown;
}

/** The rights of a user, in a shape that BlockNote asks. */
export interface ThreadStoreAuth {
  canCreateThread(): boolean;
  canAddComment(thread: ThreadData): boolean;
  canUpdateComment(comment: CommentData): boolean;
  canDeleteComment(comment: CommentData): boolean;
  canDeleteThread(thread: ThreadData): boolean;
  canResolveThread(thread: ThreadData): boolean;
  canUnresolveThread(thread: ThreadData): boolean;
  canAddReaction(comment: CommentData, emoji?: string): boolean;
  canDeleteReaction(comment: CommentData, emoji?: string): boolean;
}

/** The metadata of a comment in the room. */
export interface StoredMetadata {
  readonly body?: unknown;
  /** The names of the mentioned users, by their IDs, as the comment's text has them. */
  readonly names?: Readonly<Record<string, string>> | undefined;
  /** The application's own metadata: of the comment and, with the first one, of the thread. */
  readonly comment?: unknown;
  readonly thread?: unknown;
}

export const metadataOf = ({ metadata }: Comment): StoredMetadata => (isRecord(metadata) ? metadata : {});

function commentData(comment: Comment): CommentData {
  const createdAt = new Date(comment.created_at);
  return {
    type: "comment",
    id: comment.id,
    userId: comment.user_id,
    createdAt,
    updatedAt: new Date(comment.updated_at),
    reactions: Object.entries(comment.reactions).map(([emoji, userIds]) => ({
      emoji,
      createdAt,
      userIds: [...userIds],
    })),
    metadata: metadataOf(comment).comment,
    body: bodyOf(comment.text, metadataOf(comment)),
  };
}

type Thread = [Comment, ...Comment[]];

function threadData(thread: Thread): ThreadData {
  const [first] = thread;
  const comments = thread.map(commentData);
  const { resolved_at: resolvedAt } = first;
  return {
    type: "thread",
    id: first.thread_id,
    createdAt: new Date(first.created_at),
    updatedAt: new Date(Math.max(...comments.map(({ updatedAt }) => updatedAt.getTime()))),
    comments,
    resolved: first.resolved,
    ...(resolvedAt !== undefined && { resolvedUpdatedAt: new Date(resolvedAt) }),
    metadata: metadataOf(first).thread,
  };
}

/** The threads of one document. Threads that stay the same are the same objects in each call. */
export function threadsOf(name: string): (comments: readonly Comment[]) => Map<string, ThreadData> {
  let known = new Map<string, { readonly comments: Thread; readonly data: ThreadData }>();
  const keep = (comments: Thread) => {
    const before = known.get(comments[0].thread_id);
    const isSame = before !== undefined && shallowEqual(before.comments, comments);
    return isSame ? before : { comments, data: threadData(comments) };
  };
  return (comments) => {
    const grouped = new Map<string, Thread>();
    for (const comment of comments) {
      const thread = grouped.get(comment.thread_id);
      if (thread === undefined) grouped.set(comment.thread_id, [comment]);
      else thread.push(comment);
    }
    const own = [...grouped].filter(([, thread]) => thread.some((comment) => isOf(comment, name)));
    known = new Map(own.map(([id, thread]) => [id, keep(thread)]));
    return new Map([...known].map(([id, { data }]) => [id, data]));
  };
}

/** The anchor of all comments that BlockNote writes about a document. */
export const anchorOf = (name: string) => ({ document: name });

const isOf = ({ anchor }: Comment, name: string): boolean => isRecord(anchor) && anchor.document === name;
