/** `AtriumServer.stores`, `.comments` and `.files`: the content of a room. */
import type { Fault } from "../core/error.ts";
import type { SomeOf } from "../core/json.ts";
import { type FileFilter, type Progress, uploadFile } from "../core/rest.ts";
import type * as input from "../wire/requests.ts";
import type * as wire from "../wire/resources.ts";
import {
  eachOf,
  type FileSort,
  type Filter,
  type Listed,
  Resource,
  type Scroll,
  type ScrollShown,
} from "./pages.ts";

export interface WriteOptions {
  /** Writes only if the entry has this version, 0 for no entry; otherwise `CONFLICT`. */
  readonly ifVersion?: number | undefined;
}

interface Writing extends WriteOptions {
  readonly value: unknown;
}

/** A page of a store's entries. */
export interface EntryPage {
  /** Only the entries after this key. */
  readonly after?: string | undefined;
  /** At most 10,000, which is the default. A page has about 1 MiB at most. */
  readonly limit?: number | undefined;
}

/** One operation of a batch. */
export type StoreOperation = { readonly store: string; readonly key: string } & WriteOptions &
  (
    | { readonly type: "STORE_SET"; readonly value: unknown }
    | { readonly type: "STORE_UPDATE"; readonly value: object }
    | { readonly type: "STORE_DELETE" }
  );

/** 1 to 500 operations: all or none, unless `atomic` is false. Sent again under its id, a batch is carried out once. */
export interface StoreBatch {
  readonly requestId: string;
  readonly operations: readonly StoreOperation[];
  readonly atomic?: boolean | undefined;
}

/** The response to one batch. In a batch that is not atomic, an operation can be refused by itself. */
export interface BatchResponse {
  readonly requestId: string;
  readonly success: boolean;
  readonly data: {
    readonly results?: readonly (
      | { readonly version?: number; readonly seq: number }
      | { readonly error: Fault }
    )[];
    readonly seq?: number;
  };
  readonly error: Fault | null;
}

export class Stores extends Resource {
  /** The stores of a room that have entries. */
  list(roomId: string): Promise<wire.StoreSummary[]> {
    return this.only("stores", this.rest.get(["rooms", roomId, "stores"]));
  }

  /** All entries by key, read page by page, and the room's latest change at the last page. Empty without such a store. */
  async getAll(roomId: string, store: string): Promise<Omit<wire.Entries, "next">> {
    const all = new Map<string, wire.Entry>();
    for (let after: string | undefined; ; ) {
      const { entries, seq, next } = await this.getPage(roomId, store, after === undefined ? {} : { after });
      for (const [key, entry] of Object.entries(entries)) all.set(key, entry);
      if (next === undefined) return { entries: Object.fromEntries(all), seq };
      after = next;
    }
  }

  /** Some of the entries: for stores that are too large to hold whole. */
  getPage(roomId: string, store: string, page: EntryPage = {}): Promise<wire.Entries> {
    return this.rest.get(["rooms", roomId, "stores", store], page);
  }

  /** Applies 1 to 100 batches, each by itself: a refused one does not stop the next. */
  batch(roomId: string, requests: readonly StoreBatch[]): Promise<readonly BatchResponse[]> {
    return this.only("responses", this.rest.post(["rooms", roomId, "stores", "batch"], { requests }));
  }

  /** Throws `NOT_FOUND` if there is no such entry. */
  get(roomId: string, store: string, key: string): Promise<wire.Entry> {
    return this.rest.get(["rooms", roomId, "stores", store, key]);
  }

  /** Writes a whole value: any JSON of at most 192 KiB. */
  set(
    roomId: string,
    store: string,
    key: string,
    value: unknown,
    options: WriteOptions = {},
  ): Promise<wire.Written> {
    return this.#write("PUT", ["rooms", roomId, "stores", store, key], { value, ...options });
  }

  /** Merges fields into the top level of a value. Throws `CONFLICT` if the value is not an object. */
  update(
    roomId: string,
    store: string,
    key: string,
    value: object,
    options: WriteOptions = {},
  ): Promise<wire.Written> {
    return this.#write("PATCH", ["rooms", roomId, "stores", store, key], { value, ...options });
  }

