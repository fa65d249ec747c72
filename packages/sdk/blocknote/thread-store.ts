/** BlockNote's thread store on the comments of a room, and the rights of its user by the room's permissions. */
import type { Comment, User } from "../client/index.ts";
import { AtriumError, clientFault } from "../core/error.ts";
import type { Source, Unsubscribe } from "../react/external-source.ts";
import type { AnyClient } from "../react/shared-connection.ts";
import { authOf } from "./auth.ts";
import { mentionTexts, textOf } from "./body.ts";
import {
  anchorOf,
  type CommentData,
  metadataOf,
  type StoredMetadata,
  type ThreadData,
  type ThreadStoreAuth,
  threadsOf,
} from "./thread-data.ts";

export interface ThreadStoreOptions {
  /**
   * Marks the text of a new thread in the document, as on your back end: for users who may comment but not change
   * documents. Without it BlockNote marks the text itself, and only users who may change documents start threads.
   */
  readonly addThreadToDocument?: AddThreadToDocument | undefined;
}

type AddThreadToDocument = (thread: {
  readonly threadId: string;
  /** The place as BlockNote describes it. */
  readonly selection: unknown;
}) => Promise<void>;

/** A comment that is written or changed. */
interface Written {
  readonly body: unknown;
  readonly metadata?: unknown;
}

interface Place {
  readonly threadId: string;
  readonly commentId: string;
}

interface Reaction extends Place {
  readonly emoji: string;
}

const missing = (what: string) => new AtriumError(clientFault("NOT_FOUND", `${what} not found`));

/** Texts of mentions can be anything, and those of users are their IDs. */
const ID = /^[\da-f-]{36}$/;

const FORBIDDEN = clientFault(
  "FORBIDDEN",
  "A thread needs a mark in the document, which only users who may change documents can set",
);

const OTHERS = clientFault("FORBIDDEN", "Only a thread of your own comments can be deleted");

/** A thread store for `CommentsExtension`. Every change throws as the methods of `client.comments` do. */
export class AtriumThreadStore {
  readonly auth: ThreadStoreAuth;
  /** Absent when BlockNote marks the text of new threads itself. */
  readonly addThreadToDocument?: AddThreadToDocument | undefined;
  readonly #client: AnyClient;
  readonly #source: Source<readonly Comment[]>;
  readonly #anchor: object;
  readonly #threadsOf: ReturnType<typeof threadsOf>;
  readonly #unsubscribe: Unsubscribe;
  #comments: readonly Comment[] | null = null;
  #threads = new Map<string, ThreadData>();

  /** Use `openThreadStore`. */
  constructor(
    client: AnyClient,
    source: Source<readonly Comment[]>,
    name: string,
    { addThreadToDocument }: ThreadStoreOptions,
  ) {
    this.#client = client;
    this.#source = source;
    this.#anchor = anchorOf(name);
    this.#threadsOf = threadsOf(name);
    if (addThreadToDocument !== undefined) this.addThreadToDocument = addThreadToDocument;
    this.auth = authOf(client, () => this.getThreads(), addThreadToDocument !== undefined);
    this.#unsubscribe = source.subscribe(() => {}); // keeps the comments up to date
  }

  /** Throws FORBIDDEN if the user may neither mark the text nor have it marked. */
  async createThread(thread: {
    readonly initialComment: Written;
    readonly metadata?: unknown;
  }): Promise<ThreadData> {
    if (!this.auth.canCreateThread()) throw new AtriumError(FORBIDDEN);
    const { body, metadata } = thread.initialComment;
    return this.getThread(
      (await this.#create(undefined, body, { comment: metadata, thread: thread.metadata })).id,
    );
  }

  async addComment({
    threadId,
    comment,
  }: {
    readonly threadId: string;
    readonly comment: Written;
  }): Promise<CommentData> {
    this.getThread(threadId);
    const { id } = await this.#create(threadId, comment.body, { comment: comment.metadata });
    return this.#get({ threadId, commentId: id });
  }

  /** Keeps the comment's metadata unless `comment` has some. Notifies users whom it did not mention before. */
  async updateComment({ comment, ...place }: Place & { readonly comment: Written }): Promise<void> {
    this.#get(place);
    const earlier = this.#source.read().find(({ id }) => id === place.commentId);
    const before: StoredMetadata = earlier === undefined ? {} : metadataOf(earlier);
    const own = { ...before, comment: comment.metadata ?? before.comment };
    await this.#client.comments.update({
      commentId: place.commentId,
      ...(await this.#write(comment.body, own)),
    });
  }

