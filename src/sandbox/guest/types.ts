/** The types that a workflow's author writes against; `atrium/workflow` publishes them. */

import type { Comment } from "../../wire/comment.ts";
import type { EventName, WorkflowEventName } from "../../wire/events.ts";
import type { StorageFile, UploadResult } from "../../wire/file.ts";
import type { Room } from "../../wire/room.ts";
import type { User } from "../../wire/user.ts";
import type { WorkflowEvent } from "../../wire/workflow-events.ts";

/** The events of these names. */
export type EventOf<Name extends WorkflowEventName> = WithName<WorkflowEvent, Name>;

/** Distributes over the union of events, and narrows those that share a type to the names that were asked for. */
type WithName<Any extends WorkflowEvent, Name> = Any extends { readonly event: infer Own }
  ? [Own & Name] extends [never]
    ? never
    : Any & { readonly event: Own & Name }
  : never;

/**
 * A workflow: the default export of its module, a function that runs on the events named. Its result is stored as
 * JSON of at most 256 KiB; an error that it throws becomes the result of a failed execution. It runs at most once for
 * each event, unless the workflow has retries.
 */
export type Workflow<Name extends WorkflowEventName = EventName> = (
  event: EventOf<Name>,
  bindings: Bindings<Name>,
) => unknown;

/**
 * What a workflow can use besides `fetch`. Everything concerns the room of the event, and ends with the run; on
 * `workflow.scheduled` and `workflow.triggered`, that is the workflow's own room, and without one all of it rejects. A run
 * can make 200 calls, including those of `fetch`; six run at a time, and others wait. A call that fails rejects
 * with an `Error` whose message says what to do.
 */
export interface Bindings<Name extends WorkflowEventName = EventName> {
  /** The room's key-value stores, read-only. */
  readonly store: StoreBinding;
  /** The room and its users, read-only. */
  readonly room: RoomBinding;
  /** The room's documents, read-only. */
  readonly documents: DocumentsBinding;
  /** The room's files. */
  readonly files: FilesBinding;
  /** Changes in the room, as the organization. */
  readonly actions: ActionsBinding;
  /** The workflow's secrets by name, as text. What the run logs and returns shows `***` in their place. */
  readonly env: Readonly<Record<string, string>>;
  /** The event that started the run, the same as the first argument. */
  readonly event: EventOf<Name>;
  /**
   * Counts the runs for the event, from 1: more than 1 only with retries. A run that a restart of the service has cut
   * off is made again under the same number.
   */
  readonly attempt: number;
}

/**
 * What a run changes in the room, as a request with an API key would, within the same limits. A run that is made again
 * for its event does not repeat an action: one with the same arguments resolves to what the first one did. Keep times and
 * random values out of them, and use the event's own. Events that follow carry a `depth`.
 */
export interface ActionsBinding {
  readonly stores: StoreActions;
  readonly comments: CommentActions;
  readonly broadcasts: BroadcastActions;
}

export interface StoreActions {
  /** Sets an entry to any JSON value; its version is the `seq` of the change. */
  set(
    store: string,
    key: string,
    value: unknown,
  ): Promise<{ readonly version: number; readonly seq: number }>;
  /** Deletes an entry, if there is one. */
  delete(store: string, key: string): Promise<void>;
}

/** A comment to write on behalf of a user of the room. */
export interface CommentAction {
  /** The author. */
  readonly userId: string;
  readonly text: string;
  /** The thread to reply in; without it, the comment starts one. */
  readonly threadId?: string;
  /** The place or thing that the comment is about, in your own format. */
  readonly anchor?: unknown;
  /** The ids of the mentioned users. */
  readonly mentions?: readonly string[];
}

export interface CommentActions {
  /** Writes a comment, or a reply. Rejects without the user or the thread. */
  create(comment: CommentAction): Promise<Comment>;
  /** Resolves a comment or, with false, reopens it. */
  resolve(commentId: string, resolved?: boolean): Promise<Comment>;
}

/** A message to the users who are online. */
export interface BroadcastAction {
  readonly event: string;
  /** Any JSON, at most 64 KiB. */
  readonly data?: unknown;
  /** If omitted, everyone who is online. */
  readonly userIds?: readonly string[];
}

export interface BroadcastActions {
  /** Sends the message, whose `from` is null. Resolves to the number of users reached. */
  send(message: BroadcastAction): Promise<{ readonly delivered: number }>;
}

export interface StoreBinding {
  /** The value of a key, or null if the store has no such key. */
  get(store: string, key: string): Promise<unknown>;
  /** All values of a store by key; empty if the store does not exist. The object has no prototype. */
  getAll(store: string): Promise<Record<string, unknown>>;
}

export interface RoomBinding {
  /** The room with its current counts, or null if it has been deleted. */
  get(): Promise<Room | null>;
  /** The room's users with their current status, without tokens; newest first, at most 1,000. */
  getUsers(): Promise<User[]>;
}

/** A document of the room. */
export interface RoomDocument {
  readonly name: string;
  /** Encoded, without the history. */
  readonly bytes: number;
  /** The number of its latest update. */
  readonly seq: number;
  readonly created_at: string;
  readonly updated_at: string;
}

/** Which of a document's shared types to read, and what it is: the document itself does not say it. */
export interface DocumentContent {
  /** `text` by default. Text and XML are read as a string, the others as JSON. */
  readonly type?: "text" | "map" | "array" | "xml";
  /** The name of the shared type; `default` if it is left out. */
  readonly root?: string;
}

export interface DocumentsBinding {
  /** The room's documents, by name. */
  list(): Promise<RoomDocument[]>;
  /** The present content of one of them, or null if the room has no such document. Rejects for more than 4,194,304 characters. */
  get(name: string, content?: DocumentContent): Promise<unknown>;
}

/** Which files to list; a file must match both fields. */
export interface FileFilter {
  /** A media type such as `image/png`, or a category such as `image/*`. */
  readonly mimeType?: string;
  /** The id of the user who uploaded the file, or `workflow:` and the id of the workflow that stored it. */
  readonly userId?: string;
}

/** A file with its content. */
export interface FileWithContent extends StorageFile {
  readonly data: ArrayBuffer;
  /** The content decoded as UTF-8. */
  text(): string;
  /** The content parsed as JSON; throws a `SyntaxError` if it is not JSON. */
  json(): unknown;
}

export type FileContent = string | ArrayBuffer | ArrayBufferView | Blob;

export interface FilesBinding {
  /** The room's files, newest first, at most 1,000. */
  list(filter?: FileFilter): Promise<StorageFile[]>;
  /** A file with its content, or null if the room has no file with this key. Rejects for a file over 8 MiB. */
  get(key: string): Promise<FileWithContent | null>;
  /**
   * Stores a new file of at most 8 MiB; files of the same name stay. Text is stored as UTF-8. `type` defaults to
   * `text/plain` for text, to a Blob's own type, and to `application/octet-stream` for anything else. Rejects if the
   * room is closed or has been deleted.
   */
  put(name: string, data: FileContent, type?: string): Promise<UploadResult>;
  /** Deletes a file; resolves to false if the room has no file with this key. */
  delete(key: string): Promise<boolean>;
}
