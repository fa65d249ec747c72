/** `AtriumServer.comments`: the comments of a room, written on behalf of its users. */
import type { CommentInput, CommentUpdateInput } from "../wire/requests.ts";
import type { Comment } from "../wire/resources.ts";
import { eachOf, type Filter, Resource, type Scroll, type ScrollShown } from "./pages.ts";

/** Filters a list of comments; a comment must match all fields. */
export interface CommentFilter extends Scroll {
  /** Text to find in the comment's text, ignoring case. */
  readonly search?: string;
  readonly threadId?: string;
  readonly resolved?: boolean;
}

export class Comments extends Resource {
  /** Oldest first. */
  list(roomId: string, filter: CommentFilter = {}): Promise<{ readonly comments: Comment[] } & ScrollShown> {
    return this.rest.get(["rooms", roomId, "comments"], filter);
  }

  /** All comments of a room, oldest first: `for await (const comment of atrium.comments.each(roomId))`. Reads 100 at a time. */
  each(roomId: string, filter: Filter<CommentFilter> = {}): AsyncGenerator<Comment, void, void> {
    return eachOf(
      (part) => this.list(roomId, { ...filter, ...part }),
      ({ comments }) => comments,
    );
  }

  /** Writes a comment for the user `userId`. Without `threadId` it starts a thread. */
  async create(roomId: string, comment: CommentInput): Promise<Comment> {
    return (await this.rest.post<{ comment: Comment }>(["rooms", roomId, "comments"], comment)).comment;
  }

  /** Changes the text, or resolves or reopens the comment. */
  async update(roomId: string, commentId: string, changes: CommentUpdateInput): Promise<Comment> {
    const path = ["rooms", roomId, "comments", commentId];
    return (await this.rest.patch<{ comment: Comment }>(path, changes)).comment;
  }

  delete(roomId: string, commentId: string): Promise<void> {
    return this.rest.delete(["rooms", roomId, "comments", commentId]);
  }
}
