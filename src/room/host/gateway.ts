/** The only way to a room's object: turns a room's ID into its stub, and unwraps answers that RPC cannot carry as they are. */

import { AppError } from "@atrium/contract/errors.ts";
import type { InputOf, OutputOf } from "@atrium/contract/operations/room.ts";
import type { EventCause } from "@atrium/contract/resources/present-event.ts";
import type { Suggestion } from "@atrium/contract/resources/suggestion.ts";
import { TtlCache } from "../../platform/cache.ts";
import { clientOf } from "../../platform/network.ts";
import { archivedObject } from "../../platform/objects/object-archive.ts";
import { openObject, openStub } from "../../platform/objects/rpc.ts";
import type { Settings } from "../../platform/settings.ts";
import type { Trace } from "../../platform/trace.ts";
import type { Response as RoomResponse } from "../protocol/protocol.ts";
import type { RoomOperation, Subjects } from "../protocol/room-request.ts";
import type { ChangesRead } from "../types/changes.ts";
import type {
  Author,
  DocumentPart,
  DocumentRefusal,
  DocumentWrite,
  EditRequest,
  EditWrite,
  VersionChange,
  VersionPart,
  VersionPosition,
  Writer,
  WrittenRange,
} from "../types/documents.ts";
import { type DocumentAddress, HEADERS, type TracedCommand } from "../types/room-object.ts";
import {
  type EventsRead,
  type StreamAppend,
  type StreamCreation,
  type StreamRead,
  type StreamRefusal,
  StreamRefused,
} from "../types/streams.ts";
import type { ReviewedSuggestion, SuggestionStart, WithdrawnSuggestion } from "../types/suggestions.ts";
import type { RoomObjectBase } from "./room-object.ts";

/** Clients that a room has refused within the last second: until then they cost neither its object nor D1 anything. */
const refused = new TtlCache<number>({ ttlMs: 1_000, maxEntries: 10_000 });

/** The last argument of a call: an object of the version before takes none. */
const given = (user: Writer | undefined): [] | [Writer] => (user === undefined ? [] : [{ ...user }]);

/** The circumstances of a call of a room. */
export interface CallOptions extends Subjects {
  /** An operation under this ID is carried out once. */
  readonly requestId?: string | undefined;
  readonly cause?: EventCause | null;
  readonly trace?: Trace | null;
  /** The user who asks; absent for the organization. */
  readonly writer?: Writer | undefined;
}

/** The objects of rooms. Callers have checked that a room is the organization's. */
export type RoomGateway = ReturnType<typeof roomGateway>;

