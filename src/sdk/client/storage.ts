/** `client.storage`: the room's files, over HTTP with the user's token. It works without `join()`. */
import { AtriumError } from "../core/error.ts";
import type { FileFilter, Progress } from "../core/upload.ts";
import type { StorageFile, UploadResult } from "../wire/resources.ts";
import { NOT_JOINED } from "./connection/requests.ts";
import { fileUrl, httpUrl } from "./connection/token.ts";
import type { Tokens } from "./connection/tokens.ts";
import type { RoomFiles } from "./room-files.ts";

export interface Upload {
  /** At most 100 MiB. */
  readonly file: Blob;
  /** Required unless `file` is a `File`, which has a name. */
  readonly filename?: string | undefined;
  /** Called as the file is sent, in browsers only, and once when it is stored. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Aborts the upload, which rejects with the signal's reason and stores nothing. */
  readonly signal?: AbortSignal | undefined;
}

export class Storage {
  /** The address of the service for sockets. */
  readonly #base: string;
  readonly #tokens: Tokens;

  constructor(base: string, tokens: Tokens) {
    this.#base = base;
    this.#tokens = tokens;
  }

  async #room(): Promise<RoomFiles> {
    const { openFiles } = await import("./room-files.ts");
    return openFiles(httpUrl(this.#base), this.#tokens);
  }

  /**
   * Stores a file in the room, and retries if the network fails; the file is stored once. Throws VALIDATION_ERROR for
   * a file that is too large or has no name, and FORBIDDEN for viewers.
   */
  async upload({ filename, ...upload }: Upload): Promise<UploadResult> {
    return (await this.#room()).upload({ ...upload, filename: filename ?? nameOf(upload.file) });
  }

  /**
   * The URL of a file, for an `<img>` for example. Anyone who knows the key can read the file. Throws NOT_JOINED if
   * `authToken` is a function that has not returned a token yet.
   */
  getUrl({ key }: { readonly key: string }): string {
    const { claims } = this.#tokens;
    if (claims !== null) return fileUrl(this.#base, claims, key);
    throw new AtriumError(NOT_JOINED);
  }

  /** All files of the room, newest first. */
  async getAll(filter: FileFilter = {}): Promise<StorageFile[]> {
    return (await this.#room()).getAll(filter);
  }

  /** Deletes one of your own files. Throws NOT_FOUND if the room has no such file. */
  async delete({ key }: { readonly key: string }): Promise<void> {
    return (await this.#room()).delete(key);
  }
}

/** Only a `File` has a name. */
const nameOf = (file: Blob): string => (file as Partial<File>).name ?? "";
