/** `AtriumServer.documents`: the Yjs documents of a room. Users who have a document open receive each change as it happens. */
import type { Rest } from "../core/rest.ts";
import type {
  DocumentChange,
  DocumentContent,
  DocumentDetails,
  DocumentSummary,
  DocumentVersion,
  TrailEntry,
} from "../wire/resources.ts";
import type {
  CompareOptions,
  ContentOptions,
  HistoryOptions,
  PreviewOptions,
  ReadOptions,
  RollbackOptions,
} from "./document-options.ts";

export class Documents {
  readonly #rest: Rest;

  constructor(rest: Rest) {
    this.#rest = rest;
  }

  /** By name. */
  async list(roomId: string): Promise<readonly DocumentSummary[]> {
    const request = { method: "GET", path: ["rooms", roomId, "documents"] } as const;
    return (await this.#rest.request<{ documents: readonly DocumentSummary[] }>(request)).documents;
  }

  /** What the list says of one document, how many versions it has, and its bytes with the history. */
  async summary(roomId: string, name: string): Promise<DocumentDetails> {
    const request = { method: "GET", path: [...pathOf(roomId, name), "summary"] } as const;
    return (await this.#rest.request<{ document: DocumentDetails }>(request)).document;
  }

  /** The whole document, or a version of it, as one update, for `Y.applyUpdate`. */
  async get(roomId: string, name: string, options: ReadOptions = {}): Promise<Uint8Array> {
    const { update } = await this.#rest.request<{ update: string }>({
      method: "GET",
      path: pathOf(roomId, name),
      query: { ...options },
    });
    return Uint8Array.from(atob(update), (char) => char.charCodeAt(0));
  }

  /**
   * The content of one of its shared types. `CONFLICT` for one of more than 4,194,304 characters, of which
   * {@link preview} returns the beginning, and for a document of more than 24 MiB.
   */
  async content(roomId: string, name: string, options: ContentOptions = {}): Promise<unknown> {
    return (await this.#content(roomId, name, options)).content;
  }

  /** The beginning of one of its shared types, and which others there are. `CONFLICT` for a document of more than 24 MiB. */
  preview(roomId: string, name: string, options: PreviewOptions): Promise<DocumentContent> {
    return this.#content(roomId, name, options);
  }

  #content(roomId: string, name: string, options: ContentOptions | PreviewOptions): Promise<DocumentContent> {
    const path = [...pathOf(roomId, name), "content"];
    return this.#rest.request({ method: "GET", path, query: { ...options } });
  }

  /** Who wrote what and when, newest first. `next` is null on the last page. */
  trail(
    roomId: string,
    name: string,
    options: HistoryOptions = {},
  ): Promise<{ readonly trail: readonly TrailEntry[]; readonly next: number | null }> {
    const path = [...pathOf(roomId, name), "trail"];
    return this.#rest.request({ method: "GET", path, query: { ...options } });
  }

  /** The versions of a document, newest first. `next` is null on the last page. */
  versions(
    roomId: string,
    name: string,
    options: HistoryOptions = {},
  ): Promise<{ readonly versions: readonly DocumentVersion[]; readonly next: number | null }> {
    return this.#rest.request({ method: "GET", path: versionsPath(roomId, name), query: { ...options } });
  }

  /** Names a document as it is now. `CONFLICT` when nothing has changed since another named version. */
  async createVersion(roomId: string, name: string, versionName: string): Promise<DocumentVersion> {
    const body = { name: versionName };
    const request = { method: "POST", path: versionsPath(roomId, name), body } as const;
    return (await this.#rest.request<{ version: DocumentVersion }>(request)).version;
  }

  /** Names a version, or renames it; null takes its name, as if the room had made it by itself. */
  async renameVersion(
    roomId: string,
    name: string,
    version: number,
    versionName: string | null,
  ): Promise<DocumentVersion> {
    const path = [...versionsPath(roomId, name), `${version}`];
    const request = { method: "PATCH", path, body: { name: versionName } } as const;
    return (await this.#rest.request<{ version: DocumentVersion }>(request)).version;
  }

  /** Deletes a version, and nothing of what was written. */
  async deleteVersion(roomId: string, name: string, version: number): Promise<void> {
    await this.#rest.request({ method: "DELETE", path: [...versionsPath(roomId, name), `${version}`] });
  }

  /** What differs between two versions, and whose change it is. `CONFLICT` above 1 MiB, or when too much differs. */
  async compare(
    roomId: string,
    name: string,
    options: CompareOptions = {},
  ): Promise<readonly DocumentChange[]> {
    const request = {
      method: "GET",
      path: [...pathOf(roomId, name), "compare"],
      query: { ...options },
    } as const;
    return (await this.#rest.request<{ changes: readonly DocumentChange[] }>(request)).changes;
  }

  /**
   * Brings a document back to a version, by an edit that everyone receives; the document as it was becomes a version.
   * What others write stays from the moment on at which the service reads the document for it: an edit that arrives
   * after the call and before that moment is taken back too. False if it showed the same already. `CONFLICT` above 1 MiB.
   */
  async restoreVersion(roomId: string, name: string, version: number): Promise<boolean> {
    const path = [...versionsPath(roomId, name), `${version}`, "restore"];
    return (await this.#rest.request<{ applied: boolean }>({ method: "POST", path })).applied;
  }

  /**
   * Takes back what a user wrote between two versions, by an edit that everyone receives; what others have written
   * stays, and the document as it was becomes a version. False if there was nothing to take back. `CONFLICT` above 1 MiB.
   */
  async rollBack(roomId: string, name: string, options: RollbackOptions): Promise<boolean> {
    const path = [...pathOf(roomId, name), "rollback"];
    const request = { method: "POST", path, body: { ...options } } as const;
    return (await this.#rest.request<{ applied: boolean }>(request)).applied;
  }

  /** Applies an update of up to 750 kB. False if the document had all of it. */
  apply(roomId: string, name: string, update: Uint8Array): Promise<boolean> {
    return this.#write(roomId, name, update, {});
  }

  /** Gives a document its first content. Of any number of concurrent seeds, one is applied; false for the others. */
  seed(roomId: string, name: string, update: Uint8Array): Promise<boolean> {
    return this.#write(roomId, name, update, { ifEmpty: "true" });
  }

  async #write(
    roomId: string,
    name: string,
    update: Uint8Array,
    query: { ifEmpty?: string },
  ): Promise<boolean> {
    let binary = "";
    for (const byte of update) binary += String.fromCharCode(byte);
    const body = { update: btoa(binary) };
    const request = { method: "PUT", path: pathOf(roomId, name), query, body } as const;
    return (await this.#rest.request<{ applied: boolean }>(request)).applied;
  }

  /** Deletes a document with its history, and closes it for everyone. */
  async delete(roomId: string, name: string): Promise<void> {
    await this.#rest.request({ method: "DELETE", path: pathOf(roomId, name) });
  }
}

const versionsPath = (roomId: string, name: string): readonly string[] => [
  ...pathOf(roomId, name),
  "versions",
];

const pathOf = (roomId: string, name: string): readonly string[] => ["rooms", roomId, "documents", name];
