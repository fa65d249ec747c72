/** The port to the objects that run live rooms: what the rest of the Worker may ask of them. */

import type { ArchivedObject } from "../../platform/archive/object-archive.ts";
import type { ErrorCode, Module } from "../../platform/error-codes.ts";
import type { Trace } from "../../platform/trace.ts";
import type { EventCause } from "../../wire/event-cause.ts";
import type { Reconciliation, RoomSnapshot, RoomStats, UserSnapshot } from "../../wire/snapshots.ts";
import type {
  AuthoredUpdate,
  HistoryPage,
  TrailEntry,
  VersionChange,
  VersionInfo,
  WrittenRange,
} from "./document-history.ts";
import type { PersonalPart, RecordsOfUser } from "./personal-data.ts";
import type { TracedCommand } from "./room-command.ts";
import type { DocumentDetails, DocumentWrite, ListedDocument } from "./room-documents.ts";
import type { DocumentAddress } from "./upgrade-headers.ts";

/** The response to one batch of writes to stores. */
export interface BatchResponse {
  readonly requestId?: string;
  readonly success: boolean;
  readonly data: object;
  readonly error: { readonly module: Module; readonly code: ErrorCode; readonly message: string } | null;
}

/** What the rest of the Worker may ask of a room's object. Callers have checked that the room is the account's. */
export interface RoomGateway {
  /** The room's stats, and what it knows of these users. */
  read(roomId: string, accountId: string, userIds: readonly string[]): Promise<RoomSnapshot>;
  readUser(roomId: string, accountId: string, userId: string): Promise<UserSnapshot>;
  /** Some of what the room keeps of a user, from a position on; null for the start. */
  readPersonalData(
    roomId: string,
    accountId: string,
    userId: string,
    part: PersonalPart,
    after: string | null,
  ): Promise<RecordsOfUser>;
  /** Sets the counter to the number of users online, in the object and in the database. */
  reconcile(roomId: string, accountId: string): Promise<Reconciliation>;
  /** Applies a change to the connected users; idempotent. Returns the stats after it. */
  apply(roomId: string, accountId: string, change: TracedCommand): Promise<RoomStats>;
  /**
   * Sends the organization's request to the live room; throws the error that the room responds with. With `cause` it is
   * made by the run of a workflow.
   */
  request(
    roomId: string,
    accountId: string,
    request: object,
    cause?: EventCause | null,
    trace?: Trace | null,
  ): Promise<object>;
  /** A user takes part without a socket; returns until when (epoch ms), and throws what refuses it. */
  visit(
    roomId: string,
    accountId: string,
    userId: string,
    visit: object,
    trace?: Trace | null,
  ): Promise<number>;
  /** Sends batches of a user, or of the organization with null; a refused one is a response of its own. */
  writeStores(
    roomId: string,
    accountId: string,
    userId: string | null,
    batches: readonly object[],
  ): Promise<readonly BatchResponse[]>;
  listDocuments(roomId: string, accountId: string): Promise<readonly ListedDocument[]>;
  /** Null when there is no such document. */
  describeDocument(roomId: string, accountId: string, name: string): Promise<DocumentDetails | null>;
  /** The updates that a document consists of, in their order; null when there is no such document. */
  readDocument(roomId: string, accountId: string, name: string): Promise<readonly Uint8Array[] | null>;
  /** Applies an update, and returns whether it had news; throws the error with which the room refuses it. */
  writeDocument(
    roomId: string,
    accountId: string,
    name: string,
    update: Uint8Array,
    write: DocumentWrite,
  ): Promise<boolean>;
  /** Who wrote what, newest first; null when there is no such document. */
  readTrail(
    roomId: string,
    accountId: string,
    name: string,
    page: HistoryPage,
  ): Promise<readonly TrailEntry[] | null>;
  /** Newest first; null when there is no such document. */
  listVersions(
    roomId: string,
    accountId: string,
    name: string,
    page: HistoryPage,
  ): Promise<readonly VersionInfo[] | null>;
  /** The updates that a version consists of; null when there is no such version, or the document has another ID. */
  readVersion(
    roomId: string,
    accountId: string,
    name: string,
    seq: number,
    documentId?: number | null,
  ): Promise<readonly Uint8Array[] | null>;
  /** What was written between two versions, with its authors; throws the error with which the room refuses it. */
  readWritten(
    roomId: string,
    accountId: string,
    name: string,
    range: WrittenRange,
  ): Promise<readonly AuthoredUpdate[]>;
  /** Returns the version that was changed or deleted; throws the error with which the room refuses it. */
  changeVersion(roomId: string, accountId: string, name: string, change: VersionChange): Promise<VersionInfo>;
  /** False when there is no such document. */
  deleteDocument(roomId: string, accountId: string, name: string): Promise<boolean>;
  /** RATE_LIMITED while this isolate remembers that the room refuses connections of the request's client. Reads nothing. */
  requireConnectable(roomId: string, request: Request): void;
  /** Upgrades the request to a WebSocket that has yet to join. RATE_LIMITED when its client connects too often. */
  connect(
    roomId: string,
    accountId: string,
    request: Request,
    entry?: DocumentAddress | null,
    trace?: Trace | null,
  ): Promise<Response>;
  /** What the room stores, for a backup. */
  archived(roomId: string): ArchivedObject;
  /** The next part of a download; null unless a joined client was given its id, and may read it now. */
  download(roomId: string, downloadId: string): Promise<ReadableStream | null>;
}