  /** Deletes an entry. Deleting one that does not exist succeeds. */
  async delete(roomId: string, store: string, key: string, options: WriteOptions = {}): Promise<void> {
    const path = ["rooms", roomId, "stores", store, key];
    await this.rest.request({
      method: "DELETE",
      path,
      query: options,
      isConditional: options.ifVersion !== undefined,
    });
  }

  #write(method: "PUT" | "PATCH", path: readonly string[], body: Writing): Promise<wire.Written> {
    return this.rest.request({ method, path, body, isConditional: body.ifVersion !== undefined });
  }
}

/** Filters a list of comments; a comment must match all fields. */
export interface CommentFilter extends Scroll {
  /** Text to find in the comment's text, ignoring case. */
  readonly search?: string | undefined;
  readonly threadId?: string | undefined;
  readonly resolved?: boolean | undefined;
}

/** `AtriumServer.comments`: threads of a room. */
export class Comments extends Resource {
  /** Oldest first. */
  list(roomId: string, filter: CommentFilter = {}): Promise<Listed<"comments", wire.Comment>> {
    return this.rest.get(["rooms", roomId, "comments"], filter);
  }

  /** All comments of a room, oldest first, 100 at a time: `for await (const comment of atrium.comments.each(roomId))`. */
  each(roomId: string, filter: Filter<CommentFilter> = {}): AsyncGenerator<wire.Comment, void, void> {
    return eachOf("comments", (part) => this.list(roomId, { ...filter, ...part }));
  }

  /** Writes a comment for the user `userId`. Without `threadId` it starts a thread. */
  create(roomId: string, comment: input.CommentInput): Promise<wire.Comment> {
    return this.only("comment", this.rest.post(["rooms", roomId, "comments"], comment));
  }

  /** Changes the text, the anchor or the metadata, or resolves or reopens the comment. */
  update(roomId: string, commentId: string, changes: input.CommentUpdateInput): Promise<wire.Comment> {
    return this.only("comment", this.rest.patch(["rooms", roomId, "comments", commentId], changes));
  }

  delete(roomId: string, commentId: string): Promise<void> {
    return this.rest.delete(["rooms", roomId, "comments", commentId]);
  }
}

/** Filters a list of threads; a thread must match all fields. */
export interface ThreadFilter extends Scroll {
  readonly resolved?: boolean | undefined;
  /** The reader for whom threads are read: a user of the room, or an identity, by its ID. */
  readonly userId?: string | undefined;
  /** Threads with comments that the reader has not read; needs `userId`. */
  readonly unread?: boolean | undefined;
  /** Threads of which the reader is notified; needs `userId`. */
  readonly subscribed?: boolean | undefined;
}

/** `AtriumServer.threads`: a room's threads, and what their readers have read. Readers are users of the room, or identities. */
export class Threads extends Resource {
  /** The latest comment first. */
  list(roomId: string, filter: ThreadFilter = {}): Promise<Listed<"threads", wire.Thread>> {
    return this.rest.get(["rooms", roomId, "threads"], filter);
  }

  /** All threads of a room, the latest comment first, 100 at a time. */
  each(roomId: string, filter: Filter<ThreadFilter> = {}): AsyncGenerator<wire.Thread, void, void> {
    return eachOf("threads", (part) => this.list(roomId, { ...filter, ...part }));
  }

