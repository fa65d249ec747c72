/** The room: what its parts share, and who is in it. Synchronous and pure: it knows nothing of the platform. */
import type { EventCause } from "../../wire/events.ts";
import type { LastSeen, RoomStats, StoredSession } from "../../wire/snapshots.ts";
import { DocumentHistory } from "../documents/document-history.ts";
import { Documents } from "../documents/documents.ts";
import { Channels } from "../documents/sync/channels.ts";
import { DocumentRequests } from "../documents/sync/document-requests.ts";
import { DocumentSockets } from "../documents/sync/document-sockets.ts";
import { OpenDocuments } from "../documents/sync/open-documents.ts";
import { PendingTokens } from "../documents/sync/pending-tokens.ts";
import { CONNECTION_COST } from "../protocol/costs.ts";
import { failure } from "../protocol/frame.ts";
import { CLOSE, type Fault } from "../protocol/protocol.ts";
import type { RoomRequest } from "../protocol/room-request.ts";
import type { RoomIdentity, RoomRecord, RoomStorage } from "../storage/storage.ts";
import type { DocumentWire, Effect, Joined, Waiting } from "../transport/connection.ts";
import type { PersonalPart, RecordsOfUser } from "../types/room-object.ts";
import { type ContentPorts, openContent, type RoomContent } from "./content/content.ts";
import { readPersonalData } from "./content/personal-data.ts";
import { StoreQuota } from "./content/stats-projection.ts";
import type { DatabaseRequests } from "./database-requests.ts";
import type { Downloads } from "./downloads.ts";
import { JoinHandshake, type JoinPorts, TokenRefresh } from "./join/join-handshake.ts";
import type { MessageQueuePorts } from "./message-queue.ts";
import { DocumentEvents, StoreEvents } from "./outbox/delayed-events.ts";
import { CommentEvents, CurrentCause } from "./outbox/room-events.ts";
import { Heartbeat, Participants } from "./participants/participants.ts";
import { RestParticipants } from "./participants/rest-participants.ts";
import type { RequestOutcome, RequestPorts } from "./requests.ts";
import { RoomCommandHandler } from "./room-commands.ts";
import { RoomMessages } from "./room-messages.ts";

/** What the room needs from its host. */
interface RoomPorts extends RequestPorts, ContentPorts, MessageQueuePorts, JoinPorts {
  readonly storage: RoomStorage;
  newId(): string;
  /** For how long a user stays online whose last socket broke; 0 for not at all. */
  readonly graceMs: number;
  /** For how long documents keep their trail, and their versions without a name. */
  readonly trailKeptMs: number;
  roomId(): string;
  /** The room goes on with a message of this socket, with its `requestId`: what happens follows from it. */
  handling?(id: string, requestId: string | undefined): void;
  /** Whether the socket's client has read enough to be sent more presence. */
  canTakeMore(id: string): boolean;
  /** When the runtime last answered the socket's ping, which does not reach the room (epoch ms); null if never. */
  lastPingAt(id: string): number | null;
}

/** How a client opens a socket for documents: with the document that it is for, and the token, if the address has them. */
interface DocumentEntry {
  readonly wire: DocumentWire["wire"];
  readonly name: string | null;
  readonly token: string;
}

const TOO_MANY_WAIT = "too many connections are waiting to join";
const ROOM_DELETED: Fault = { module: "Rooms", code: "NOT_FOUND", message: "Room not found" };

export class Room {
  readonly #ports: RoomPorts;
  readonly #participants: Participants;
  readonly #content: RoomContent;
  /** What sockets send. */
  readonly messages: RoomMessages;
  /** What REST changes. */
  readonly updates: RoomCommandHandler;
  /** How sockets join: completes `authorizeJoin` effects. */
  readonly handshake: JoinHandshake;
  /** Who takes part without a socket. */
  readonly restParticipants: RestParticipants;
  /** Sockets of editors' own clients: completes `authorizeDocuments` effects. */
  readonly documentSockets: DocumentSockets;
  readonly openDocuments: OpenDocuments;
  readonly documentRequests: DocumentRequests;
  readonly documentHistory: DocumentHistory;
  readonly #documents: Documents;
  /** Completes `authorizeRefresh` effects. */
  readonly tokenRefresh: TokenRefresh;
  readonly heartbeat: Heartbeat;
  /** The events of its stores, which are recorded when they are due. */
  readonly storeEvents: StoreEvents;
  /** The same of its documents. */
  readonly documentEvents: DocumentEvents;