export function roomGateway(env: { readonly ROOMS: DurableObjectNamespace } & Settings) {
  const stub = (roomId: string) => openStub<RoomObjectBase>(env, env.ROOMS, roomId);
  /** RATE_LIMITED while this isolate remembers that the room refuses connections of the request's client. Reads nothing. */
  const requireConnectable = (roomId: string, request: Request): void => {
    const seconds = refused.get(refusalKey(roomId, request), Date.now());
    if (seconds !== undefined) throw tooManyConnections(seconds);
  };
  return {
    stub,
    /** The room's stats, and when these users were last seen. */
    read: async (roomId: string, accountId: string, userIds: readonly string[]) =>
      stub(roomId).read(accountId, userIds),
    /** Applies a change to the connected users; idempotent. Returns the stats after it. */
    apply: async (roomId: string, accountId: string, command: TracedCommand) =>
      stub(roomId).apply(accountId, command),
    /** Carries out an operation for the organization, a workflow's run (`cause`) or a user. Throws the refusal. */
    call: async <Type extends RoomOperation>(
      roomId: string,
      accountId: string,
      type: Type,
      data: InputOf<Type>,
      { cause, trace, writer, ...subjects }: CallOptions = {},
    ): Promise<OutputOf<Type>> => {
      const request = JSON.stringify({ type, data, ...subjects });
      return outputOf<Type>(
        await stub(roomId).call(accountId, request, cause && { ...cause }, trace, ...given(writer)),
      );
    },
    /** Keeps a user online without a socket; returns until when (epoch ms), and throws the refusal. */
    addParticipant: async (
      roomId: string,
      accountId: string,
      userId: string,
      input: object,
      trace?: Trace | null,
      writer?: Writer,
    ): Promise<number> => {
      const json = JSON.stringify(input);
      const response = await stub(roomId).addParticipant(accountId, userId, json, trace, ...given(writer));
      return (dataOf(response) as { readonly endsAt: number }).endsAt;
    },
    /** Sends batches of a user, or of the organization with null; a refused one is a response of its own. */
    writeStores: async (
      roomId: string,
      accountId: string,
      userId: string | null,
      batches: readonly object[],
      writer?: Writer,
    ): Promise<RoomResponse[]> =>
      parseResponses(
        await stub(roomId).writeStores(accountId, userId, JSON.stringify(batches), ...given(writer)),
      ),
    /** The updates of a document, in their order; null when there is no such document. */
    readDocument: (roomId: string, accountId: string, name: string) =>
      collectParts((part) => stub(roomId).readDocument(accountId, name, part)),
    /** Applies an update, and returns whether it had news; throws the error with which the room refuses it. */
    writeDocument: async (
      roomId: string,
      accountId: string,
      name: string,
      update: Uint8Array,
      write: DocumentWrite,
    ) => accepted(await stub(roomId).writeDocument(accountId, name, update, { ...write })),
    /** The document to edit, or the answer of the same request if it was carried out before. */
    beginEdit: async (
      roomId: string,
      accountId: string,
      name: string,
      request: EditRequest,
      author: Author | null,
    ) => accepted(await stub(roomId).beginEdit(accountId, name, { ...request }, author && { ...author })),
    /**
     * Stores an edit, and returns its answer as JSON; null if the document changed meanwhile at its places. Throws the
     * error with which the room refuses it.
     */
    editDocument: async (
      roomId: string,
      accountId: string,
      name: string,
      update: Uint8Array,
      edit: EditWrite,
    ) => accepted(await stub(roomId).editDocument(accountId, name, update, { ...edit })),
    /** The updates of a version; null when there is no such version, or the document has another ID. */
    readVersion: (
      roomId: string,
      accountId: string,
      name: string,
      seq: number,
      documentId: number | null = null,
    ) => collectVersion((from) => stub(roomId).readVersion(accountId, name, seq, from), documentId),
    /** The updates between two versions, with their authors; throws the error with which the room refuses it. */
    readWritten: async (roomId: string, accountId: string, name: string, range: WrittenRange) =>
      accepted(await stub(roomId).readWritten(accountId, name, { ...range })),
    /** Returns the version that was changed or deleted; throws the error with which the room refuses it. */
    changeVersion: async (
      roomId: string,
      accountId: string,
      name: string,
      change: VersionChange,
      writer?: Writer,
    ) => accepted(await stub(roomId).changeVersion(accountId, name, change, ...given(writer))),
    /** False when there is no such document; throws the refusal. */
    deleteDocument: async (roomId: string, accountId: string, name: string, writer?: Writer) =>
      accepted(await stub(roomId).deleteDocument(accountId, name, ...given(writer))),
    /** Makes a suggestion, and returns the answer as JSON; throws the refusal, like the next two. */
    createSuggestion: async (
      roomId: string,
      accountId: string,
      document: string,
      start: SuggestionStart,
    ): Promise<string> => accepted(await stub(roomId).createSuggestion(accountId, document, { ...start })),
    /** Null if the document has changed since the update was made. */
    reviewSuggestion: async (
      roomId: string,
      accountId: string,
      document: string,
      id: string,
      review: ReviewedSuggestion,
    ): Promise<Suggestion | null> =>
      accepted(await stub(roomId).reviewSuggestion(accountId, document, id, { ...review })),
    withdrawSuggestion: async (
      roomId: string,
      accountId: string,
      document: string,
      id: string,
      withdrawn: WithdrawnSuggestion,
    ): Promise<null> =>
      accepted(await stub(roomId).withdrawSuggestion(accountId, document, id, { ...withdrawn })),
    /** The methods of a stream throw a {@link StreamRefused}. */
    createStream: async (roomId: string, accountId: string, name: string, creation: StreamCreation) =>
      allowed(await stub(roomId).createStream(accountId, name, { ...creation })),
    appendToStream: async (roomId: string, accountId: string, name: string, append: StreamAppend) =>
      allowed(await stub(roomId).appendToStream(accountId, name, { ...append })),
    deleteStream: async (roomId: string, accountId: string, name: string, writer?: Writer) =>
      allowed(await stub(roomId).deleteStream(accountId, name, writer && { ...writer })),
    describeStream: async (roomId: string, accountId: string, name: string) =>
      allowed(await stub(roomId).describeStream(accountId, name)),
    readStream: async (roomId: string, accountId: string, read: StreamRead, waitMs: number) =>
      allowed(await stub(roomId).readStream(accountId, { ...read }, waitMs)),
    /** The content of a stream, and later appends as they come, as Server-Sent Events. */
    streamEvents: async (roomId: string, read: EventsRead): Promise<Response> => {
      const headers = { [HEADERS.stream]: encodeURIComponent(JSON.stringify(read)) };
      const response = await openObject(env, env.ROOMS, roomId).fetch("https://room/stream", { headers });
      if (!response.ok) throw refusedBy(await response.json<StreamRefusal>());
      return response;
    },
    /** The changes after a place, as JSON; null for the end. Throws the refusal. */
    listChanges: async (roomId: string, { accountId, from, writer }: ChangesRead) =>
      allowed(await stub(roomId).listChanges(accountId, from && { ...from }, writer?.isGuest === true)),
    /** The changes after a place, and later ones as they come, as Server-Sent Events. */
    changeEvents: async (roomId: string, read: ChangesRead): Promise<Response> => {
      const headers = { [HEADERS.changes]: encodeURIComponent(JSON.stringify(read)) };
      const response = await openObject(env, env.ROOMS, roomId).fetch("https://room/changes", { headers });
      if (!response.ok) throw refusedBy(await response.json<StreamRefusal>());
      return response;
    },
    /** The storage of the room, for a backup. */
    archived: (roomId: string) => archivedObject("Rooms", () => stub(roomId)),
    requireConnectable,
    /**
     * Upgrades the request to a WebSocket that has yet to join. RATE_LIMITED when its client connects too often. The
     * object receives a new request: of the client's own, only the upgrade.
     */
    connect: async (
      roomId: string,
      accountId: string,
      request: Request,
      entry?: DocumentAddress | null,
      trace?: Trace | null,
    ): Promise<Response> => {
      requireConnectable(roomId, request); // a simultaneous upgrade may have been refused meanwhile
      const response = await openObject(env, env.ROOMS, roomId).fetch("https://room/socket", {
        headers: {
          Upgrade: request.headers.get("Upgrade") ?? "",
          [HEADERS.account]: accountId,
          [HEADERS.room]: roomId,
          [HEADERS.address]: clientOf(request),
          ...(trace && { [HEADERS.trace]: JSON.stringify(trace) }),
          ...(entry && { [HEADERS.document]: encodeURIComponent(JSON.stringify(entry)) }),
        },
      });
      if (response.status !== 429) return response;
      const seconds = Number(response.headers.get("Retry-After"));
      refused.set(refusalKey(roomId, request), seconds, Date.now());
      throw tooManyConnections(seconds);
    },
    /** The next part of a download; null unless a joined client was given its ID, and may read it now. */
    download: async (roomId: string, downloadId: string): Promise<ReadableStream | null> => {
      const headers = { [HEADERS.download]: encodeURIComponent(downloadId) };
      const response = await openObject(env, env.ROOMS, roomId).fetch("https://room/download", { headers });
      return response.ok ? response.body : null;
    },
  };
}

