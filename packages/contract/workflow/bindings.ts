/** The types that a workflow's author writes against; `atrium/workflow` publishes them. */

import type { CommentInput } from "@atrium/contract/operations/comments.ts";
import type { BroadcastData } from "@atrium/contract/operations/presence.ts";
import type { Comment } from "@atrium/contract/resources/comment.ts";
import type { EventName, WorkflowEventName } from "@atrium/contract/resources/events.ts";
import type { StorageFile, UploadResult } from "@atrium/contract/resources/file.ts";
import type { Room } from "@atrium/contract/resources/room.ts";
import type { User } from "@atrium/contract/resources/user.ts";
import type { WorkflowEvent } from "@atrium/contract/resources/workflow-events.ts";
import type { DocumentEditsInput, EditedDocument, ReadBlocks } from "@atrium/contract/rest/document-edits.ts";
import type { DocumentSummary } from "@atrium/contract/rest/documents.ts";

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
 * Bindings of a workflow, beside the global `fetch`. They act on the room of the event, and end with the run;
 * on `workflow.scheduled` and `workflow.triggered`, that is the workflow's own room, and without a room every
 * call rejects. A run can make 200 calls, including those of `fetch`; six run at a time, and others wait. A
 * call that fails rejects with an `Error` whose message says what to do.
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
  /** The workflow's secrets by name, as text. Logs and results of runs show `***` in their place. */
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
 * Changes that a run makes in the room, like requests with an API key, within the same limits. Another run for
 * the same event does not repeat an action: a call with the same arguments resolves to the first result. Keep
 * times and random values out of the arguments, and use the event's own. Events that follow carry a `depth`.
 */
export interface ActionsBinding {
  readonly stores: StoreActions;
  readonly comments: CommentActions;
  readonly broadcasts: BroadcastActions;
  readonly documents: DocumentActions;
}

/** Edits of a document, of one of its shared types, with the `base` that was read. */
export type DocumentEditAction = Immutable<DocumentEditsInput>;

export interface DocumentActions {
  /**
   * Edits a document while people write in it: all edits, or none. Rejects when a place is not there as the run has
   * read it; nothing that people type is overwritten.
   */
  edit(name: string, edits: DocumentEditAction): Promise<EditedDocument>;
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

/** The same type for callers whose objects and lists are constants. */
export type Immutable<Type> = Type extends readonly (infer Item)[]
  ? readonly Item[]
  : Type extends object
    ? { readonly [Name in keyof Type]: Immutable<Type[Name]> }
    : Type;

/** A comment to write on behalf of a user of the room. */
export type CommentAction = Immutable<CommentInput>;

export interface CommentActions {
  /** Writes a comment, or a reply. Rejects without the user or the thread. */
  create(comment: CommentAction): Promise<Comment>;
  /** Resolves a comment or, with false, reopens it. */
  resolve(commentId: string, resolved?: boolean): Promise<Comment>;
}

/** A message to the users who are online. */
export type BroadcastAction = Immutable<BroadcastData>;

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
export type RoomDocument = Pick<DocumentSummary, "name" | "bytes" | "seq" | "created_at" | "updated_at">;

/** Selects one of a document's shared types and its kind, which the document itself does not say. */
export interface DocumentContent {
  /** `text` by default. Text and XML are read as a string, the others as JSON. */
  readonly type?: "text" | "map" | "array" | "xml";
  /** The name of the shared type; `default` if it is left out. */
  readonly root?: string;
}

/** Blocks of a document, and where to go on after an earlier page. */
export interface BlocksOfDocument {
  /** `text` by default; `xml` for the documents of editors. */
  readonly type?: "text" | "xml";
  /** The name of the shared type; `default` if it is left out. */
  readonly root?: string;
  /** The `next` of an earlier page. */
  readonly after?: string;
}

export interface DocumentsBinding {
  /** The room's documents, by name. */
  list(): Promise<RoomDocument[]>;
  /** The present content of one of them, or null if the room has no such document. Rejects for more than 4,194,304 characters. */
  get(name: string, content?: DocumentContent): Promise<unknown>;
  /** Up to 1,000 of its blocks with their places for edits, or null if the room has no such document. */
  blocks(name: string, blocks?: BlocksOfDocument): Promise<ReadBlocks | null>;
}

/** Filters files; a file must match both fields. */
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
