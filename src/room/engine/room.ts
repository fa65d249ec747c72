/** The room: its parts, and its operations on sockets. Synchronous and pure: it knows nothing of the platform. */
import type { AppError } from "@atrium/contract/errors.ts";
import type { EventCause } from "@atrium/contract/resources/present-event.ts";
import { DocumentHistory } from "../documents/document-history.ts";
import { RoomDocuments } from "../documents/documents.ts";
import { Channels } from "../documents/sync/channels.ts";
import { DocumentRequests } from "../documents/sync/document-requests.ts";
import { DocumentSockets } from "../documents/sync/document-sockets.ts";
import { OpenDocuments } from "../documents/sync/open-documents.ts";
import { PendingTokens } from "../documents/sync/pending-tokens.ts";
import { SuggestionRequests } from "../documents/sync/suggestion-requests.ts";
import { CONNECTION_COSTS } from "../protocol/costs.ts";
import { failure } from "../protocol/frame.ts";
import { CLOSE, type Fault } from "../protocol/protocol.ts";
import type { RoomRequest } from "../protocol/room-request.ts";
import type { RoomIdentity } from "../storage/storage.ts";
import { RoomStreams } from "../streams/streams.ts";
import type { DocumentWire, Effect, Joined, Waiting } from "../transport/connection.ts";
import type { RoomConnections } from "../transport/connections.ts";
import type { RoomPorts } from "../transport/room-ports.ts";
import type { PersonalPart, RecordsOfUser } from "../types/room-object.ts";
import { RoomContent } from "./content/content.ts";
import { readPersonalData } from "./content/personal-data.ts";
import { StoreQuota } from "./content/stores.ts";
import { DatabaseRequests } from "./database-requests.ts";
import { Downloads } from "./downloads.ts";
import { JoinHandshake } from "./join/join-handshake.ts";
import { MessageQueue } from "./message-queue.ts";
import { DocumentEvents, StoreEvents } from "./outbox/delayed-events.ts";
import { Participants } from "./participants/participants.ts";
import { RestParticipants } from "./participants/rest-participants.ts";
import type { Sessions } from "./participants/sessions.ts";
import { type RequestOutcome, RoomRequests } from "./requests.ts";
import { RoomCommandHandler } from "./room-commands.ts";
import { type RestRequester, RoomMessages } from "./room-messages.ts";

/** A client's request for a socket of documents; the document and the token are part of some addresses. */
interface DocumentEntry {
  readonly wire: DocumentWire["wire"];
  readonly name: string | null;
  readonly token: string;
}

const ORGANIZATION_ITSELF: RestRequester = { userId: null, isGuest: false, cause: null };

const TOO_MANY_WAIT = "too many connections are waiting to join";
const ROOM_DELETED: Fault = { module: "Rooms", code: "NOT_FOUND", message: "Room not found" };

export class Room {
  readonly ports: RoomPorts;

  // Participants
  /** Users online: sockets, sessions, presence, and the deadlines of sessions. */
  readonly participants: Participants;
  readonly connections: RoomConnections;
  readonly sessions: Sessions;
  /** Users whom REST keeps online without a socket. */
  readonly restParticipants: RestParticipants;

  // Frames, from the first one to its response
  /** Receives the frames of sockets, and runs their messages. */
  readonly messages: RoomMessages;
  /** Joins sockets and refreshes tokens: completes `authorizeJoin` and `authorizeRefresh` effects. */
  readonly handshake: JoinHandshake;
  /** Limits and delays messages. */
  readonly queue: MessageQueue;
  /** Handles requests about stores, comments, follows, presence and broadcasts. */
  readonly requests: RoomRequests;
  /** Requests that need the database: completes `queryDatabase` effects. */
  readonly databaseRequests: DatabaseRequests;
  /** Large stores, over HTTP. */
  readonly downloads: Downloads;
  /** Applies commands of REST, and completes `refresh…` effects. */
  readonly commands: RoomCommandHandler;

  // Lasting content
  /** The log of changes, stores, comments and follows. */
  readonly content: RoomContent;
  /** The organization's quota of the bytes of stores, documents and streams. */
  readonly storeQuota: StoreQuota;
  /** The events of stores and documents, which are recorded after an interval. */
  readonly storeEvents: StoreEvents;
  readonly documentEvents: DocumentEvents;

