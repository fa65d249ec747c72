/** The comments of a room or of one thread as components read them. */
import type { Comment, Comments } from "../client/index.ts";
import type { AnyClient } from "./any-client.ts";
import { CommentList } from "./comment-list.ts";
import { ExternalSource, type Source } from "./external-source.ts";
import { Readiness } from "./readiness.ts";
import { reportUnlessDisconnected, type SharedConnection } from "./shared-connection.ts";

export type CommentActions = Pick<Comments, "create" | "update" | "delete" | "resolve" | "react">;

export interface CommentsHandle {
  readonly source: Source<readonly Comment[]>;
  readonly actions: CommentActions;
  /** Whether all comments were loaded. */
  readonly loaded: Readiness;
}

export function openComments(
  client: AnyClient,
  connection: SharedConnection,
  threadId: string | undefined,
): CommentsHandle {
  const { comments } = client;
  const list = new CommentList(comments, threadId);
  /** Called after the next load, with the error of one that failed. */
  const waiting = new Set<(error: unknown) => void>();
  const end = (error: unknown) => {
    for (const ended of waiting) ended(error);
    waiting.clear();
  };
  const loading = async (load: Promise<boolean>) => {
    try {
      if (!(await load)) return;
      loaded.set(true);
      end(null);
    } catch (error) {
      reportUnlessDisconnected(error);
      end(error);
    }
  };
  const source = new ExternalSource<readonly Comment[]>(
    (changed) => list.watch(connection, changed, (load) => void loading(load)),
    () => list.toArray(),
    [],
  );
  const loaded = new Readiness(() => {
    const done = new Promise<void>((resolve, reject) => {
      waiting.add((error) => (error === null ? resolve() : reject(error)));
    });
    return { done, release: source.subscribe(() => {}) };
  });
  return { source, loaded, actions: actionsOf(comments) };
}

const actionsOf = (comments: Comments): CommentActions => ({
  create: comments.create.bind(comments),
  update: comments.update.bind(comments),
  delete: comments.delete.bind(comments),
  resolve: comments.resolve.bind(comments),
  react: comments.react.bind(comments),
});
