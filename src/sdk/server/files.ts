/** `AtriumServer.files`: the files of a room. */
import { type FileFilter, type Progress, uploadFile } from "../core/upload.ts";
import type { FoundFile, StorageFile, UploadResult } from "../wire/resources.ts";
import { eachOf, type FileSort, Resource, type Scroll, type ScrollShown } from "./pages.ts";

/** A file to upload on behalf of a user of the room. */
export interface ServerUpload {
  readonly userId: string;
  /** At most 100 MiB. */
  readonly file: Blob;
  readonly filename: string;
  /** Called as the file is sent, in browsers only. */
  readonly onProgress?: (progress: Progress) => void;
  /** Aborts the upload: nothing is stored then. */
  readonly signal?: AbortSignal;
}

/** Filters the files of all rooms; a file must match all fields. */
export interface FileSearch {
  /** Text to find in the name, ignoring case; all files, unless it is given. */
  readonly search?: string;
  readonly roomId?: string;
  /** The id of the user who uploaded the file. */
  readonly userId?: string;
}

export class Files extends Resource {
  upload(roomId: string, upload: ServerUpload): Promise<UploadResult> {
    return uploadFile(this.rest, { roomId, ...upload });
  }

  /** Newest first, or in the order of `sort`. */
  list(
    roomId: string,
    filter: Scroll & FileFilter & FileSort = {},
  ): Promise<{ readonly files: StorageFile[] } & ScrollShown> {
    return this.rest.get(["files"], { roomId, ...filter });
  }

  /** All files of a room, newest first or in the order of `sort`. Reads 100 at a time. */
  each(roomId: string, filter: FileFilter & FileSort = {}): AsyncGenerator<StorageFile, void, void> {
    return eachOf(
      (part) => this.list(roomId, { ...filter, ...part }),
      ({ files }) => files,
    );
  }

  /**
   * Finds files of all rooms, newest first: at most `limit` (100; 50 by default), and fewer or none if many names had to be
   * read. While `cursor` is not null, the search goes on with it as `after`.
   */
  find(
    search: FileSearch & Pick<Scroll, "limit" | "after"> = {},
  ): Promise<{ readonly files: FoundFile[]; readonly cursor: string | null }> {
    return this.rest.get(["organization", "files"], search);
  }

  /** All files of all rooms that match, newest first. */
  eachFound(search: FileSearch = {}): AsyncGenerator<FoundFile, void, void> {
    return eachOf(
      (part) => this.find({ ...search, ...part }),
      ({ files }) => files,
    );
  }

  delete(key: string): Promise<void> {
    return this.rest.delete(["upload"], { body: { key } });
  }
}
