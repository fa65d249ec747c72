/** `client.comments`: threads of comments, which are stored and kept in sync for everyone in the room. */
import { Emitter } from "../core/emitter.ts";
import { AtriumError } from "../core/error.ts";
import type { SomeOf } from "../core/json.ts";
import type { Abortable } from "../core/runtime.ts";
import type { Comment, Mention, SubscriptionSettings, Thread } from "../wire/resources.ts";
import type { Connection } from "./connection/connection.ts";
import { type Data, isComment, isCount, listOf, UNREADABLE } from "./connection/frames.ts";

/** Emitted for the comments of all users, including your own: those before the promise of the change settles. */
export interface CommentsEvents {
  created: Comment;
  updated: Comment;
  deleted: Comment;
  /** A thread of which you have changed, over this client, what you have read or whether you are notified. */
  thread: Thread;
  /** The comments must be listed: by the first join, and by one after so long an absence that changes were missed. */
  missed: undefined;
}

export interface NewComment {
  /** 1 to 10,000 characters. */
  readonly text: string;
  /** The thread to reply in. Without it, the comment starts a thread. */
  readonly threadId?: string | undefined;
  /** The subject of the comment, such as a position in a document: any JSON. */
  readonly anchor?: unknown;
  /** Data of your application that is kept with the comment: any JSON of up to 32 KiB. */
  readonly metadata?: unknown;
  /** The users who are mentioned, by their IDs; identities and groups. */
  readonly mentions?: readonly (string | Mention)[] | undefined;
}

export interface CommentFilter {
  readonly threadId?: string | undefined;
  readonly resolved?: boolean | undefined;
  /** 1 to 100; 50 by default. */
  readonly limit?: number | undefined;
  /** The number of comments to skip; 0 by default. */
  readonly offset?: number | undefined;
  /** The `next` of an earlier page: the comments that follow it. Each page costs as much as the first. */
  readonly after?: number | undefined;
}

export interface CommentPage {
  /** Oldest first. */
  readonly comments: readonly Comment[];
  /** The number of matching comments, on all pages. */
  readonly total: number;
  /** Goes into `after` to read the page that follows; null on the last one. */
  readonly next: number | null;
}

export interface ThreadFilter {
  readonly resolved?: boolean | undefined;
  /** Threads with comments that you have not read. */
  readonly unread?: boolean | undefined;
  /** Threads of which you are notified. */
  readonly subscribed?: boolean | undefined;
  /** 1 to 100; 50 by default. */
  readonly limit?: number | undefined;
  /** The `next` of an earlier page. */
  readonly after?: ThreadPlace | undefined;
}

export type ThreadPlace = Pick<Thread, "id" | "last_seq">;

export interface ThreadPage {
  /** The latest comment first. */
  readonly threads: readonly Thread[];
  /** The number of matching threads, on all pages. */
  readonly total: number;
  /** Goes into `after` to read the page that follows; null on the last one. */
  readonly next: ThreadPlace | null;
}

const EVENTS = [
  ["commentCreated", "created"],
  ["commentUpdated", "updated"],
  ["commentDeleted", "deleted"],
] as const;

