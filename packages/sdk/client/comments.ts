/** `client.comments`: threads of comments, which are stored and kept in sync for everyone in the room. */
import type * as comments from "@atrium/contract/operations/comments.ts";
import type * as threads from "@atrium/contract/operations/threads.ts";
import { Emitter } from "../core/emitter.ts";
import { AtriumError } from "../core/error.ts";
import { assumeType, type SomeOf } from "../core/json.ts";
import type { Abortable } from "../core/runtime.ts";
import type { CommentChanges, NewComment } from "../wire/requests.ts";
import type { Comment, SubscriptionSettings, Thread } from "../wire/resources.ts";
import type { Connection } from "./connection/connection.ts";
import { type Data, isComment, isCount, listOf, UNREADABLE } from "./connection/frames.ts";

/** Emitted for the comments of all users. Your own are emitted before the promise of the change settles. */
export interface CommentsEvents {
  created: Comment;
  updated: Comment;
  deleted: Comment;
  /** Your position in a thread, or your subscription to it, has changed here or on another device. */
  thread: Thread;
  /** Your notification settings of the room have changed here or on another device. */
  settings: SubscriptionSettings;
  /** Comments must be listed: at the first join, and at a join after so long an absence that changes were missed. */
  missed: undefined;
}

export interface CommentFilter extends comments.CommentFilter {
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

export interface ThreadFilter extends threads.ThreadFilter {
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
    const { changeStream } = connection;
    for (const name of ["thread", "settings"] as const) {
      changeStream.handle(`${name}Updated`, ({ [name]: own }) => {
        if (own instanceof Object) this.emit(name, assumeType(own));
      });
    }
    changeStream.onJoined(({ changes }) => {
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
   * Changes the given fields. Null removes the anchor or the metadata. Notifies users who were not mentioned
   * before. Throws FORBIDDEN unless you are the author.
   */
  update(
    change: { readonly commentId: string } & Omit<CommentChanges, "resolved">,
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

  /** One page of the room's threads, with your read positions. */
  threads(filter: ThreadFilter = {}, options?: Abortable): Promise<ThreadPage> {
    const read = readAs<ThreadPage>("threads");
    return this.#connection.requests.send("THREAD_LIST", filter, { ...options, read });
  }

  /** A thread, with your read position. Throws NOT_FOUND without it. */
  thread(which: { readonly threadId: string }, options?: Abortable): Promise<Thread> {
    return this.#connection.requests.send("THREAD_GET", which, { ...options, read: readThread });
  }

  /**
   * Moves your position in a thread forward, to `seq`, such as the `last_seq` of the thread as it was shown, or
   * to its end.
   */
  markAsRead(
    position: { readonly threadId: string; readonly seq?: number | undefined },
    options?: Abortable,
  ): Promise<Thread> {
    return this.#connection.requests.send("THREAD_READ", position, { ...options, read: readThread });
  }

  /** Notifies you of a thread's comments or, with `on: false`, no longer. */
  subscribe(
    change: { readonly threadId: string; readonly on?: boolean | undefined },
    options?: Abortable,
  ): Promise<Thread> {
    return this.#connection.requests.send("THREAD_SUBSCRIBE", change, { ...options, read: readThread });
  }

  /** Changes your notification settings in this room, and returns them. */
  settings(changes: SomeOf<SubscriptionSettings> = {}, options?: Abortable): Promise<SubscriptionSettings> {
    return this.#connection.requests.send("SUBSCRIPTION_SETTINGS", changes, {
      ...options,
      read: readSettings,
    });
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

const readThread = (data: Data): Thread => readAs<{ thread: Thread }>("thread")(data).thread;
const readSettings = (data: Data): SubscriptionSettings =>
  readAs<{ settings: SubscriptionSettings }>("settings")(data).settings;

function readComment({ comment }: Data): Comment {
  if (isComment(comment)) return comment;
  throw new AtriumError(UNREADABLE);
}
