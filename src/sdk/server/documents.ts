/** `AtriumServer.documents`: the Yjs documents of a room. Users with a document open receive each change as it happens. */
import type * as wire from "../wire/resources.ts";
import { Resource } from "./pages.ts";

/** The kind of a shared type: the document itself does not say it. */
export interface ContentOptions extends ReadOptions {
  /** `text` by default. Text and XML are returned as a string. */
  readonly type?: "text" | "map" | "array" | "xml" | undefined;
  /** The name of the shared type; `default` if it is left out, which is that of Tiptap. */
  readonly root?: string | undefined;
}

/** A shared type, and the length of its preview. */
export interface PreviewOptions extends ContentOptions {
  /** The content's length limit in characters: up to 4,194,304. */
  readonly maxLength: number;
}

/** A page of a document's history. */
export interface HistoryOptions {
  /** 50 if it is left out, 100 at most. */
  readonly limit?: number | undefined;
  /** The `next` of the page before. */
  readonly before?: number | undefined;
}

/** A version of a document. */
export interface ReadOptions {
  /** The number of a version; the document as it is if it is left out. */
  readonly version?: number | undefined;
}

/** A mention in a text. */
interface TextMention {
  /** Your editor's own ID of it, up to 255 characters. */
  readonly mentionId: string;
  /** A user of the room, or an identity. */
  readonly userId: string;
}

/** The versions to compare, and their shared type. */
export interface CompareOptions extends Omit<ContentOptions, "version"> {
  /** The number of the earlier version; the document before anything was written if it is left out. */
  readonly from?: number | undefined;
  /** The number of the later version; the document as it is if it is left out. */
  readonly to?: number | undefined;
}

/** The user and the versions of the changes to take back. */
export interface RollbackOptions extends Pick<CompareOptions, "from" | "to"> {
  readonly userId: string;
}

const mentionPath = (roomId: string, { mentionId, userId }: TextMention) => [
  "rooms",
  roomId,
  "users",
  userId,
  "text-mentions",
  mentionId,
];

export class Documents extends Resource {
  /** By name. */
  list(roomId: string): Promise<readonly wire.DocumentSummary[]> {
    return this.only("documents", this.rest.get(["rooms", roomId, "documents"]));
  }

  /** Notifies the inbox of a mentioned person, once per mention. False if it does not exist or may not read the room. */
  async mention(
    roomId: string,
    { document, ...mention }: TextMention & { readonly document?: string | undefined },
  ): Promise<boolean> {
    const path = mentionPath(roomId, mention);
    return (await this.rest.put<{ unnotified?: unknown }>(path, { document })).unnotified === undefined;
  }

  /** Takes a mention that is not in the text any more out of the inbox. */
  unmention(roomId: string, mention: TextMention): Promise<void> {
    return this.rest.delete(mentionPath(roomId, mention));
  }

  /** One document of the list, with the number of its versions, and its bytes with the history. */
  summary(roomId: string, name: string): Promise<wire.DocumentDetails> {
    return this.only("document", this.rest.get([...pathOf(roomId, name), "summary"]));
  }

  /** The whole document, or a version of it, as one update, for `Y.applyUpdate`. */
  async get(roomId: string, name: string, options: ReadOptions = {}): Promise<Uint8Array> {
    const { update } = await this.rest.get<{ update: string }>(pathOf(roomId, name), options);
    return Uint8Array.from(atob(update), (char) => char.charCodeAt(0));
  }

  /** The content of a shared type. `CONFLICT` above 4,194,304 characters (see {@link preview}), 2 MiB or 200,000 items. */
  content(roomId: string, name: string, options: ContentOptions = {}): Promise<unknown> {
    const path = [...pathOf(roomId, name), "content"];
    return this.only("content", this.rest.get<wire.DocumentContent>(path, options));
  }

  /** The beginning of one of its shared types, and which others there are. `CONFLICT` above 2 MiB or 200,000 items. */
  preview(roomId: string, name: string, options: PreviewOptions): Promise<wire.DocumentContent> {
    return this.rest.get([...pathOf(roomId, name), "content"], options);
  }