export class Comments extends Emitter<CommentsEvents> {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    super();
    this.#connection = connection;
    for (const [name, event] of EVENTS) {
      connection.changeStream.handle(name, ({ comment }) => {
        if (isComment(comment)) this.emit(event, comment);
      });
    }
    connection.changeStream.onJoined(({ changes }) => {
      if (changes === null) this.emit("missed", undefined);
    });
  }

  /** Writes a comment as the user of this client. */
  create(comment: NewComment, options?: Abortable): Promise<Comment> {
    return this.#change("COMMENT_CREATE", comment, options);
  }

  /** One page of the comments that match the filter. */
  list(filter: CommentFilter = {}, options?: Abortable): Promise<CommentPage> {
    const read = ({ comments, total, next }: Data): CommentPage => ({
      comments: listOf(comments, isComment),
      total: isCount(total) ? total : 0,
      next: isCount(next) ? next : null,
    });
    return this.#connection.requests.send("COMMENT_LIST", filter, { ...options, read });
  }

  /**
   * Changes what is given: the text, the anchor, the metadata, which null removes, and who is mentioned. Throws FORBIDDEN
   * unless you are the author.
   */
  update(
    change: {
      readonly commentId: string;
      readonly text?: string | undefined;
      readonly anchor?: unknown;
      readonly metadata?: unknown;
      /** In place of the comment's; those who were not mentioned before are notified. */
      readonly mentions?: NewComment["mentions"] | undefined;
    },
    options?: Abortable,
  ): Promise<Comment> {
    return this.#change("COMMENT_UPDATE", change, options);
  }

  /** Deletes a comment, and returns it as it was. Throws FORBIDDEN unless you are the author. */
  delete(which: { readonly commentId: string }, options?: Abortable): Promise<Comment> {
    return this.#change("COMMENT_DELETE", which, options);
  }

  /** Resolves a comment or, with `resolved: false`, reopens it. */
  resolve(
    change: { readonly commentId: string; readonly resolved?: boolean | undefined },
    options?: Abortable,
  ): Promise<Comment> {
    return this.#change("COMMENT_RESOLVE", change, options);
  }

  /** Adds your reaction (1 to 32 characters) or, with `on: false`, removes it. */
  react(
    change: {
      readonly commentId: string;
      readonly reaction: string;
      readonly on?: boolean | undefined;
    },
    options?: Abortable,
  ): Promise<Comment> {
    return this.#change("COMMENT_REACT", change, options);
  }

  /** One page of the room's threads, with what you have read. */
  threads(filter: ThreadFilter = {}, options?: Abortable): Promise<ThreadPage> {
    const read = readAs<ThreadPage>("threads");
    return this.#connection.requests.send("THREAD_LIST", filter, { ...options, read });
  }

  /** A thread, with what you have read. Throws NOT_FOUND without it. */
  thread(which: { readonly threadId: string }, options?: Abortable): Promise<Thread> {
    return this.#thread("THREAD_GET", which, options);
  }

  /** Moves your position in a thread forward: to `seq`, such as the `last_seq` of the thread as it was shown, or to its end. */
  markAsRead(
    position: { readonly threadId: string; readonly seq?: number | undefined },
    options?: Abortable,
  ): Promise<Thread> {
    return this.#changeThread("THREAD_READ", position, options);
  }

  /** Notifies you of a thread's comments or, with `on: false`, no longer. */
  subscribe(
    change: { readonly threadId: string; readonly on?: boolean | undefined },
    options?: Abortable,
  ): Promise<Thread> {
    return this.#changeThread("THREAD_SUBSCRIBE", change, options);
  }

  /** Changes what you are notified of in this room; without changes it returns that. */
  async settings(
    changes: SomeOf<SubscriptionSettings> = {},
    options?: Abortable,
  ): Promise<SubscriptionSettings> {
    const read = readAs<{ settings: SubscriptionSettings }>("settings");
    const { requests } = this.#connection;
    return (await requests.send("SUBSCRIPTION_SETTINGS", changes, { ...options, read })).settings;
  }

  async #thread(type: string, data: object, options?: Abortable): Promise<Thread> {
    const read = readAs<{ thread: Thread }>("thread");
    return (await this.#connection.requests.send(type, data, { ...options, read })).thread;
  }

  async #changeThread(type: string, data: object, options?: Abortable): Promise<Thread> {
    const thread = await this.#thread(type, data, options);
    this.emit("thread", thread);
    return thread;
  }

  #change(type: string, data: object, options?: Abortable): Promise<Comment> {
    return this.#connection.requests.send(type, data, { ...options, read: readComment });
  }
}

/** Data that has a field is taken as the service describes it. */
const readAs =
  <Answer>(field: keyof Answer & string) =>
  (data: Data): Answer => {
    if (data[field] instanceof Object) return data as Answer;
    throw new AtriumError(UNREADABLE);
  };

function readComment({ comment }: Data): Comment {
  if (isComment(comment)) return comment;
  throw new AtriumError(UNREADABLE);
}