  /** A thread; with a reader, also what the reader has read. */
  get(
    roomId: string,
    threadId: string,
    reader: { readonly userId?: string | undefined } = {},
  ): Promise<wire.Thread> {
    return this.only("thread", this.rest.get(this.#path(roomId, threadId), reader));
  }

  /** The people who wrote in it or are mentioned in it. */
  participants(roomId: string, threadId: string): Promise<readonly wire.ThreadParticipant[]> {
    return this.only("participants", this.rest.get([...this.#path(roomId, threadId), "participants"]));
  }

  /** Resolves or reopens the thread. */
  update(roomId: string, threadId: string, changes: { readonly resolved: boolean }): Promise<wire.Thread> {
    return this.only("thread", this.rest.patch(this.#path(roomId, threadId), changes));
  }

  /** Deletes the thread with its comments. */
  delete(roomId: string, threadId: string): Promise<void> {
    return this.rest.delete(this.#path(roomId, threadId));
  }

  /** Notifies the reader of comments. */
  subscribe(roomId: string, threadId: string, userId: string): Promise<wire.Thread> {
    return this.#act(roomId, threadId, "subscribe", { userId });
  }

  /** Notifies the reader no longer, not even of mentions. */
  unsubscribe(roomId: string, threadId: string, userId: string): Promise<wire.Thread> {
    return this.#act(roomId, threadId, "unsubscribe", { userId });
  }

  /** The reader has read the comments up to `seq`, such as the `last_seq` of the thread when it was shown; all without it. */
  markAsRead(roomId: string, threadId: string, userId: string, seq?: number): Promise<wire.Thread> {
    return this.#act(roomId, threadId, "mark-as-read", { userId, seq });
  }

  /** The reader's subscription settings in the room. */
  settings(roomId: string, userId: string): Promise<wire.SubscriptionSettings> {
    return this.only("settings", this.rest.get(["rooms", roomId, "users", userId, "subscription-settings"]));
  }

  /** Changes it; fields that are left out stay. */
  updateSettings(
    roomId: string,
    userId: string,
    changes: SomeOf<wire.SubscriptionSettings>,
  ): Promise<wire.SubscriptionSettings> {
    const path = ["rooms", roomId, "users", userId, "subscription-settings"];
    return this.only("settings", this.rest.patch(path, changes));
  }

  #path(roomId: string, threadId: string): string[] {
    return ["rooms", roomId, "threads", threadId];
  }

  #act(roomId: string, threadId: string, action: string, body: object): Promise<wire.Thread> {
    return this.only("thread", this.rest.post([...this.#path(roomId, threadId), action], body));
  }
}

/** A file to upload on behalf of a user of the room. */
export interface ServerUpload {
  readonly userId: string;
  /** At most 100 MiB. */
  readonly file: Blob;
  readonly filename: string;
  /** Called as the file is sent, in browsers only. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Aborts the upload: nothing is stored then. */
  readonly signal?: AbortSignal | undefined;
}

/** Filters the files of all rooms; a file must match all fields. */
export interface FileSearch {
  /** Text to find in the name, ignoring case; all files, unless it is given. */
  readonly search?: string | undefined;
  readonly roomId?: string | undefined;
  /** The id of the user who uploaded the file. */
  readonly userId?: string | undefined;
}

/** `AtriumServer.files`: the files of a room. */
export class Files extends Resource {
  upload(roomId: string, upload: ServerUpload): Promise<wire.UploadResult> {
    return uploadFile(this.rest, { roomId, ...upload });
  }

  /** Newest first, or in the order of `sort`. */
  list(
    roomId: string,
    filter: Scroll & FileFilter & FileSort = {},
  ): Promise<Listed<"files", wire.StorageFile>> {
    return this.rest.get(["files"], { roomId, ...filter });
  }

  /** All files of a room, newest first or in the order of `sort`, 100 at a time. */
  each(roomId: string, filter: FileFilter & FileSort = {}): AsyncGenerator<wire.StorageFile, void, void> {
    return eachOf("files", (part) => this.list(roomId, { ...filter, ...part }));
  }

  /** Files of all rooms, newest first. A page can be short or empty: go on while `cursor` is not null. */
  find(
    search: FileSearch & Pick<Scroll, "limit" | "after"> = {},
  ): Promise<Listed<"files", wire.FoundFile, Pick<ScrollShown, "cursor">>> {
    return this.rest.get(["organization", "files"], search);
  }

  /** All files of all rooms that match, newest first. */
  eachFound(search: FileSearch = {}): AsyncGenerator<wire.FoundFile, void, void> {
    return eachOf("files", (part) => this.find({ ...search, ...part }));
  }

  delete(key: string): Promise<void> {
    return this.rest.delete(["upload"], { body: { key } });
  }
}
