/** `client.comments`: threads of comments about anything in the room. They stay, and all hear of each change. */
import { Emitter } from "../core/emitter.ts";
import { AtriumError } from "../core/error.ts";
import type { Comment } from "../wire/resources.ts";
import type { Connection } from "./connection/connection.ts";
import { type Data, isComment, isCount, listOf } from "./connection/frames.ts";

/** Told of everybody's comments, one's own included, before the promise of the change settles. */
export interface CommentsEvents {
  created: Comment;
  updated: Comment;
  deleted: Comment;
}

export interface NewComment {
  /** 1 to 10,000 characters. */
  readonly text: string;
  /** The thread that it answers in; without it, a thread begins. */
  readonly threadId?: string | undefined;
  /** What it is about: any JSON. */
  readonly anchor?: unknown;
  /** Ids of the users who are meant. */
  readonly mentions?: readonly string[] | undefined;
}

export interface CommentFilter {
  readonly threadId?: string | undefined;
  readonly resolved?: boolean | undefined;
  /** 1 to 100; 50 when left out. */
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
}

export interface CommentPage {
  /** The oldest first. */
  readonly comments: readonly Comment[];
  /** How many there are, on all pages. */
  readonly total: number;
}

export class Comments extends Emitter<CommentsEvents> {
  readonly #session: Connection;

  constructor(session: Connection) {
    super();
    this.#session = session;
    for (const event of ["created", "updated", "deleted"] as const) {
      const name = `comment${event.charAt(0).toUpperCase()}${event.slice(1)}`;
      session.feed.hear(name, ({ comment }) => {
        if (isComment(comment)) this.emit(event, comment);
      });
    }
  }

  create(comment: NewComment): Promise<Comment> {
    return this.#change("COMMENT_CREATE", comment);
  }

  list(filter: CommentFilter = {}): Promise<CommentPage> {
    const take = ({ comments, total }: Data): CommentPage => ({
      comments: listOf(comments, isComment),
      total: isCount(total) ? total : 0,
    });
    return this.#session.requests.ask("COMMENT_LIST", filter, { take });
  }

  /** Changes the text. FORBIDDEN for all but the author. */
  update(change: { readonly commentId: string; readonly text: string }): Promise<Comment> {
    return this.#change("COMMENT_UPDATE", change);
  }

  /** Gives the comment as it was. FORBIDDEN for all but the author. */
  delete(which: { readonly commentId: string }): Promise<Comment> {
    return this.#change("COMMENT_DELETE", which);
  }

  /** Marks a comment as resolved or, with `resolved: false`, as open again. */
  resolve(change: { readonly commentId: string; readonly resolved?: boolean | undefined }): Promise<Comment> {
    return this.#change("COMMENT_RESOLVE", change);
  }

  /** Adds one's reaction (1 to 32 characters) or, with `on: false`, takes it back. */
  react(change: {
    readonly commentId: string;
    readonly reaction: string;
    readonly on?: boolean | undefined;
  }): Promise<Comment> {
    return this.#change("COMMENT_REACT", change);
  }

  #change(type: string, data: object): Promise<Comment> {
    return this.#session.requests.ask(type, data, { take: takeComment });
  }
}

function takeComment({ comment }: Data): Comment {
  if (isComment(comment)) return comment;
  throw new AtriumError({ code: "INTERNAL_ERROR", module: "Client", message: "The answer has no comment" });
}
