/** The room's files over REST, loaded by the first use of `client.storage`. */
import { AtriumError, clientFault, invalid } from "../core/error.ts";
import { type FileFilter, type Progress, Rest, uploadFile } from "../core/rest.ts";
import type { StorageFile, UploadResult } from "../wire/resources.ts";
import type { Claims, Tokens } from "./connection/token.ts";

const PAGE = 100;
const UNKNOWN_USER = clientFault("NOT_JOINED", "An identity uploads once it has joined: call join() first");

interface FilePage {
  readonly files: readonly StorageFile[];
  readonly total: number;
}

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

const nameOf = (file: Blob): string => (file as Partial<File>).name ?? "";

export async function openFiles(serverUrl: string, tokens: Tokens): Promise<RoomFiles> {
  const token = () => tokens.obtain(new AbortController().signal);
  await token();
  if (tokens.claims === null) throw invalid("Auth", "authToken must be the token of a user");
  return new RoomFiles(serverUrl, tokens.claims, token);
}

export class RoomFiles {
  readonly #claims: Claims;
  readonly #rest: Rest;

  constructor(serverUrl: string, claims: Claims, token: () => Promise<string>) {
    this.#claims = claims;
    const { accountId } = claims;
    this.#rest = new Rest({ serverUrl, accountId, authorization: async () => `Bearer ${await token()}` });
  }

  async upload({ filename, ...upload }: Upload): Promise<UploadResult> {
    const { roomId, userId } = this.#claims;
    if (userId === "") throw new AtriumError(UNKNOWN_USER);
    return uploadFile(this.#rest, { ...upload, filename: filename ?? nameOf(upload.file), roomId, userId });
  }

  async getAll({ mimeType, userId }: FileFilter): Promise<StorageFile[]> {
    const files = new Map<string, StorageFile>();
    for (let offset = 0, total = 1; offset < total; offset += PAGE) {
      const query = { roomId: this.#claims.roomId, mimeType, userId, limit: PAGE, offset };
      const page = await this.#rest.get<FilePage>(["files"], query);
      // A new file moves others to the next page, which repeats them.
      for (const file of page.files) files.set(file.key, file);
      total = page.total;
    }
    return [...files.values()];
  }

  delete(key: string): Promise<void> {
    return this.#rest.delete(["upload"], { body: { key }, query: { roomId: this.#claims.roomId } });
  }
}