  /** The last comment takes its thread with it. Nothing is left of a deleted comment. */
  async deleteComment(place: Place): Promise<void> {
    const { id } = this.#get(place);
    await this.#client.comments.delete({ commentId: id });
  }

  /** Deletes all comments of the thread, the latest first. Throws FORBIDDEN if others have written in it. */
  async deleteThread({ threadId }: { readonly threadId: string }): Promise<void> {
    const thread = this.getThread(threadId);
    if (!this.auth.canDeleteThread(thread)) throw new AtriumError(OTHERS);
    for (const { id } of [...thread.comments].reverse())
      await this.#client.comments.delete({ commentId: id });
  }

  async resolveThread({ threadId }: { readonly threadId: string }): Promise<void> {
    await this.#resolve(threadId, true);
  }

  async unresolveThread({ threadId }: { readonly threadId: string }): Promise<void> {
    await this.#resolve(threadId, false);
  }

  async addReaction(reaction: Reaction): Promise<void> {
    await this.#react(reaction, true);
  }

  async deleteReaction(reaction: Reaction): Promise<void> {
    await this.#react(reaction, false);
  }

  /** Throws NOT_FOUND if the document has no such thread. */
  getThread(threadId: string): ThreadData {
    const thread = this.getThreads().get(threadId);
    if (thread === undefined) throw missing("Thread");
    return thread;
  }

  /** All threads of the document, by their IDs. */
  getThreads(): Map<string, ThreadData> {
    const comments = this.#source.read();
    if (comments !== this.#comments) this.#threads = this.#threadsOf(comments);
    this.#comments = comments;
    return this.#threads;
  }

  /** Calls back with all threads after each change. Returns a function that ends it. */
  subscribe(listener: (threads: Map<string, ThreadData>) => void): () => void {
    return this.#source.subscribe(() => listener(this.getThreads()));
  }

  /** Names and pictures of users of the room, for `CommentsExtension`. */
  readonly resolveUsers = async (
    userIds: readonly string[],
  ): Promise<{ id: string; username: string; avatarUrl: string }[]> => {
    const { users } = this.#client;
    await users.load({ userIds });
    return userIds.map((userId) => userOf(userId, users.get({ userId })));
  };

  /** Ends the updates. The client stays in the room. */
  destroy(): void {
    this.#unsubscribe();
  }

  #get({ threadId, commentId }: Place): CommentData {
    const comment = this.getThread(threadId).comments.find(({ id }) => id === commentId);
    if (comment === undefined) throw missing("Comment");
    return comment;
  }

  async #create(threadId: string | undefined, body: unknown, own: StoredMetadata): Promise<Comment> {
    const written = await this.#write(body, own);
    return this.#client.comments.create({ ...written, threadId, anchor: this.#anchor });
  }

  /** The text of a body, its metadata with the body, and the users whom it mentions. */
  async #write(body: unknown, own: StoredMetadata) {
    const { users } = this.#client;
    const texts = mentionTexts(body);
    await users.load({ userIds: texts.filter((text) => ID.test(text)) });
    const mentioned = texts.flatMap((userId) => users.get({ userId }) ?? []);
    const names = Object.fromEntries(mentioned.map(({ id, name }) => [id, name]));
    const mentions = Object.keys(names);
    return {
      text: textOf(body, names),
      metadata: { ...own, body, names: mentions.length > 0 ? names : undefined },
      mentions,
    };
  }

  async #resolve(threadId: string, resolved: boolean): Promise<void> {
    const [first] = this.getThread(threadId).comments;
    if (first !== undefined) await this.#client.comments.resolve({ commentId: first.id, resolved });
  }

  async #react({ emoji, ...place }: Reaction, on: boolean): Promise<void> {
    const { id } = this.#get(place);
    await this.#client.comments.react({ commentId: id, reaction: emoji, on });
  }
}

const userOf = (id: string, user: User | null) => ({
  id,
  username: user?.name ?? "Deleted user",
  avatarUrl: user?.profile_picture ?? "",
});
