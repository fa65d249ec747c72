/** REST requests to a room's documents. */
import { AppError, notFound } from "@atrium/contract/errors.ts";
import type { Changes } from "../../engine/content/changes.ts";
import type { Effect } from "../../transport/connection.ts";
import {
  type Author,
  type DocumentDetails,
  type DocumentPart,
  type DocumentWrite,
  type EditRequest,
  type EditStart,
  type EditWrite,
  isSameAuthor,
  type ListedDocument,
} from "../../types/documents.ts";
import type { RoomDocuments } from "../documents.ts";
import { isOvertaken } from "../edits/guard.ts";
import { scanUpdate } from "../updates/update-reader.ts";
import type { Channels } from "./channels.ts";
import type { OpenDocuments } from "./open-documents.ts";

const overtaken = () =>
  new AppError(
    "Rooms",
    "CONFLICT",
    "The document was restored or rolled back meanwhile; look at it, and try again",
  );

export const editOf = (name: string, { requestId, digest }: EditRequest) => ({
  type: "DOCUMENT_EDIT",
  requestId,
  data: { name, digest },
});

/** Authors of edits that are remembered in a document. */
const MAX_WRITING_AUTHORS = 20;

interface LatestEdit {
  readonly author: Author;
  readonly client: number;
  readonly restoredSeq: number;
}

/** The requests that were answered. */
type Answered = Pick<Changes, "once" | "findAnswer">;

export class DocumentRequests {
  readonly #documents: RoomDocuments;
  readonly #channels: Channels;
  readonly #open: OpenDocuments;
  readonly #changes: Answered;
  /** The authors and client IDs of the latest edits by document, while the room is awake: each client is a cost for good. */
  readonly #latest = new Map<string, LatestEdit[]>();

  constructor(documents: RoomDocuments, channels: Channels, open: OpenDocuments, changes: Answered) {
    this.#documents = documents;
    this.#channels = channels;
    this.#open = open;
    this.#changes = changes;
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
      : this.#documents.append(name, update, author, { keepsVersion });
    const effects = news === null ? [] : this.#channels.broadcast(name, news);
    this.#channels.release(name);
    return { isApplied: news !== null, effects };
  }

  /** The first step of an edit, of this author unless a program only reads. */
  beginEdit(name: string, request: EditRequest, author: Author | null): EditStart {
    const found = this.#documents.describe(name);
    const documentId = found?.id ?? null;
    const latest =
      author === null ? undefined : this.#latestOf(name).find((edit) => isSameAuthor(edit.author, author));
    return {
      answer: this.#changes.findAnswer(request.sender, editOf(name, request)),
      documentId,
      seq: found?.seq ?? 0,
      client: latest?.client ?? null,
    };
  }

  /** The latest edits of authors in a document since a restore: clients may have operations that it lost. */
  #latestOf(name: string): readonly LatestEdit[] {
    const { restoredSeq } = this.#documents;
    return (this.#latest.get(name) ?? []).filter((edit) => edit.restoredSeq === restoredSeq);
  }

  #goOn(name: string, edit: LatestEdit): void {
    const others = this.#latestOf(name).filter(({ author }) => !isSameAuthor(author, edit.author));
    this.#latest.set(name, [...others, edit].slice(-MAX_WRITING_AUTHORS));
  }

  /**
   * Stores an edit with its answer, and sends it to everyone. Returns the answer as JSON, of the same request if it was
   * carried out before; null if the document changed at its places since it was read. Throws as
   * {@link RoomDocuments.append}.
   */
  edit(name: string, update: Uint8Array, edit: EditWrite): { answer: string | null; effects: Effect[] } {
    const { request, guard, author } = edit;
    const { answer: earlier, documentId, client: latest } = this.beginEdit(name, request, author);
    if (earlier !== null) return { answer: earlier, effects: [] };
    const isCurrent =
      documentId === edit.documentId &&
      (edit.client === null || edit.client === latest) &&
      this.#documents.goesOn(name, update);
    if (!isCurrent || isOvertaken(guard, this.#documents.updatesAfter(name, edit.seq)))
      return { answer: null, effects: [] };
    let news: Uint8Array | null = null;
    const work = () => {
      const isAsRead = this.#documents.seqOf(name) === edit.seq;
      news = this.#documents.append(name, update, author);
      const seq = this.#documents.seqOf(name);
      return { seq, base: isAsRead ? seq : edit.seq, ...(JSON.parse(edit.answer) as object) };
    };
    try {
      const answer = this.#documents.undoable(() =>
        this.#changes.once(request.sender, editOf(name, request), work, "always"),
      );
      const client = scanUpdate(update).inserted[0]?.client;
      if (client !== undefined)
        this.#goOn(name, { author, client, restoredSeq: this.#documents.restoredSeq });
      const effects = news === null ? [] : this.#channels.broadcast(name, news);
      return { answer: JSON.stringify(answer), effects };
    } finally {
      this.#channels.release(name);
    }
  }

  refused(name: string): Effect[] {
    const effects = this.#channels.foldIfDue(name);
    this.#channels.release(name);
    return effects;
  }

  /** Closes a deleted document for everyone. */
  close(name: string): Effect[] {
    this.#latest.delete(name); // others may bring its operations back
    return this.#open.closeForAll(name);
  }
}
