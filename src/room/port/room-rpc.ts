/** The RPC methods of the objects behind the port. It is the one file of the port that knows the Workers runtime. */

import type { ArchiveRpc } from "../../platform/archive/object-archive.ts";
import type { Trace } from "../../platform/trace.ts";
import type { EventCause } from "../../wire/event-cause.ts";
import type { Reconciliation, RoomSnapshot, RoomStats, UserSnapshot } from "../../wire/snapshots.ts";
import type {
  AuthoredUpdate,
  HistoryPage,
  TrailEntry,
  VersionChange,
  VersionInfo,
  VersionPart,
  VersionPosition,
  WrittenRange,
} from "./document-history.ts";
import type { PersonalPart, RecordsOfUser } from "./personal-data.ts";
import type { TracedCommand } from "./room-command.ts";
import type {
  DocumentDetails,
  DocumentPart,
  DocumentRefusal,
  DocumentWrite,
  ListedDocument,
} from "./room-documents.ts";

/** The RPC methods of a room's object. */
export interface RoomRpc extends Rpc.DurableObjectBranded, ArchiveRpc {
  fetch(request: Request): Response | Promise<Response>;
  read(accountId: string, userIds: string[]): RoomSnapshot | Promise<RoomSnapshot>;
  readUser(accountId: string, userId: string): UserSnapshot | Promise<UserSnapshot>;
  readPersonalData(
    accountId: string,
    userId: string,
    part: PersonalPart,
    after: string | null,
  ): RecordsOfUser | Promise<RecordsOfUser>;
  reconcile(accountId: string): Reconciliation | Promise<Reconciliation>;
  apply(accountId: string, command: TracedCommand): RoomStats | Promise<RoomStats>;
  /** Takes and returns JSON: a request and the response to it. */
  request(
    accountId: string,
    request: string,
    cause?: EventCause | null,
    trace?: Trace | null,
  ): string | Promise<string>;
  visit(accountId: string, userId: string, visit: string, trace?: Trace | null): Promise<string>;
  listDocuments(accountId: string): ListedDocument[] | Promise<ListedDocument[]>;
  describeDocument(accountId: string, name: string): DocumentDetails | null | Promise<DocumentDetails | null>;
  readDocument(
    accountId: string,
    name: string,
    part: number,
  ): DocumentPart | null | Promise<DocumentPart | null>;
  writeDocument(
    accountId: string,
    name: string,
    update: Uint8Array,
    write: DocumentWrite,
  ): Promise<boolean | DocumentRefusal>;
  readTrail(
    accountId: string,
    name: string,
    page: HistoryPage,
  ): TrailEntry[] | null | Promise<TrailEntry[] | null>;
  listVersions(
    accountId: string,
    name: string,
    page: HistoryPage,
  ): VersionInfo[] | null | Promise<VersionInfo[] | null>;
  readVersion(
    accountId: string,
    name: string,
    seq: number,
    from: VersionPosition,
  ): VersionPart | null | Promise<VersionPart | null>;
  readWritten(
    accountId: string,
    name: string,
    range: WrittenRange,
  ): AuthoredUpdate[] | DocumentRefusal | Promise<AuthoredUpdate[] | DocumentRefusal>;
  changeVersion(
    accountId: string,
    name: string,
    change: VersionChange,
  ): VersionInfo | DocumentRefusal | Promise<VersionInfo | DocumentRefusal>;
  deleteDocument(accountId: string, name: string): boolean | Promise<boolean>;
  /** Takes and returns JSON: an array of `STORE_BATCH` requests, and one of the responses to them. */
  writeStores(accountId: string, userId: string | null, batches: string): string | Promise<string>;
}