  // Documents
  readonly #documents: RoomDocuments;
  /** The documents that sockets have open. */
  readonly openDocuments: OpenDocuments;
  /** Sockets of editors' own clients: completes `authorizeDocuments` effects. */
  readonly documentSockets: DocumentSockets;
  /** Documents over REST. */
  readonly documentRequests: DocumentRequests;
  readonly documentHistory: DocumentHistory;
  /** Suggestions over REST. */
  readonly suggestions: SuggestionRequests;

  readonly streams: RoomStreams;

  constructor(ports: RoomPorts) {
    this.ports = ports;
    this.participants = new Participants(ports);
    this.connections = this.participants.connections;
    this.sessions = this.participants.sessions;
    this.restParticipants = new RestParticipants(ports, this.participants);

    const { storage } = ports;
    const now = () => ports.now();
    const eventPorts = {
      storage,
      now,
      newId: () => ports.newId(),
      planAlarm: () => ports.planAlarm(),
      cause: () => this.content.cause,
      stats: () => this.sessions.stats,
    };
    this.storeEvents = new StoreEvents(eventPorts);
    this.documentEvents = new DocumentEvents(eventPorts);
    const bytesOf = {
      stores: () => storage.entries.totals().bytes,
      documents: () => this.#documents.bytes,
      streams: () => this.streams.bytes,
    };
    this.storeQuota = new StoreQuota(ports, (part) => bytesOf[part]());
    this.content = new RoomContent(ports, eventPorts, this.storeEvents, this.storeQuota, () =>
      this.streams.live.wake("changes"),
    );

    this.queue = new MessageQueue(ports, this.connections);
    this.handshake = new JoinHandshake(ports, this.participants, this.content);
    this.downloads = new Downloads(this);
    this.requests = new RoomRequests(this);
    this.databaseRequests = new DatabaseRequests({
      ports,
      participants: this.participants,
      content: this.content,
      handle: (connection, request) => this.messages.handle(connection, request),
    });

    const { documentEvents: events, storeQuota } = this;
    const quotaOf = (part: "documents" | "streams") => ({
      require: (before: number, after: number) => storeQuota.require(part, before, after),
      changed: (before: number, after: number) => storeQuota.changed(before, after),
    });
    const { trailKeptMs } = ports;
    this.#documents = new RoomDocuments({
      ...{ storage, now, trailKeptMs, events, quota: quotaOf("documents") },
    });
    const channels: Channels = new Channels(this.#documents);
    const pendingTokens = new PendingTokens();
    this.openDocuments = new OpenDocuments(this.participants, this.#documents, channels, pendingTokens);
    this.documentSockets = new DocumentSockets(
      this.participants,
      this.handshake,
      this.openDocuments,
      pendingTokens,
    );
    this.documentRequests = new DocumentRequests(
      this.#documents,
      channels,
      this.openDocuments,
      this.content.changes,
    );
    this.documentHistory = new DocumentHistory({ storage, now, events }, this.#documents);
    this.suggestions = new SuggestionRequests({
      events: eventPorts,
      changes: this.content.changes,
      documents: this.#documents,
      history: this.documentHistory,
      channels,
      requests: this.documentRequests,
      sendToAll: (sent) => this.connections.sendToAll(sent),
    });

    const planAlarm = () => ports.planAlarm();
    this.streams = new RoomStreams({
      ...{ storage, now, planAlarm },
      changesLeft: () => this.content.feed.changed(),
      quota: quotaOf("streams"),
    });

    this.messages = new RoomMessages(this);
    this.commands = new RoomCommandHandler(this);
  }

  /** The room of this storage; null while it stores nothing. */
  get identity(): RoomIdentity | null {
    const { record } = this.sessions;
    if (record !== null) return { accountId: record.accountId, roomId: record.roomId };
    const row = this.ports.storage.occupancy.readRoom();
    return row && { accountId: row.accountId, roomId: row.id };
  }

  /** A part of the stored data of a user, from a position on; null for the start. */
  personalData(userId: string, part: PersonalPart, after: string | null): RecordsOfUser {
    return readPersonalData(this.ports.storage, this.content.comments, this.suggestions, userId, part, after);
  }

  /** False once a socket is gone: nothing has to be read for it. */
  isOpen(id: string): boolean {
    return this.connections.get(id) !== undefined;
  }

  /** Restores the sockets that survived hibernation, and waits for the users of lost ones. */
  restore(connections: Iterable<Waiting | Joined>): Effect[] {
    for (const connection of connections) {
      const restored = this.participants.restore(connection);
      this.connections.put(restored);
      if (restored.phase !== "joined") continue;
      this.content.changes.continueEpoch();
      this.participants.presence.restore(restored);
      this.openDocuments.restore(restored);
    }
    return this.participants.restart();
  }

  /** Milliseconds until a socket of the address may connect; 0 for now. */
  connectableIn(address: string): number {
    const now = this.ports.now();
    return this.connections.addresses.of(address, now).affordableIn(now);
  }

  /** A socket has connected, from this address. If too many wait to join, a silent one is closed for it. */
  open(id: string, address: string, entry: DocumentEntry | null = null): Effect[] {
    const openedAt = this.ports.now();
    this.connections.addresses.of(address, openedAt).spend(CONNECTION_COSTS.opened, openedAt);
    const leaving = this.connections.waiting.findSocketToReplace(address);
    const refuse = (socketId: string) =>
      this.participants.disconnect([socketId], CLOSE.tooManySockets, TOO_MANY_WAIT);
    if (leaving === "none") return refuse(id);
    const documents = entry && { wire: entry.wire, opened: entry.name === null ? [] : [entry.name] };
    const connection: Waiting = { phase: "waiting", id, openedAt, address, ...(documents && { documents }) };
    this.connections.put(connection);
    if (entry?.wire === "yWebsocket") this.documentSockets.open(connection, entry.token);
    return [{ type: "attach", connection }, ...(leaving === null ? [] : refuse(leaving))];
  }

  /** A socket was closed by its client for good, or it broke. */
  close(id: string, isForGood: boolean): Effect[] {
    return isForGood ? this.messages.leave(id) : this.participants.remove([id], false);
  }

  /** Closes a socket whose client reads more slowly than the room sends. */
  disconnectSlowReader(id: string): Effect[] {
    return this.participants.interrupt([id], CLOSE.readerTooSlow, "reader too slow");
  }

  /** Closes sockets that the service has failed: their clients connect again, and miss nothing. */
  disconnectFailed(ids: readonly string[]): Effect[] {
    return this.participants.interrupt(ids, CLOSE.failed, "the server failed");
  }

  /** Handles a REST request of the organization, of a workflow's run (`cause`), or of a user with the right to it. */
  request(request: RoomRequest, by: RestRequester = ORGANIZATION_ITSELF): RequestOutcome {
    if (this.commands.isDeleted) return { response: failure(ROOM_DELETED, request.requestId), effects: [] };
    return this.messages.request(request, by);
  }

  /** Changes documents for a program or a user of REST. The events of the change carry its cause. */
  causedBy<Result>(cause: EventCause | null, change: () => Result): Result {
    this.content.cause = cause;
    try {
      return change();
    } finally {
      this.content.cause = null;
    }
  }

  /** The refusal to write into a document of this name; see {@link RoomDocuments.writeRefusal}. */
  writeRefusal(...write: Parameters<RoomDocuments["writeRefusal"]>): AppError | null {
    return this.#documents.writeRefusal(...write);
  }

  /** Sends the presence that has changed since the last flush; flushes are `intervalMs` apart. */
  flush(intervalMs: number): Effect[] {
    const effects = this.participants.presence.flush(intervalMs);
    return this.hasPresenceLeft ? [...effects, ...this.messages.resumeSoon()] : effects;
  }

  /** Whether sockets have yet to be sent presence. */
  get hasPresenceLeft(): boolean {
    return this.participants.presence.hasLeft;
  }

  /** Makes sessions and stats match the live sockets. */
  reconcile(): { readonly previous: number; readonly effects: Effect[] } {
    const previous = this.ports.storage.readRecord()?.activeParticipants ?? 0;
    return { previous, effects: [...this.participants.recover(), ...this.participants.sweep()] };
  }

  /** Goes on with the deletion of large threads, if that is due. */
  removeEnded(): Effect[] {
    return this.connections.sendToAll(this.content.threadRemoval.run());
  }

  /** Deletes everything the room stores, once the events of its deletion have been passed on. */
  clear(): Effect[] {
    const effects = this.commands.clear();
    this.storeEvents.reset();
    this.documentEvents.reset();
    this.#documents.reset();
    this.streams.reset();
    return effects;
  }
}
