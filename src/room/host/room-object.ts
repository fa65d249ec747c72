/** The Durable Object of one room: the methods that Workers call over RPC. Each names the organization it acts for. */

import { AppError, notFound } from "@atrium/contract/errors.ts";
import { LIMITS } from "@atrium/contract/limits.ts";
import { NO_ACCESS } from "@atrium/contract/no-access.ts";
import {
  ORGANIZATION_SUBJECT,
  type Right,
  refusalOf,
  type Subject,
} from "@atrium/contract/resources/permissions.ts";
import type { EventCause } from "@atrium/contract/resources/present-event.ts";
import type { LastSeen, RoomStats, UserSnapshot } from "@atrium/contract/resources/snapshots.ts";
import type { Suggestion } from "@atrium/contract/resources/suggestion.ts";
import { tokenEnded } from "../../platform/token-claims.ts";
import type { Trace } from "../../platform/trace.ts";
import type { Room } from "../engine/room.ts";
import type { Erasure } from "../engine/room-commands.ts";
import { failure, serialize, success, TOO_MUCH } from "../protocol/frame.ts";
import type { Fault } from "../protocol/protocol.ts";
import type { ParticipantInput, RoomRequest } from "../protocol/room-request.ts";
import type { RoomStreams } from "../streams/streams.ts";
import type { Effect } from "../transport/connection.ts";
import type { ChangePlace, ChangesRead } from "../types/changes.ts";
import type {
  Author,
  AuthoredUpdate,
  DocumentRefusal,
  DocumentWrite,
  EditRequest,
  EditStart,
  EditWrite,
  HistoryPage,
  VersionChange,
  VersionInfo,
  VersionPosition,
  Writer,
  WrittenRange,
} from "../types/documents.ts";
import { HEADERS, type PersonalPart, type TracedCommand } from "../types/room-object.ts";
import {
  type Appended,
  type Created,
  type EventsRead,
  type StreamAppend,
  type StreamCreation,
  type StreamPage,
  type StreamPart,
  type StreamRead,
  type StreamRefusal,
  StreamRefused,
  type StreamState,
} from "../types/streams.ts";
import type {
  ListedSuggestions,
  ReviewedSuggestion,
  SuggestionChange,
  SuggestionDetails,
  SuggestionPage,
  SuggestionStart,
  WithdrawnSuggestion,
} from "../types/suggestions.ts";
import { respondWithChanges } from "./change-reads.ts";
import type { ReadPorts } from "./live-response.ts";
import { RoomHost } from "./room-host.ts";
import type { RoomRuntime } from "./room-runtime.ts";
import { readPart, respondWithEvents } from "./stream-reads.ts";

const faultOf = ({ module, code, message }: AppError): Fault => ({ module, code, message });

/** Errors lose their class on the way to the caller. */
function documentRefusal(error: unknown): DocumentRefusal {
  if (!(error instanceof AppError)) throw error;
  return { code: error.code, message: error.message };
}

function streamRefusal(error: unknown): StreamRefusal {
  if (!(error instanceof AppError)) throw error;
  const headers = error instanceof StreamRefused ? error.headers : {};
  return { isRefused: true, code: error.code, message: error.message, headers };
}

interface Reconciliation {
  readonly previous: number;
  readonly reconciled: number;
  readonly stats: RoomStats;
}

interface RoomSnapshot {
  readonly stats: RoomStats;
  readonly lastSeen: Record<string, LastSeen>;
}

type FoundUser = Awaited<ReturnType<RoomRuntime["service"]["findUser"]>>;

export class RoomObjectBase extends RoomHost {
  /** Reads of the database that have not ended yet. */
  readonly #findings = new Map<string, Promise<FoundUser>>();

