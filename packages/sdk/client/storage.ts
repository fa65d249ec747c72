/** `client.storage`: the room's files, over HTTP with the user's token. It works without `join()`. */
import { AtriumError, clientFault } from "../core/error.ts";
import type { FileFilter } from "../core/rest.ts";
import { abortable } from "../core/runtime.ts";
import type { StorageFile, UploadResult } from "../wire/resources.ts";
import { NOT_JOINED } from "./connection/requests.ts";
import { fileUrl, type Tokens } from "./connection/token.ts";
import type { RoomFiles, Upload } from "./over-rest.ts";

const NOT_LOADED = clientFault("UNREACHABLE", "Loading failed: check the network");

/** A module that loads when it is needed. Throws UNREACHABLE if it does not. */
export const loaded = <Module>(loading: Promise<Module>): Promise<Module> =>
  loading.catch((cause) => {
    throw new AtriumError(NOT_LOADED, undefined, { cause });
  });

export class Storage {
  readonly #base: string;
  readonly #tokens: Tokens;

  constructor(base: string, tokens: Tokens) {
    this.#base = base;
    this.#tokens = tokens;
  }

  async #room(signal?: AbortSignal): Promise<RoomFiles> {
    const { openFiles } = await loaded(import("./over-rest.ts"));
    return openFiles(this.#base, this.#tokens, signal);
  }

  /** Stores a file once, with retries. Throws VALIDATION_ERROR for one too large or without a name, FORBIDDEN for viewers. */
  async upload(upload: Upload): Promise<UploadResult> {
    const storing = this.#room(upload.signal).then((room) => room.upload(upload));
    return abortable(storing, upload);
  }

  /** The URL of a file; anyone who knows the key can read it. Throws NOT_JOINED while `authToken` has returned no token. */
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
