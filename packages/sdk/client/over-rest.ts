/** The parts of the client that use REST, loaded when they are needed: the room's files, and a guest's link. */
import { AtriumError, clientFault, invalid } from "../core/error.ts";
import { type FileFilter, type FileUpload, Rest, uploadFile } from "../core/rest.ts";
import type { Identity, RedeemedLink, StorageFile, UploadResult } from "../wire/resources.ts";
import { restOf } from "./connection/rest-of.ts";
import type { Claims, Tokens } from "./connection/token.ts";

const PAGE = 100;
const NOT_KNOWN = clientFault("NOT_JOINED", "An identity has files once it has joined: call join() first");

interface FilePage {
  readonly files: readonly StorageFile[];
  readonly total: number;
}

export interface Upload extends Pick<FileUpload, "file" | "onProgress" | "signal"> {
  /** Required unless `file` is a `File`, which has a name. */
  readonly filename?: string | undefined;
}

const nameOf = (file: Blob): string => (file as Partial<File>).name ?? "";

export async function openFiles(serverUrl: string, tokens: Tokens, signal?: AbortSignal): Promise<RoomFiles> {
  const rest = await restOf(serverUrl, tokens, signal);
  if (tokens.claims === null) throw invalid("Auth", "authToken must be the token of a user");
  return new RoomFiles(tokens.claims, rest);
}

export class RoomFiles {
  readonly #claims: Claims;
  readonly #rest: Rest;

  constructor(claims: Claims, rest: Rest) {
    this.#claims = claims;
    this.#rest = rest;
  }

  get #roomId(): string {
    const [id, customId] = this.#claims.room;
    if (customId !== undefined) throw new AtriumError(NOT_KNOWN);
    return id;
  }

  async upload({ filename, ...upload }: Upload): Promise<UploadResult> {
    const { userId } = this.#claims;
    if (userId === "") throw new AtriumError(NOT_KNOWN);
    const file = { ...upload, filename: filename ?? nameOf(upload.file) };
    return uploadFile(this.#rest, { ...file, roomId: this.#roomId, userId });
  }

  async getAll({ mimeType, userId }: FileFilter): Promise<StorageFile[]> {
    const files = new Map<string, StorageFile>();
    for (let offset = 0, total = 1; offset < total; offset += PAGE) {
      const query = { roomId: this.#roomId, mimeType, userId, limit: PAGE, offset };
      const page = await this.#rest.get<FilePage>(["files"], query);
      // A new file moves others to the next page, which repeats them.
      for (const file of page.files) files.set(file.key, file);
      total = page.total;
    }
    return [...files.values()];
  }

  async delete(key: string): Promise<void> {
    const query = { roomId: this.#roomId };
    await this.#rest.delete(["upload"], { body: { key }, query, keepalive: true });
  }
}

export interface GuestOptions {
  /** The address of the service, such as `https://atrium.example`. */
  readonly serverUrl: string;
  readonly accountId: string;
  /** The link's secret, which the page has in the fragment of its address. */
  readonly secret: string;
  /** Others in the room see it. */
  readonly name: string;
  /** An http or https URL, which the pages of others load. */
  readonly profilePicture?: string | undefined;
  /** An earlier token of the guest, also an expired one: the guest stays the same. */
  readonly token?: string | undefined;
  /** Used instead of the global `fetch`. */
  readonly fetch?: typeof fetch | undefined;
}

/** A guest, who may enter one room as long as the link lasts. */
export interface Guest {
  readonly identity: Identity;
  /** The room of the link, for `enterRoom`. */
  readonly roomId: string;
  /** The latest token. With it, `redeemLink` returns the same guest. */
  readonly token: string;
  /**
   * Value for `authToken` of `Atrium`: redeems the link again for each further token. Throws as `redeemLink`
   * does.
   */
  readonly authToken: () => Promise<string>;
}

export async function redeem(options: GuestOptions): Promise<Guest> {
  const { serverUrl, accountId, fetch, ...redemption } = options;
  const rest = new Rest({ serverUrl, accountId, authorization: null, fetch });
  const ask = (earlier: string | undefined) =>
    rest.post<RedeemedLink>(["links", "redeem"], { ...redemption, token: earlier });
  const { identity, room_id: roomId, token: first } = await ask(options.token);
  let token = first;
  let isUsed = false;
  const authToken = async () => {
    if (isUsed) ({ token } = await ask(token));
    isUsed = true;
    return token;
  };
  return {
    identity,
    roomId,
    get token() {
      return token;
    },
    authToken,
  };
}
