/** `atrium/workflow`: types for whoever writes a workflow. Nothing of it is there when the workflow runs. */
import type { AtriumEvent, EventName } from "../wire/events.ts";
import type { Room, StorageFile, UploadResult, UserRecord } from "../wire/resources.ts";

export type { AtriumEvent, EventName } from "../wire/events.ts";
export type { Room, StorageFile, UploadResult, UserRecord as User } from "../wire/resources.ts";

/** What a workflow is told that runs on these events. */
export type EventOf<Name extends EventName> = Named<AtriumEvent, Name>;

/** Of several kinds of events those that may have the name, and of their names that one alone. */
type Named<Any extends AtriumEvent, Name> = Any extends { readonly event: infer Own }
  ? [Own & Name] extends [never]
    ? never
    : Any & { readonly event: Own & Name }
  : never;

/**
 * The function that a workflow's module exports as its default, for the events that it runs on. What it returns is
 * kept as JSON, at most 256 KiB; what it throws is the execution's error. It runs at most once for each event.
 */
export type Workflow<Name extends EventName = EventName> = (
  event: EventOf<Name>,
  bindings: Bindings<Name>,
) => unknown;

/**
 * What a workflow may do, beside `fetch`: all of it concerns the room of its event, and ends with the run. A run may
 * make 200 calls, those of `fetch` among them. A call that is refused or fails rejects with an `Error` that says what
 * to do.
 */
export interface Bindings<Name extends EventName = EventName> {
  /** The key-value stores of the room, to read. */
  readonly store: StoreBinding;
  /** The room and its users, to read. */
  readonly room: RoomBinding;
  /** The files of the room. */
  readonly files: FilesBinding;
  /** The event that the run is for: the first argument once more. */
  readonly event: EventOf<Name>;
}

export interface StoreBinding {
  /** The value under a key of a store; null when there is none. */
  get(store: string, key: string): Promise<unknown>;
  /** All values of a store by their keys, in an object without a prototype. */
  getAll(store: string): Promise<Record<string, unknown>>;
}

export interface RoomBinding {
  /** The room with its figures as they are now; null when it has been deleted. */
  get(): Promise<Room | null>;
  /** The users of the room with their status as it is now; the newest first, at most 1,000. */
  getUsers(): Promise<UserRecord[]>;
}

/** Which files a list shows; both together narrow it down. */
export interface FileFilter {
  /** A media type such as `image/png`, or a category such as `image/*`. */
  readonly mimeType?: string;
  /** The id of the user who uploaded them, or `workflow:` and the id of a workflow. */
  readonly userId?: string;
}

/** A file with what is in it. */
export interface FileWithContent extends StorageFile {
  readonly data: ArrayBuffer;
  /** The content as UTF-8. */
  text(): string;
  /** The content as JSON; throws when it is none. */
  json(): unknown;
}

export type FileContent = string | ArrayBuffer | ArrayBufferView | Blob;

export interface FilesBinding {
  /** The files of the room, the newest first, at most 1,000. */
  list(filter?: FileFilter): Promise<StorageFile[]>;
  /** A file of the room; null when it has none of this key. Rejects when the file has more than 8 MiB. */
  get(key: string): Promise<FileWithContent | null>;
  /**
   * Stores a new file of at most 8 MiB in the room; one of the same name stays beside it. Text is stored as UTF-8.
   * Without a `type`, text is `text/plain`, a Blob has its own type, and all else is `application/octet-stream`.
   * Rejects when the room is closed or has been deleted.
   */
  put(name: string, data: FileContent, type?: string): Promise<UploadResult>;
  /** Deletes a file of the room; false when it has none of this key. */
  delete(key: string): Promise<boolean>;
}