  constructor(ports: RoomPorts) {
    this.#ports = ports;
    const participants = new Participants(ports);
    const causes = new CurrentCause();
    const eventPorts = {
      storage: ports.storage,
      now: () => ports.now(),
      newId: () => ports.newId(),
      cause: () => causes.get(),
      stats: () => participants.sessions.stats,
    };
    this.storeEvents = new StoreEvents(eventPorts);
    this.documentEvents = new DocumentEvents(eventPorts);
    const quota = new StoreQuota((part) => (part === "stores" ? content.stores : this.#documents).bytes);
    const events = { comments: new CommentEvents(eventPorts), stores: this.storeEvents, causes };
    const content = openContent(ports, events, quota);
    const handshake = new JoinHandshake(ports, participants, content);
    const tokenRefresh = new TokenRefresh(participants.connections);
    this.#participants = participants;
    this.#content = content;
    this.handshake = handshake;
    this.tokenRefresh = tokenRefresh;
    this.#documents = new Documents({
      storage: ports.storage,
      now: () => ports.now(),
      trailKeptMs: ports.trailKeptMs,
      events: this.documentEvents,
      quota: {
        require: (before, after) => quota.require("documents", before, after),
        changed: (before, after) => quota.changed(before, after),
      },
    });
    const channels = new Channels(this.#documents);
    const pendingTokens = new PendingTokens();
    this.openDocuments = new OpenDocuments(participants, this.#documents, channels, pendingTokens);
    this.documentSockets = new DocumentSockets(participants, handshake, this.openDocuments, pendingTokens);
    this.documentRequests = new DocumentRequests(this.#documents, channels, this.openDocuments);
    this.documentHistory = new DocumentHistory(
      { ...eventPorts, events: this.documentEvents },
      this.#documents,
    );
    const restParticipants = new RestParticipants(ports, participants);
    const joining = { handshake, tokenRefresh, restParticipants };
    this.restParticipants = restParticipants;
    const documents = { sockets: this.documentSockets, open: this.openDocuments };
    this.messages = new RoomMessages(ports, participants, content, joining, documents);
    this.updates = new RoomCommandHandler(ports, participants, content, handshake);
    this.heartbeat = new Heartbeat(ports, participants);
  }

  /** Of large stores, over HTTP. */
  get downloads(): Downloads {
    return this.messages.downloads;
  }

  /** The messages that need the database: completes `queryDatabase` effects. */
  get questions(): DatabaseRequests {
    return this.messages.questions;
  }

  /** Null until the first join. */
  get record(): RoomRecord | null {
    return this.#participants.sessions.record;
  }

  /** Which room this is, from what it stores; null while it stores nothing. */
  get identity(): RoomIdentity | null {
    if (this.record !== null) return { accountId: this.record.accountId, roomId: this.record.roomId };
    const row = this.#ports.storage.occupancy.readRoom();
    return row && { accountId: row.accountId, roomId: row.id };
  }

  get stats(): RoomStats {
    return this.#participants.sessions.stats;
  }

  /** What all stores and documents have together, in bytes. */
  get storeBytes(): number {
    return this.storeQuota.roomBytes;
  }

  /** Keys and values that were written to stores since the room has started, also by requests that were undone. */
  get writtenBytes(): number {
    return this.#content.stores.writtenBytes;
  }

  /** What the room knows of its organization's quota of that. */
  get storeQuota(): StoreQuota {
    return this.#content.stores.quota;
  }

  /** By user id, for those of `userIds` who have ever joined. */
  lastSeen(userIds: readonly string[]): Record<string, LastSeen> {
    return this.#participants.sessions.findLastSeen(userIds);
  }

  /** A user's sessions, newest first. */
  sessions(userId: string): StoredSession[] {
    return this.#participants.sessions.list(userId);
  }

  /** Some of what the room keeps of a user, from a position on; null for the start. */
  personalData(userId: string, part: PersonalPart, after: string | null): RecordsOfUser {
    return readPersonalData(this.#ports.storage, this.#content.comments, userId, part, after);
  }

  /** Whether the user is online, or has been since then (epoch ms). */
  wasOnlineSince(userId: string, time: number): boolean {
    return this.#participants.sessions.wasOnlineSince(userId, time);
  }

  /** False once a socket is gone: nothing has to be read for it. */
  isOpen(id: string): boolean {
    return this.#participants.connections.get(id) !== undefined;
  }

  /** Restores the sockets that survived hibernation, and waits for the users of those that did not. */
  restore(connections: Iterable<Waiting | Joined>): Effect[] {
    for (const connection of connections) {
      const restored = this.heartbeat.restore(connection);
      this.#participants.connections.put(restored);
      if (restored.phase !== "joined") continue;
      this.#content.changes.continueEpoch();
      this.#participants.presence.restore(restored);
      this.openDocuments.restore(restored);
    }
    return this.#participants.restart();
  }

  /** Milliseconds until a socket of the address may connect; 0 for now. */
  connectableIn(address: string): number {
    const now = this.#ports.now();
    return this.#participants.connections.addresses.of(address, now).affordableIn(now);
  }

  /** A socket has connected, from this address. When too many wait to join, one that has sent nothing gives way. */
  open(id: string, address: string, entry: DocumentEntry | null = null): Effect[] {
    const { connections } = this.#participants;
    const openedAt = this.#ports.now();
    connections.addresses.of(address, openedAt).spend(CONNECTION_COST, openedAt);
    const leaving = connections.waiting.giveWayTo(address);
    if (leaving === "none") return this.#participants.disconnect([id], CLOSE.tooManySockets, TOO_MANY_WAIT);
    const documents = entry && { wire: entry.wire, opened: entry.name === null ? [] : [entry.name] };
    const connection: Waiting = { phase: "waiting", id, openedAt, address, ...(documents && { documents }) };
    connections.put(connection);
    if (entry?.wire === "yWebsocket") this.documentSockets.open(connection, entry.token);
    return [
      { type: "attach", connection },
      ...(leaving === null
        ? []
        : this.#participants.disconnect([leaving], CLOSE.tooManySockets, TOO_MANY_WAIT)),
    ];
  }

  /** Deletes everything the room stores, once the events of its deletion have been passed on. */
  clear(): Effect[] {
    const effects = this.updates.clear();
    this.storeEvents.reset();
    this.documentEvents.reset();
    this.#documents.reset();
    return effects;
  }

  /** Folds the documents that have many updates. */
  foldDocuments(): void {
    this.openDocuments.foldDue();
  }

  /** A socket was closed by its client for good, or it broke. */
  close(id: string, isForGood: boolean): Effect[] {
    return isForGood ? this.messages.leave(id) : this.#participants.remove([id], false);
  }

  /** Closes a socket whose client reads more slowly than the room sends. */
  disconnectSlowReader(id: string): Effect[] {
    return this.#participants.interrupt([id], CLOSE.readerTooSlow, "reader too slow");
  }

  /** Closes sockets that the service has failed: their clients connect again, and miss nothing. */
  disconnectFailed(ids: readonly string[]): Effect[] {
    return this.#participants.interrupt(ids, CLOSE.failed, "the server failed");
  }

  /** Handles a request that came over REST: of the organization, with `userId` of an editor, with `cause` of a workflow. */
  request(
    request: RoomRequest,
    userId: string | null = null,
    cause: EventCause | null = null,
  ): RequestOutcome {
    if (this.updates.isDeleted) return { response: failure(ROOM_DELETED, request.requestId), effects: [] };
    return this.messages.request(request, { userId, cause });
  }

  /** Sends the presence that has changed since the last flush; flushes are `intervalMs` apart. */
  flush(intervalMs: number): Effect[] {
    const effects = this.#participants.presence.flush(intervalMs);
    return this.hasPresenceLeft ? [...effects, ...this.messages.resumeSoon()] : effects;
  }

  /** Whether sockets have yet to be sent presence. */
  get hasPresenceLeft(): boolean {
    return this.#participants.presence.hasLeft;
  }

  /** Makes sessions and stats match the live sockets. */
  reconcile(): { readonly previous: number; readonly effects: Effect[] } {
    const previous = this.#ports.storage.readRecord()?.activeParticipants ?? 0;
    return { previous, effects: [...this.#participants.recover(), ...this.heartbeat.sweep()] };
  }

  /** The database has the stats of `version`. */
  statsProjected(version: number): void {
    this.#participants.sessions.markProjected(version);
  }
}