const refusalKey = (roomId: string, request: Request): string => `${roomId} ${clientOf(request)}`;

const tooManyConnections = (seconds: number): AppError =>
  new AppError(
    "Rooms",
    "RATE_LIMITED",
    "Too many connections to this room from this address; wait and retry",
    seconds,
  );

/** Throws a room's refusal, and returns any other answer. */
function accepted<Answer>(answer: Answer | DocumentRefusal): Answer {
  if (isRefusal(answer)) throw new AppError("Rooms", answer.code, answer.message);
  return answer;
}

const refusedBy = ({ code, message, headers }: StreamRefusal) => new StreamRefused(code, message, headers);

/** Throws a stream's refusal, and returns any other answer. */
function allowed<Answer>(answer: Answer | StreamRefusal): Answer {
  if (isRefusedStream(answer)) throw refusedBy(answer);
  return answer;
}

const isRefusedStream = (answer: unknown): answer is StreamRefusal =>
  typeof answer === "object" && answer !== null && "isRefused" in answer;

const isRefusal = (answer: unknown): answer is DocumentRefusal =>
  typeof answer === "object" && answer !== null && "code" in answer;

/** Parses responses that the object serialized. */
const parseResponses = (json: string): RoomResponse[] => JSON.parse(json) as RoomResponse[];

/** The output of an operation, as the room's handler of its type has returned it. Throws the refusal. */
const outputOf = <Type extends RoomOperation>(json: string) => dataOf(json) as OutputOf<Type>;

/** The data of a serialized response. Throws its error. */
function dataOf(json: string): object {
  const response = JSON.parse(json) as RoomResponse;
  if (response.success) return response.data;
  const { module, code, message } = response.error;
  throw new AppError(module, code, message);
}

/** Reads the parts of a document one by one. Starts again when they were folded meanwhile. */
async function collectParts(
  read: (part: number) => Promise<DocumentPart | null>,
): Promise<readonly Uint8Array[] | null> {
  let parts: Uint8Array[] = [];
  let version: string | null = null;
  for (;;) {
    const part = await read(parts.length);
    if (part === null) return null;
    if (version !== null && part.version !== version) parts = [];
    else if (part.update === null) return parts;
    else parts.push(part.update);
    version = part.version;
  }
}

/** Reads the updates of a version, as many at a time as fit into a call; null when the document is another one. */
async function collectVersion(
  read: (from: VersionPosition) => Promise<VersionPart | null>,
  documentId: number | null,
): Promise<readonly Uint8Array[] | null> {
  const updates: Uint8Array[] = [];
  for (let from: VersionPosition | null = { documentId, afterSeq: 0 }; from !== null; ) {
    const part: VersionPart | null = await read(from);
    if (part === null) return null;
    updates.push(...part.updates);
    from = part.next;
  }
  return updates;
}
