/** Comments as they are now: read page by page after each join, and kept up to date by what the room tells. */

import { AtriumError, type Comment, type Comments } from "../client/index.ts";
import { report } from "../core/emitter.ts";
import { together, type Unsubscribe } from "./external-source.ts";
import type { SharedConnection } from "./shared-connection.ts";

const PAGE = 100;

export class CommentList {
  readonly #comments: Comments;
  readonly #threadId: string | undefined;
  readonly #known = new Map<string, Comment>();
  /** Of whom something was told while the list is being read: what is read of them may be older. */
  #touched: Set<string> | null = null;

  constructor(comments: Comments, threadId: string | undefined) {
    this.#comments = comments;
    this.#threadId = threadId;
  }

  /** Keeps the list up to date, and calls `changed` after each change, until its answer is called. */
  watch(connection: SharedConnection, changed: () => void): Unsubscribe {
    const put = (comment: Comment) => {
      if (this.#threadId !== undefined && comment.thread_id !== this.#threadId) return;
      this.#touched?.add(comment.id);
      this.#known.set(comment.id, comment);
      changed();
    };
    const remove = ({ id }: Comment) => {
      // The pages that are still to be read begin elsewhere now.
      if (this.#touched !== null) void this.#read(changed);
      if (this.#known.delete(id)) changed();
    };
    return together(
      this.#comments.on("created", put),
      this.#comments.on("updated", put),
      this.#comments.on("deleted", remove),
      connection.whenConnected(() => void this.#read(changed)),
      () => {
        this.#touched = null;
      },
    );
  }

  /** The oldest first. */
  toArray(): readonly Comment[] {
    return [...this.#known.values()].sort((a, b) => Date.parse(a.created_at) - Date.parse(b.created_at));
  }

  async #read(changed: () => void): Promise<void> {
    const touched = new Set<string>();
    this.#touched = touched;
    const found = new Map<string, Comment>();
    try {
      for (let offset = 0, total = 1; offset < total; offset += PAGE) {
        const page = await this.#comments.list({ threadId: this.#threadId, limit: PAGE, offset });
        if (this.#touched !== touched) return; // another reading has begun, or nobody watches any more
        for (const comment of page.comments) found.set(comment.id, comment);
        total = page.total;
      }
    } catch (error) {
      // Without a connection it is read again after the next join.
      if (!(error instanceof AtriumError && error.code === "DISCONNECTED")) report(error);
      return;
    }
    this.#touched = null;
    for (const id of this.#known.keys()) if (!found.has(id) && !touched.has(id)) this.#known.delete(id);
    for (const [id, comment] of found) if (!touched.has(id)) this.#known.set(id, comment);
    changed();
  }
}
