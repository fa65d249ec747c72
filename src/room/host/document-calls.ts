/** The calls of a room's object that concern its documents: each says for which organization it is made. */
import { AppError } from "../../platform/errors.ts";
import type { Room } from "../engine/room.ts";
import type {
  AuthoredUpdate,
  HistoryPage,
  TrailEntry,
  VersionChange,
  VersionInfo,
  VersionPart,
  VersionPosition,
  WrittenRange,
} from "../port/document-history.ts";
import type {
  DocumentDetails,
  DocumentPart,
  DocumentRefusal,
  DocumentWrite,
  ListedDocument,
} from "../port/room-documents.ts";
import type { RoomRuntime } from "./room-runtime.ts";

/** Errors lose their class on the way to the caller. */
function refusalOf(error: unknown): DocumentRefusal {
  if (!(error instanceof AppError)) throw error;
  return { code: error.code, message: error.message };
}

export class DocumentCalls {
  readonly #parts: RoomRuntime;

  constructor(parts: RoomRuntime) {
    this.#parts = parts;
  }

  /** The room, for a call that reads. */
  #room(accountId: string): Room {
    this.#parts.context.identify(accountId);
    return this.#parts.room;
  }

  /** The room, for a call that writes; NOT_FOUND when it has been deleted. */
  async #existingRoom(accountId: string): Promise<Room> {
    const room = this.#room(accountId);
    await this.#parts.reads.requireExisting();
    return room;
  }

  list(accountId: string): ListedDocument[] {
    return this.#room(accountId).documentRequests.list();
  }

  /** Null when there is no such document. */
  describe(accountId: string, name: string): DocumentDetails | null {
    return this.#room(accountId).documentRequests.describe(name);
  }

  /** A part of a document, counted from 0; null when there is no such document. */
  read(accountId: string, name: string, part: number): DocumentPart | null {
    return this.#room(accountId).documentRequests.read(name, part);
  }

  /** Applies an update. Returns whether it had news, or why it is refused. */
  async write(
    accountId: string,
    name: string,
    update: Uint8Array,
    write: DocumentWrite,
  ): Promise<boolean | DocumentRefusal> {
    const { documentRequests, updates } = await this.#existingRoom(accountId);
    if (updates.isDeleted) return { code: "NOT_FOUND", message: "Room not found" };
    try {
      const { isApplied, effects } = documentRequests.write(name, update, write);
      this.#parts.effects.perform(effects);
      return isApplied;
    } catch (error) {
      this.#parts.effects.perform(documentRequests.refused(name));
      return refusalOf(error);
    }
  }

  /** False when there is no such document. */
  async delete(accountId: string, name: string): Promise<boolean> {
    const effects = (await this.#existingRoom(accountId)).documentRequests.delete(name);
    this.#parts.effects.perform(effects ?? []);
    return effects !== null;
  }

  /** Newest first; null when there is no such document. */
  readTrail(accountId: string, name: string, page: HistoryPage): TrailEntry[] | null {
    return this.#room(accountId).documentHistory.trail(name, page);
  }

  /** Newest first; null when there is no such document. */
  listVersions(accountId: string, name: string, page: HistoryPage): VersionInfo[] | null {
    return this.#room(accountId).documentHistory.versions(name, page);
  }

  /** Some of the updates that a version consists of; null when there is no such version. */
  readVersion(accountId: string, name: string, seq: number, from: VersionPosition): VersionPart | null {
    return this.#room(accountId).documentHistory.read(name, seq, from);
  }

  /** What was written between two versions, with its authors, or why it cannot be read. */
  readWritten(accountId: string, name: string, range: WrittenRange): AuthoredUpdate[] | DocumentRefusal {
    const { documentHistory } = this.#room(accountId);
    try {
      return documentHistory.written(name, range);
    } catch (error) {
      return refusalOf(error);
    }
  }

  /** Returns the version that was changed or deleted, or why it was not. */
  async changeVersion(
    accountId: string,
    name: string,
    change: VersionChange,
  ): Promise<VersionInfo | DocumentRefusal> {
    const { documentHistory } = await this.#existingRoom(accountId);
    try {
      return documentHistory.change(name, change);
    } catch (error) {
      return refusalOf(error);
    } finally {
      this.#parts.effects.perform([]); // plans the alarm that reports it
    }
  }
}
