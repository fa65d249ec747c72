/** REST requests to a room's documents. */
import { AppError, notFound } from "@atrium/contract/errors.ts";
import type { Effect } from "../../transport/connection.ts";
import type { DocumentDetails, DocumentPart, DocumentWrite, ListedDocument } from "../../types/documents.ts";
import type { RoomDocuments } from "../documents.ts";
import type { Channels } from "./channels.ts";
import type { OpenDocuments } from "./open-documents.ts";

const overtaken = () =>
  new AppError(
    "Rooms",
    "CONFLICT",
    "The document was restored or rolled back meanwhile; look at it, and try again",
  );

export class DocumentRequests {
  readonly #documents: RoomDocuments;
  readonly #channels: Channels;
  readonly #open: OpenDocuments;

  constructor(documents: RoomDocuments, channels: Channels, open: OpenDocuments) {
    this.#documents = documents;
    this.#channels = channels;
    this.#open = open;
  }

  list(): ListedDocument[] {
    return this.#documents.list().map((info) => ({ ...info, userIds: this.#open.usersOf(info.name) }));
  }

  describe(name: string): DocumentDetails | null {
    const info = this.#documents.describe(name);
    return info && { ...info, userIds: this.#open.usersOf(name) };
  }

  /** Reads a part, counted from 0; see {@link RoomDocuments.part}. */
  read(name: string, part: number): DocumentPart | null {
    const read = this.#documents.part(name, part);
    if (read?.update == null) this.#channels.release(name);
    return read;
  }

  /** Stores an update, and sends it to everyone. Returns whether it was applied. Throws as {@link RoomDocuments.append}. */
  write(
    name: string,
    update: Uint8Array,
    { author, onlyIfEmpty, keepsVersion, basedOn, documentId }: DocumentWrite,
  ): { readonly isApplied: boolean; readonly effects: Effect[] } {
    if (documentId !== undefined && this.#documents.describe(name)?.id !== documentId)
      throw notFound("Rooms", "Document");
    if (basedOn !== undefined && this.#documents.isEditedByServer(name, basedOn)) throw overtaken();
    const news = onlyIfEmpty
      ? this.#documents.seed(name, update, author)
      : this.#documents.append(name, update, author, keepsVersion);
    const effects = news === null ? [] : this.#channels.broadcast(name, news);
    this.#channels.release(name);
    return { isApplied: news !== null, effects };
  }

  refused(name: string): Effect[] {
    const effects = this.#channels.foldIfDue(name);
    this.#channels.release(name);
    return effects;
  }

  /** Deletes a document with its history, and closes it for everyone. Null if there is none. */
  delete(name: string): Effect[] | null {
    return this.#documents.delete(name) ? this.#open.closeForAll(name) : null;
  }
}