  /** The authors and times of all changes, newest first. `next` is null on the last page. */
  trail(
    roomId: string,
    name: string,
    options: HistoryOptions = {},
  ): Promise<{ readonly trail: readonly wire.TrailEntry[]; readonly next: number | null }> {
    return this.rest.get([...pathOf(roomId, name), "trail"], options);
  }

  /** The versions of a document, newest first. `next` is null on the last page. */
  versions(
    roomId: string,
    name: string,
    options: HistoryOptions = {},
  ): Promise<{ readonly versions: readonly wire.DocumentVersion[]; readonly next: number | null }> {
    return this.rest.get(versionsPath(roomId, name), options);
  }

  /** Names a document as it is now. `CONFLICT` when nothing has changed since another named version. */
  createVersion(roomId: string, name: string, versionName: string): Promise<wire.DocumentVersion> {
    return this.only("version", this.rest.post(versionsPath(roomId, name), { name: versionName }));
  }

  /** Names a version, or renames it; null takes its name, as if the room had made it by itself. */
  renameVersion(
    roomId: string,
    name: string,
    version: number,
    versionName: string | null,
  ): Promise<wire.DocumentVersion> {
    const path = [...versionsPath(roomId, name), `${version}`];
    return this.only("version", this.rest.patch(path, { name: versionName }));
  }

  /** Deletes a version, and nothing of the content. */
  deleteVersion(roomId: string, name: string, version: number): Promise<void> {
    return this.rest.delete([...versionsPath(roomId, name), `${version}`]);
  }

  /** The differences between two versions, with authors. `CONFLICT` above 2 MiB or 200,000 items, or for too many. */
  compare(
    roomId: string,
    name: string,
    options: CompareOptions = {},
  ): Promise<readonly wire.DocumentChange[]> {
    return this.only("changes", this.rest.get([...pathOf(roomId, name), "compare"], options));
  }

  /**
   * Brings a document back to a version, by an edit that everyone receives; the document as it was becomes a version.
   * Edits that arrive before the service reads the document are taken back too. False if it showed the same already.
   * `CONFLICT` above 2 MiB or 200,000 items.
   */
  restoreVersion(roomId: string, name: string, version: number): Promise<boolean> {
    return this.only("applied", this.rest.post([...versionsPath(roomId, name), `${version}`, "restore"]));
  }

  /**
   * Takes back a user's changes between two versions, by an edit that everyone receives; the document as it was becomes
   * a version. False if there was nothing to take back. `CONFLICT` above 2 MiB or 200,000 items.
   */
  rollBack(roomId: string, name: string, options: RollbackOptions): Promise<boolean> {
    return this.only("applied", this.rest.post([...pathOf(roomId, name), "rollback"], options));
  }

  /** Applies an update of up to 750 kB. False if the document had all of it. */
  apply(roomId: string, name: string, update: Uint8Array): Promise<boolean> {
    return this.#write(roomId, name, update);
  }

  /** Gives a document its first content. Of any number of concurrent seeds, one is applied; false for the others. */
  seed(roomId: string, name: string, update: Uint8Array): Promise<boolean> {
    return this.#write(roomId, name, update, { ifEmpty: "true" });
  }

  async #write(roomId: string, name: string, update: Uint8Array, query?: object): Promise<boolean> {
    let binary = "";
    for (const byte of update) binary += String.fromCharCode(byte);
    const body = { update: btoa(binary) };
    return this.only("applied", this.rest.put(pathOf(roomId, name), body, query));
  }

  /** Deletes a document with its history, and closes it for everyone. */
  delete(roomId: string, name: string): Promise<void> {
    return this.rest.delete(pathOf(roomId, name));
  }
}

const pathOf = (roomId: string, name: string): string[] => ["rooms", roomId, "documents", name];

const versionsPath = (roomId: string, name: string): string[] => [...pathOf(roomId, name), "versions"];
