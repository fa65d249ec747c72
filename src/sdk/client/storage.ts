/** `client.storage`: the room's files, over HTTP with the user's token. It needs no `join()`. */
import { invalid } from "../core/error.ts";
import { type Progress, Rest } from "../core/rest.ts";
import type { StorageFile, UploadResult } from "../wire/resources.ts";
import { type Claims, httpUrl } from "./connection/token.ts";

const MAX_FILE_BYTES = 100 * 1024 * 1024;
/** The most that a list answers at once. */
const PAGE = 100;

export interface Upload {
  /** At most 100 MiB. */
  readonly file: Blob;
  /** What it is to be called; a `File` has a name of its own. */
  readonly filename?: string | undefined;
  /** Called while the file is sent, where the browser tells, and once when it is stored. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Ends the upload: it is rejected with the signal's reason, and nothing of the file is left. */
  readonly signal?: AbortSignal | undefined;
}

export interface FileFilter {
  /** A type as `image/png`, or a category as `image/`; of several, any will do. */
  readonly mimeType?: string | readonly string[] | undefined;
  /** The uploader. */
  readonly userId?: string | undefined;
}

export class Storage {
  readonly #rest: Rest;
  readonly #claims: Claims;

  constructor(serverUrl: string, authToken: string, claims: Claims) {
    const { accountId } = claims;
    this.#rest = new Rest({ serverUrl: httpUrl(serverUrl), accountId, authorization: `Bearer ${authToken}` });
    this.#claims = claims;
  }

  /**
   * Stores a file in the room; it is there when this settles. Where the network fails it is sent again, and stored
   * once. AtriumError when it is refused: VALIDATION_ERROR for a file that is too large or has no name, FORBIDDEN
   * for viewers.
   */
  async upload({ file, filename = nameOf(file), onProgress, signal }: Upload): Promise<UploadResult> {
    if (file.size > MAX_FILE_BYTES) throw invalid("Files", `A file has at most ${MAX_FILE_BYTES} bytes`);
    if (filename === "") throw invalid("Files", "The file has no name: give it one as `filename`");
    const { roomId, userId } = this.#claims;
    const form = new FormData();
    form.append("roomId", roomId);
    form.append("userId", userId);
    form.append("file", file, filename);
    const total = file.size;
    // What surrounds the file in the form is sent, too.
    const onSent = onProgress && ((bytes: number) => onProgress({ loaded: Math.min(bytes, total), total }));
    const upload = { form, onSent, signal };
    const answer = await this.#rest.ask<{ file: UploadResult }>({ method: "POST", path: ["upload"], upload });
    onSent?.(total);
    return answer.file;
  }

  /** Where a file is read, by anyone who knows its key: in an `<img>`, say. */
  getUrl({ key }: { readonly key: string }): string {
    return this.#rest.urlOf(["storage", ...key.split("/")]);
  }

  /** The room's files, the newest first. */
  async getAll({ mimeType, userId }: FileFilter = {}): Promise<StorageFile[]> {
    const files = new Map<string, StorageFile>();
    for (let offset = 0, total = 1; offset < total; offset += PAGE) {
      const query = { roomId: this.#claims.roomId, mimeType, userId, limit: PAGE, offset };
      const page = await this.#rest.ask<FilePage>({ method: "GET", path: ["files"], query });
      // Files that come meanwhile push others to the next page, where they are met again.
      for (const file of page.files) files.set(file.key, file);
      total = page.total;
    }
    return [...files.values()];
  }

  /** Takes a file of one's own away: it cannot be read any more when this settles. NOT_FOUND when there is none. */
  async delete({ key }: { readonly key: string }): Promise<void> {
    await this.#rest.ask({ method: "DELETE", path: ["upload"], body: { key } });
  }
}

interface FilePage {
  readonly files: readonly StorageFile[];
  readonly total: number;
}

const nameOf = (file: Blob): string => ("name" in file && typeof file.name === "string" ? file.name : "");
