/** The comments of a room or of one thread as components read them. */
import type { Comment, Comments } from "../client/index.ts";
import { ExternalSource, type Source, together, type Unsubscribe } from "./external-source.ts";
import { Readiness } from "./readiness.ts";
import { type AnyClient, reportUnlessDisconnected, type SharedConnection } from "./shared-connection.ts";

const PAGE = 100;

class CommentList {
  readonly #comments: Comments;
  readonly #threadId: string | undefined;
  /** Oldest first. */
  #loaded = new Map<string, Comment>();
  #isComplete = false;
  /** Comments that events changed during a load, whose pages may be older; null otherwise. */
  #changedMeanwhile: Set<string> | null = null;

  constructor(comments: Comments, threadId: string | undefined) {
    this.#comments = comments;
    this.#threadId = threadId;
  }

  /**
   * Keeps the list up to date, and calls `changed` after each change. `loading` receives each load: false if a later one
   * took its place. Returns a function that ends this.
   */
  watch(
    connection: SharedConnection,
    changed: () => void,
    loading: (load: Promise<boolean>) => void,
  ): Unsubscribe {
    const load = () => {
      if (!this.#isComplete && this.#changedMeanwhile === null) loading(this.#load(changed));
    };
    const put = (comment: Comment) => {
      if (this.#threadId !== undefined && comment.thread_id !== this.#threadId) return;
      this.#changedMeanwhile?.add(comment.id);
      this.#loaded.set(comment.id, comment);
      changed();
    };
    const remove = ({ id }: Comment) => {
      this.#changedMeanwhile?.add(id);
      if (this.#loaded.delete(id)) changed();
    };
    const miss = () => {
      this.#isComplete = false;
      this.#changedMeanwhile = null;
    };
    return together(
      this.#comments.on("created", put),
      this.#comments.on("updated", put),
      this.#comments.on("deleted", remove),
      this.#comments.on("missed", miss),
      connection.whenConnected(load),
      miss,
    );
  }

  toArray(): readonly Comment[] {
    return [...this.#loaded.values()];
  }

  async #load(changed: () => void): Promise<boolean> {
    const changedMeanwhile = new Set<string>();
    this.#changedMeanwhile = changedMeanwhile;
    const found: Comment[] = [];
    try {
      for (let after: number | null | undefined; after !== null; ) {
        const page = await this.#comments.list({ threadId: this.#threadId, limit: PAGE, after });
        if (this.#changedMeanwhile !== changedMeanwhile) return false; // another load has started, or the list is not watched any more
        found.push(...page.comments);
        after = page.next;
      }
    } finally {
      if (this.#changedMeanwhile === changedMeanwhile) this.#changedMeanwhile = null;
    }
    const known = this.#loaded;
    const isDeleted = ({ id }: Comment) => changedMeanwhile.has(id) && !known.has(id);
    this.#loaded = new Map(found.filter((each) => !isDeleted(each)).map((each) => [each.id, each]));
    for (const [id, comment] of known) if (changedMeanwhile.has(id)) this.#loaded.set(id, comment);
    this.#isComplete = true;
    changed();
    return true;
  }
}

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
