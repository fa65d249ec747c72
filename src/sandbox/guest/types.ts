/** The types of a program: its event, its bindings, and the resources that they return. */
import type { Event } from "../../delivery/events.ts";
import type { StorageFile, UploadResult } from "../../files/schema.ts";
import type { Room } from "../../rooms/schema.ts";
import type { User } from "../../users/schema.ts";
import type { BindingAnswer, HostBindings } from "../runners/runner.ts";

export type { Event, Room, StorageFile, UploadResult, User };

/**
 * A workflow: the default export of its module. What it returns is kept as JSON, at most 256 KiB of it; what it
 * throws is the execution's error. It runs at most once for each event.
 */
export type Workflow = (event: Event, bindings: Bindings) => unknown;

/**
 * What a workflow may do: everything concerns the room of its event, and nothing outlives the run. A run may make
 * 200 calls, those of `fetch` among them; six are under way at once, and others wait. A call that is refused or
 * fails rejects with an `Error` that says what to do.
 */
export interface Bindings {
  /** The key-value stores of the room, to read. */
  readonly store: StoreBinding;
  /** The room and its users, to read. */
  readonly room: RoomBinding;
  /** The files of the room. */
  readonly files: FilesBinding;
  /** The event that the run is for: the first argument once more. */
  readonly event: Event;
}

export interface StoreBinding {
  /** The value under a key of a store; null when there is none. */
  get(store: string, key: string): Promise<unknown>;
  /** All values of a store by their keys, in an object without a prototype; empty for a store without entries. */
  getAll(store: string): Promise<Record<string, unknown>>;
}

export interface RoomBinding {
  /** The room with its figures as they are now; null when it has been deleted. */
  get(): Promise<Room | null>;
  /** The users of the room with their status as it is now, without their tokens; the newest first, at most 1,000. */
  getUsers(): Promise<User[]>;
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

/** The service's side of the bindings, with the types of the resources that it returns. */
export interface TypedHostBindings extends HostBindings {
  roomGet(): Promise<BindingAnswer<Room | null>>;
  roomGetUsers(): Promise<BindingAnswer<User[]>>;
  filesList(filter: unknown): Promise<BindingAnswer<StorageFile[]>>;
  filesGet(key: unknown): Promise<BindingAnswer<(StorageFile & { readonly data: ArrayBuffer }) | null>>;
  filesPut(name: unknown, bytes: unknown, type: unknown): Promise<BindingAnswer<UploadResult>>;
}

/** The port does not know the resources, so that the sandbox's runners depend on no feature. */
export const withTypes = (host: HostBindings): TypedHostBindings => host as TypedHostBindings;