  /** The runtime for a call. Throws for a caller of another organization. */
  #called(accountId: string): RoomRuntime {
    const runtime = this.runtime();
    runtime.context.identify(accountId);
    return runtime;
  }

  #room(accountId: string): Room {
    return this.#called(accountId).room;
  }

  /** The runtime for a call that writes, which would bring the object of a deleted room back. */
  async #existing(accountId: string): Promise<RoomRuntime> {
    const runtime = this.#called(accountId);
    await runtime.reads.requireExisting();
    return runtime;
  }

  /** The stats, and when some users were last seen. Creates nothing in a room that no one has ever joined. */
  read(accountId: string, userIds: readonly string[]): RoomSnapshot {
    const room = this.#room(accountId);
    return { stats: room.sessions.stats, lastSeen: room.sessions.findLastSeen(userIds) };
  }

  /** The sessions of a user, newest first, and whether the user is online. */
  readUser(accountId: string, userId: string): UserSnapshot {
    const { context, room } = this.runtime();
    const { roomId } = context.identify(accountId);
    const sessions = room.sessions.list(userId).map((session) => ({ ...session, roomId }));
    return { lastSeen: room.sessions.findLastSeen([userId])[userId] ?? null, sessions };
  }

  /** A part of the stored data of a user, from a position on; null for the start. */
  readPersonalData(accountId: string, userId: string, part: PersonalPart, after: string | null) {
    return this.#room(accountId).personalData(userId, part, after);
  }

  /** Sets the counter to the users who have a live socket, here and in the database. */
  async reconcile(accountId: string): Promise<Reconciliation> {
    const { room, effects: executor, alarm, statsProjection } = this.#called(accountId);
    alarm.closeVanished();
    const { previous, effects } = room.reconcile();
    executor.perform(effects);
    alarm.plan(); // planned before the copy below, which may fail
    const { stats } = room.sessions;
    await statsProjection.copy();
    return { previous, reconciled: stats.activeParticipants, stats };
  }

  /** Applies a change that was made over REST to the connected users. Idempotent. Returns the stats after it. */
  async apply(accountId: string, command: TracedCommand): Promise<RoomStats> {
    if (command.type === "room.deleted") await this.archived.discard();
    const { context, outboxDrain, room } = this.runtime();
    context.identify(accountId);
    // The room's events that follow from this change precede the caller's own events about it.
    await outboxDrain.settledAfter(() => this.#apply(command));
    if (command.type === "user.erased") await this.runtime().eraseFromLog(command.userId);
    return room.sessions.stats;
  }

  async #apply(command: TracedCommand): Promise<void> {
    const { room, effects, traces, reads, alarm } = this.runtime();
    const { trace = null } = command;
    const { isErasure, PartialFailure } = this.engine();
    try {
      if (isErasure(command)) await this.#eraseContent(command);
      else effects.perform(traces.during(trace, () => room.commands.apply(command)));
    } catch (error) {
      if (!(error instanceof PartialFailure)) throw error;
      effects.perform(error.effects);
      throw error.cause;
    }
    const { live } = room.streams;
    if (command.type === "room.closed" || command.type === "room.deleted") live.end("changes");
    else live.wake("changes"); // readers may have lost their right
    if (command.type === "room.deleted") await this.#erase();
    else alarm.plan();
    await reads.refreshed();
  }

  /**
   * Handles a request of the organization, of a workflow's run for it (`cause`), or of a user (`writer`). Request and
   * response are JSON, as they hold any value that users send. `trace` is that of the request over REST.
   */
  async call(
    accountId: string,
    request: string,
    cause: EventCause | null = null,
    trace: Trace | null = null,
    writer?: Writer,
  ): Promise<string> {
    const runtime = this.#called(accountId);
    const { effects: executor, reads, room, traces } = runtime;
    const { operationOf, rightOf } = this.engine();
    const parsed = JSON.parse(request) as RoomRequest;
    await (operationOf(parsed.type).isReported ? reads.requireRow() : reads.requireExisting());
    const right = rightOf(parsed.type, parsed.data);
    const refused = right === "read" ? null : await this.#lostRight(runtime, writer, right);
    if (refused !== null) return serialize(failure(refused, parsed.requestId));
    const by = { userId: writer?.userId ?? null, isGuest: writer?.isGuest === true, cause };
    const { response, effects } = traces.during(trace, () => room.request(parsed, by));
    executor.perform(effects);
    return serialize(response);
  }

  /** A user takes part without a socket for a time. Takes a {@link ParticipantInput} and returns the response, both as JSON. */
  async addParticipant(
    accountId: string,
    userId: string,
    input: string,
    trace: Trace | null = null,
    writer?: Writer,
  ): Promise<string> {
    const runtime = this.#called(accountId);
    const { alarm, effects: executor, joins, room, traces } = runtime;
    try {
      const refused = await this.#lostRight(runtime, writer, "presence:write");
      if (refused !== null) return serialize(failure(refused, undefined));
      if (writer !== undefined && !room.queue.countJoin(userId))
        return serialize(failure(TOO_MUCH, undefined));
      const participant = await joins.readRestParticipant(userId);
      const { endsAt, effects } = traces.during(trace, () =>
        room.restParticipants.add(participant, JSON.parse(input) as ParticipantInput),
      );
      executor.perform(effects);
      return serialize(success("Participant added", { endsAt }, undefined));
    } catch (error) {
      if (error instanceof AppError) return serialize(failure(faultOf(error), undefined));
      alarm.recoverSoon(); // a session may have begun whose end could not be stored
      throw error;
    }
  }

  /**
   * The reason why a user may not write now, as the database has it after the latest change that the room knows: its
   * role, or the access or the tokens of its identity, may have ended since its request was authenticated. `needed` is a
   * right, or refuses a subject. Null for none.
   */
  async #lostRight(
    runtime: RoomRuntime,
    writer: Writer | undefined,
    needed: Right | ((subject: Subject) => AppError | null),
  ): Promise<Fault | null> {
    const refusalTo = (subject: Subject): AppError | null =>
      typeof needed === "string" ? refusalOf(needed, subject, "Rooms") : needed(subject);
    const faultTo = (subject: Subject): Fault | null => {
      const refusal = refusalTo(subject);
      return refusal && faultOf(refusal);
    };
    if (writer === undefined) return faultTo(ORGANIZATION_SUBJECT);
    const found = await this.#findUser(runtime, writer.userId);
    const { user } = found;
    if (found.room === null) return faultOf(notFound("Rooms", "Room"));
    if (user?.subject.identityEpoch !== writer.identityEpoch) return faultOf(tokenEnded());
    const rights = user?.rights ?? 0;
    if (rights === 0) return faultOf(new AppError("Auth", "FORBIDDEN", NO_ACCESS));
    const fault = faultTo({ isOrganization: false, rights, readsOnly: false });
    if (fault !== null) return fault;
    const isClosed = found.room.state === "closed" && needed !== "read";
    return isClosed ? faultOf(new AppError("Rooms", "FORBIDDEN", "The room is closed")) : null;
  }

  /** A user after the latest change that may concern it. Calls that wait for the same share one read of the database. */
  async #findUser({ context, service, room }: RoomRuntime, userId: string): Promise<FoundUser> {
    for (;;) {
      const revision = room.commands.revisionOf(userId);
      const key = `${revision} ${userId}`;
      const read = () => service.findUser(context.identity, userId).finally(() => this.#findings.delete(key));
      const finding = this.#findings.get(key) ?? read();
      this.#findings.set(key, finding);
      const found = await finding;
      if (revision === room.commands.revisionOf(userId)) return found;
    }
  }

  /**
   * Handles batches of a user or, with null, of the organization: one transaction each, together with the limit of one.
   * Takes and returns JSON.
   */
  async writeStores(
    accountId: string,
    userId: string | null,
    batches: string,
    writer?: Writer,
  ): Promise<string> {
    const runtime = await this.#existing(accountId);
    const { effects: executor, room } = runtime;
    const refused = await this.#lostRight(runtime, writer, "stores:write");
    const maxWritten = room.content.stores.writtenBytes + LIMITS.writtenBytes;
    const responses = (JSON.parse(batches) as RoomRequest[]).map((batch) => {
      if (refused !== null) return serialize(failure(refused, batch.requestId));
      if (room.content.stores.writtenBytes >= maxWritten)
        return serialize(failure(TOO_MUCH, batch.requestId));
      const { response, effects } = room.request(batch, { userId, isGuest: false, cause: null });
      executor.perform(effects);
      return serialize(response);
    });
    return `[${responses.join()}]`;
  }

  /** Keeps every change of the room's stores in its log from now on, within the limits of the log. */
  async keepEveryChange(accountId: string): Promise<void> {
    const { room } = await this.#existing(accountId);
    room.content.changes.keepEvery();
  }

  /** Kept changes of stores after a seq, oldest first; `data` is JSON. */
  listContentChanges(accountId: string, afterSeq: number, limit: number) {
    return this.#room(accountId).content.changes.ofStores(afterSeq, limit);
  }

  listDocuments(accountId: string) {
    return this.#room(accountId).documentRequests.list();
  }

  /** Null when there is no such document. */
  describeDocument(accountId: string, name: string) {
    return this.#room(accountId).documentRequests.describe(name);
  }

  /** A part of a document, counted from 0; null when there is no such document. */
  readDocument(accountId: string, name: string, part: number) {
    return this.#room(accountId).documentRequests.read(name, part);
  }

  /** Applies an update. Returns whether it had news, or the refusal. */
  async writeDocument(
    accountId: string,
    name: string,
    update: Uint8Array,
    write: DocumentWrite,
  ): Promise<boolean | DocumentRefusal> {
    const runtime = await this.#existing(accountId);
    const { effects: executor, room } = runtime;
    const refused = await this.#lostRight(runtime, write.writer, (subject) =>
      room.writeRefusal(name, write.author, subject),
    );
    if (refused !== null) return refused;
    const { documentRequests, commands } = room;
    if (commands.isDeleted) return { code: "NOT_FOUND", message: "Room not found" };
    try {
      const { isApplied, effects } = documentRequests.write(name, update, write);
      executor.perform(effects);
      return isApplied;
    } catch (error) {
      executor.perform(documentRequests.refused(name));
      return documentRefusal(error);
    }
  }

  /** The first step of {@link editDocument}, or the refusal of an author who may not write into such a document. */
  beginEdit(
    accountId: string,
    name: string,
    request: EditRequest,
    author: Author | null,
  ): EditStart | DocumentRefusal {
    const room = this.#room(accountId);
    const refusal = author && room.writeRefusal(name, author, ORGANIZATION_SUBJECT);
    return refusal === null ? room.documentRequests.beginEdit(name, request, author) : faultOf(refusal);
  }

  /** Returns the answer as JSON; null if the document changed meanwhile at the edit's places; or the refusal. */
  async editDocument(
    accountId: string,
    name: string,
    update: Uint8Array,
    edit: EditWrite,
  ): Promise<string | null | DocumentRefusal> {
    const runtime = await this.#existing(accountId);
    const { effects: executor, room, traces } = runtime;
    const refused = await this.#lostRight(runtime, edit.writer, (subject) =>
      room.writeRefusal(name, edit.author, subject),
    );
    if (refused !== null) return refused;
    if (room.commands.isDeleted) return { code: "NOT_FOUND", message: "Room not found" };
    try {
      const { answer, effects } = traces.during(edit.trace, () =>
        room.causedBy(edit.cause, () => room.documentRequests.edit(name, update, edit)),
      );
      executor.perform(effects);
      return answer;
    } catch (error) {
      executor.perform(room.documentRequests.refused(name));
      return documentRefusal(error);
    }
  }

  /** Returns whether there was such a document, or the refusal. */
  async deleteDocument(accountId: string, name: string, writer?: Writer): Promise<boolean | DocumentRefusal> {
    const runtime = await this.#existing(accountId);
    const { effects: executor, room } = runtime;
    const refused = await this.#lostRight(runtime, writer, (subject) =>
      room.suggestions.deletionRefusal(name, subject),
    );
    if (refused !== null) return refused;
    const effects = room.suggestions.deleteDocument(name);
    executor.perform(effects ?? []);
    return effects !== null;
  }

  /** Newest first; null when there is no such document. */
  readTrail(accountId: string, name: string, page: HistoryPage) {
    return this.#room(accountId).documentHistory.trail(name, page);
  }

  /** Newest first; null when there is no such document. */
  listVersions(accountId: string, name: string, page: HistoryPage) {
    return this.#room(accountId).documentHistory.versions(name, page);
  }

  /** Some of the updates that a version consists of; null when there is no such version. */
  readVersion(accountId: string, name: string, seq: number, from: VersionPosition) {
    return this.#room(accountId).documentHistory.read(name, seq, from);
  }

  /** The updates between two versions with their authors, or the refusal. */
  readWritten(accountId: string, name: string, range: WrittenRange): AuthoredUpdate[] | DocumentRefusal {
    const { documentHistory } = this.#room(accountId);
    try {
      return documentHistory.written(name, range);
    } catch (error) {
      return documentRefusal(error);
    }
  }

  /** Returns the version that was changed or deleted, or the refusal. */
  async changeVersion(
    accountId: string,
    name: string,
    change: VersionChange,
    writer?: Writer,
  ): Promise<VersionInfo | DocumentRefusal> {
    const runtime = await this.#existing(accountId);
    const { effects, room } = runtime;
    const refused = await this.#lostRight(runtime, writer, (subject) =>
      room.writeRefusal(name, null, subject),
    );
    if (refused !== null) return refused;
    try {
      return room.documentHistory.change(name, change);
    } catch (error) {
      return documentRefusal(error);
    } finally {
      effects.perform([]); // plans the alarm that reports it
    }
  }

  /** Null when there is no such document. */
  listSuggestions(accountId: string, document: string, listed: ListedSuggestions): SuggestionPage | null {
    return this.#room(accountId).suggestions.list(document, listed);
  }

  /** Null when the document has no such suggestion. */
  describeSuggestion(accountId: string, document: string, id: string): SuggestionDetails | null {
    return this.#room(accountId).suggestions.describe(document, id);
  }

  /** Returns the answer as JSON, or the refusal. */
  createSuggestion(
    accountId: string,
    document: string,
    start: SuggestionStart,
  ): Promise<string | DocumentRefusal> {
    return this.#changeSuggestions(accountId, document, start, "documents:suggest", ({ suggestions }) => {
      const { answer, effects } = suggestions.create(document, start);
      return { result: answer, effects };
    });
  }

  /** Returns the reviewed suggestion; null if the document has changed meanwhile; or the refusal. */
  reviewSuggestion(
    accountId: string,
    document: string,
    id: string,
    review: ReviewedSuggestion,
  ): Promise<Suggestion | null | DocumentRefusal> {
    return this.#changeSuggestions(accountId, document, review, "documents:write", ({ suggestions }) => {
      const { suggestion, effects } = suggestions.review(document, id, review);
      return { result: suggestion, effects };
    });
  }

  withdrawSuggestion(
    accountId: string,
    document: string,
    id: string,
    withdrawn: WithdrawnSuggestion,
  ): Promise<null | DocumentRefusal> {
    const { room } = this.#called(accountId);
    const needed = (subject: Subject) => room.suggestions.withdrawalRefusal(id, withdrawn, subject);
    const change = { ...withdrawn, cause: null, trace: null };
    return this.#changeSuggestions(accountId, document, change, needed, ({ suggestions }) => ({
      result: null,
      effects: suggestions.withdraw(document, id),
    }));
  }

  async #changeSuggestions<Result>(
    accountId: string,
    document: string,
    { writer, cause, trace }: SuggestionChange,
    needed: Right | ((subject: Subject) => AppError | null),
    work: (room: Room) => { readonly result: Result; readonly effects: readonly Effect[] },
  ): Promise<Result | DocumentRefusal> {
    const runtime = await this.#existing(accountId);
    const { effects: executor, room, traces, reads } = runtime;
    await reads.requireRow(); // the events show it
    const refused = await this.#lostRight(runtime, writer, needed);
    if (refused !== null) return refused;
    if (room.commands.isDeleted) return documentRefusal(notFound("Rooms", "Room"));
    try {
      const { result, effects } = traces.during(trace, () => room.causedBy(cause, () => work(room)));
      executor.perform(effects);
      return result;
    } catch (error) {
      executor.perform(room.documentRequests.refused(document)); // plans a fold, and the alarm
      return documentRefusal(error);
    }
  }

  /** Creates a stream, or confirms it. */
  createStream(accountId: string, name: string, creation: StreamCreation): Promise<Created | StreamRefusal> {
    return this.#writeStreams(accountId, creation.writer, (streams) => streams.create(name, creation));
  }

  appendToStream(accountId: string, name: string, append: StreamAppend): Promise<Appended | StreamRefusal> {
    return this.#writeStreams(accountId, append.writer, (streams) => streams.append(name, append));
  }

  deleteStream(accountId: string, name: string, writer?: Writer): Promise<null | StreamRefusal> {
    return this.#writeStreams(accountId, writer, (streams) => {
      streams.delete(name);
      return null;
    });
  }

  async #writeStreams<Result>(
    accountId: string,
    writer: Writer | undefined,
    work: (streams: RoomStreams) => Result,
  ): Promise<Result | StreamRefusal> {
    const runtime = await this.#existing(accountId);
    const { effects, room } = runtime;
    const refused = await this.#lostRight(runtime, writer, "streams:write");
    if (refused !== null) return { isRefused: true, headers: {}, ...refused };
    if (room.commands.isDeleted) return streamRefusal(notFound("Rooms", "Room"));
    try {
      return work(room.streams);
    } catch (error) {
      return streamRefusal(error);
    } finally {
      effects.perform([]); // plans the alarm
    }
  }

  listStreams(accountId: string, after: string, limit: number): StreamPage {
    return this.#room(accountId).streams.list(after, limit);
  }

  describeStream(accountId: string, name: string): StreamState | StreamRefusal {
    try {
      return this.#room(accountId).streams.describe(name);
    } catch (error) {
      return streamRefusal(error);
    }
  }

  /** A part of a stream. At the end of an open one, waits up to `waitMs` for more. */
  readStream(accountId: string, read: StreamRead, waitMs: number): Promise<StreamPart | StreamRefusal> {
    return readPart(this.#readPorts(accountId), read, waitMs).catch(streamRefusal);
  }

  /** `needed` is what the user of a read that lasts has to have all the time. */
  #readPorts(accountId: string, needed: Right | ((subject: Subject) => AppError | null) = "read"): ReadPorts {
    return {
      room: () => this.#room(accountId),
      now: () => this.clock(),
      requireReader: async (writer: Writer) => {
        const refused = await this.#lostRight(this.#called(accountId), writer, needed);
        if (refused !== null) throw new StreamRefused(refused.code, refused.message);
      },
      synced: () => this.ctx.storage.sync(),
    };
  }

  /** The changes after a place as JSON; null for the end. */
  async listChanges(
    accountId: string,
    from: ChangePlace | null,
    isGuest: boolean,
  ): Promise<string | StreamRefusal> {
    const { room } = await this.#existing(accountId);
    if (room.commands.isDeleted) return streamRefusal(notFound("Rooms", "Room"));
    return room.content.feed.page(from, isGuest);
  }

  async #sendChanges(read: ChangesRead): Promise<Response> {
    const { room } = await this.#existing(read.accountId);
    if (room.commands.isDeleted) throw notFound("Rooms", "Room");
    // A function, unlike the right alone, has to find the room open as well.
    const toEnter = (subject: Subject) => refusalOf("read", subject, "Rooms");
    return await respondWithChanges(this.#readPorts(read.accountId, toEnter), read);
  }

  override async fetch(request: Request): Promise<Response> {
    const read = (name: string): unknown => {
      const header = request.headers.get(name);
      return header && JSON.parse(decodeURIComponent(header));
    };
    const stream = read(HEADERS.stream) as EventsRead | null;
    const changes = read(HEADERS.changes) as ChangesRead | null;
    try {
      if (stream !== null) return await respondWithEvents(this.#readPorts(stream.accountId), stream);
      if (changes !== null) return await this.#sendChanges(changes);
    } catch (error) {
      return Response.json(streamRefusal(error), { status: 400 });
    }
    return super.fetch(request);
  }

  async #eraseContent(command: Erasure & TracedCommand): Promise<void> {
    const { room, effects, traces } = this.runtime();
    const steps = room.commands.erase(command);
    const next = () => traces.during(command.trace ?? null, () => steps.next());
    for (let step = next(); step.done !== true; step = next()) {
      effects.perform(step.value);
      await scheduler.wait(0); // the requests of others
      this.archived.requireOpen();
    }
  }

  /** Deletes everything including the alarm, once all events are passed on; rejects until then. */
  async #erase(): Promise<void> {
    const { alarm, outboxDrain, effects, room } = this.runtime();
    alarm.plan();
    await outboxDrain.finish();
    effects.perform(room.clear());
    alarm.forget();
    await this.ctx.storage.deleteAll();
  }
}
