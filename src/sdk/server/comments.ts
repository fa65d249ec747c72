/** `AtriumServer.comments`: the comments of a room, written on behalf of its users. */
import type { Rest } from "../core/rest.ts";
import type { CommentInput, CommentUpdateInput } from "../wire/requests.ts";
import type { Comment } from "../wire/resources.ts";
import { eachOf, type Filter, type Scroll, type ScrollShown } from "./pages.ts";

/** Which comments to list; a comment must match all fields. */
export interface CommentFilter extends Scroll {
  /** Text to find in the comment's text, ignoring case. */
  readonly search?: string;
  readonly threadId?: string;
  readonly resolved?: boolean;
}

export class Comments {
  readonly #rest: Rest;

  constructor(rest: Rest) {
    this.#rest = rest;
  }

  /** Oldest first. */
  list(roomId: string, filter: CommentFilter = {}): Promise<{ readonly comments: Comment[] } & ScrollShown> {
    return this.#rest.request({ method: "GET", path: ["rooms", roomId, "comments"], query: { ...filter } });
  }

  /** All comments of a room, oldest first: `for await (const comment of atrium.comments.each(roomId))`. Reads 100 at a time. */
  each(roomId: string, filter: Filter<CommentFilter> = {}): AsyncGenerator<Comment, void, void> {
    return eachOf(async (part) => {
      const { comments, cursor } = await this.list(roomId, { ...filter, ...part });
      return { items: comments, cursor };
    });
  }

  /** Writes a comment for the user `userId`. Without `threadId` it starts a thread. */
  async create(roomId: string, comment: CommentInput): Promise<Comment> {
    const request = { method: "POST", path: ["rooms", roomId, "comments"], body: comment } as const;
    return (await this.#rest.request<{ comment: Comment }>(request)).comment;
  }

  /** Changes the text, or resolves or reopens the comment. */
  async update(roomId: string, commentId: string, changes: CommentUpdateInput): Promise<Comment> {
    const path = ["rooms", roomId, "comments", commentId];
    const request = { method: "PATCH", path, body: changes } as const;
    return (await this.#rest.request<{ comment: Comment }>(request)).comment;
  }

  async delete(roomId: string, commentId: string): Promise<void> {
    await this.#rest.request({ method: "DELETE", path: ["rooms", roomId, "comments", commentId] });
  }
}
