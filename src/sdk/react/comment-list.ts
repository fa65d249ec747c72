/** A list of comments: loaded page by page after each join, and kept up to date by events. */
import type { Comment, Comments } from "../client/index.ts";
import { together, type Unsubscribe } from "./external-source.ts";
import type { SharedConnection } from "./shared-connection.ts";

const PAGE = 100;

export class CommentList {
  readonly #comments: Comments;
  readonly #threadId: string | undefined;
  readonly #loaded = new Map<string, Comment>();
  /** The comments that events changed while the list is being loaded: the pages may be older. Null otherwise. */
  #changedMeanwhile: Set<string> | null = null;

  constructor(comments: Comments, threadId: string | undefined) {
    this.#comments = comments;
    this.#threadId = threadId;
  }

  /**
   * Keeps the list up to date, and calls `changed` after each change. `loading` receives each load: whether it was
   * completed, because a later one can take its place. Returns a function that ends this.
   */
  watch(
    connection: SharedConnection,
    changed: () => void,
    loading: (load: Promise<boolean>) => void,
  ): Unsubscribe {
    const load = () => loading(this.#load(changed));
    const put = (comment: Comment) => {
      if (this.#threadId !== undefined && comment.thread_id !== this.#threadId) return;
      this.#changedMeanwhile?.add(comment.id);
      this.#loaded.set(comment.id, comment);
      changed();
    };
    const remove = ({ id }: Comment) => {
      // The deletion has moved the remaining pages.
      if (this.#changedMeanwhile !== null) load();
      if (this.#loaded.delete(id)) changed();
    };
    return together(
      this.#comments.on("created", put),
      this.#comments.on("updated", put),
      this.#comments.on("deleted", remove),
      connection.whenConnected(load),
      () => {
        this.#changedMeanwhile = null;
      },
    );
  }

  /** Oldest first. */
  toArray(): readonly Comment[] {
    return [...this.#loaded.values()].sort((a, b) => Date.parse(a.created_at) - Date.parse(b.created_at));
  }

  async #load(changed: () => void): Promise<boolean> {
    const changedMeanwhile = new Set<string>();
    this.#changedMeanwhile = changedMeanwhile;
    const found = new Map<string, Comment>();
    for (let offset = 0, total = 1; offset < total; offset += PAGE) {
      const page = await this.#comments.list({ threadId: this.#threadId, limit: PAGE, offset });
      if (this.#changedMeanwhile !== changedMeanwhile) return false; // another load has started, or the list is not watched any more
      for (const comment of page.comments) found.set(comment.id, comment);
      total = page.total;
    }
    this.#changedMeanwhile = null;
    for (const id of this.#loaded.keys())
      if (!found.has(id) && !changedMeanwhile.has(id)) this.#loaded.delete(id);
    for (const [id, comment] of found) if (!changedMeanwhile.has(id)) this.#loaded.set(id, comment);
    changed();
    return true;
  }
}
