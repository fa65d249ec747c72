/** `client.storage`: the room's files, over HTTP with the user's token. It works without `join()`. */
import { AtriumError } from "../core/error.ts";
import type { Rest } from "../core/rest.ts";
import { accountUrl, urlBelow } from "../core/rest-url.ts";
import type { FileFilter, Progress } from "../core/upload.ts";
import type { StorageFile, UploadResult } from "../wire/resources.ts";
import { NOT_JOINED } from "./connection/requests.ts";
import { type Claims, httpUrl } from "./connection/token.ts";
import type { Tokens } from "./connection/tokens.ts";

/** The longest page that the service returns. */
const PAGE = 100;

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
  readonly #serverUrl: string;
  readonly #tokens: Tokens;
  #rest: Rest | null = null;

  constructor(serverUrl: string, tokens: Tokens) {
    this.#serverUrl = httpUrl(serverUrl);
    this.#tokens = tokens;
  }

  /** Throws NOT_JOINED before the first token. */
  get #claims(): Claims {
    const { claims } = this.#tokens;
    if (claims !== null) return claims;
    throw new AtriumError(NOT_JOINED);
  }

  #token(): Promise<string> {
    return this.#tokens.obtain(new AbortController().signal);
  }

  /** The room's REST interface. Its code is loaded when it is first used: most pages only need the socket. */
  async #room(): Promise<{ readonly rest: Rest; readonly claims: Claims }> {
    await this.#token();
    const claims = this.#claims;
    const { Rest } = await import("../core/rest.ts");
    const { accountId } = claims;
    const authorization = async () => `Bearer ${await this.#token()}`;
    this.#rest ??= new Rest({ serverUrl: this.#serverUrl, accountId, authorization });
    return { rest: this.#rest, claims };
  }

  /**
   * Stores a file in the room, and retries if the network fails; the file is stored once. Throws VALIDATION_ERROR for
   * a file that is too large or has no name, and FORBIDDEN for viewers.
   */
  async upload({ file, filename = nameOf(file), onProgress, signal }: Upload): Promise<UploadResult> {
    const { rest, claims } = await this.#room();
    const { roomId, userId } = claims;
    const { uploadFile } = await import("../core/upload.ts");
    return uploadFile(rest, { roomId, userId, file, filename, onProgress, signal });
  }

  /**
   * The URL of a file, for an `<img>` for example. Anyone who knows the key can read the file. Throws NOT_JOINED if
   * `authToken` is a function that has not returned a token yet.
   */
  getUrl({ key }: { readonly key: string }): string {
    const base = accountUrl(this.#serverUrl, this.#claims.accountId);
    return urlBelow(base, ["storage", ...key.split("/")]);
  }

  /** All files of the room, newest first. */
  async getAll({ mimeType, userId }: FileFilter = {}): Promise<StorageFile[]> {
    const { rest, claims } = await this.#room();
    const files = new Map<string, StorageFile>();
    for (let offset = 0, total = 1; offset < total; offset += PAGE) {
      const query = { roomId: claims.roomId, mimeType, userId, limit: PAGE, offset };
      const page = await rest.request<FilePage>({ method: "GET", path: ["files"], query });
      // A file stored meanwhile moves others to the next page, which then repeats them.
      for (const file of page.files) files.set(file.key, file);
      total = page.total;
    }
    return [...files.values()];
  }

  /** Deletes one of your own files. Throws NOT_FOUND if the room has no such file. */
  async delete({ key }: { readonly key: string }): Promise<void> {
    const { rest } = await this.#room();
    await rest.request({ method: "DELETE", path: ["upload"], body: { key } });
  }
}

interface FilePage {
  readonly files: readonly StorageFile[];
  readonly total: number;
}

const nameOf = (file: Blob): string => ("name" in file && typeof file.name === "string" ? file.name : "");
