/** The sockets that have documents open: what their clients send, and what they receive, whichever protocol they speak. */
import { AppError } from "../../platform/errors.ts";
import type { JoinDecision } from "../join/join-decision.ts";
import type { JoinHandshake } from "../join/join-handshake.ts";
import type { Participants } from "../participants/participants.ts";
import { CLOSE } from "../protocol/protocol.ts";
import type { Connection, Joined, Waiting } from "../transport/connection.ts";
import type { Effect } from "../transport/effects.ts";
import { type Channel, sendTo } from "./channel.ts";
import type { Channels } from "./channels.ts";
import type { Documents } from "./documents.ts";
import { EarlyFrames } from "./early-frames.ts";
import { MAX_DOCUMENT_NAME_LENGTH, MAX_OPEN_NAME_BYTES, MAX_UPDATE_BYTES } from "./limits.ts";
import { Subscription } from "./subscription.ts";
import { Transfers } from "./transfers.ts";
import { MalformedUpdate } from "./update-scan.ts";
import {
  authenticatedBody,
  awarenessBody,
  closeBody,
  type DocumentFrame,
  deniedBody,
  nameOf,
  parseDocumentFrame,
  refusedBody,
  syncStatusBody,
  withKey,
} from "./wire/frames.ts";

/** What surrounds an update in its frame: types, lengths and the document's name. */
const MAX_FRAME_BYTES = MAX_UPDATE_BYTES + 4 * 1024;

const DELETED = "document deleted";
const VIEWER = "Viewers may not change documents";

/** What became of an update: `refused` says why. */
type Written = { readonly isNews: boolean } | { readonly refused: string };

export class DocumentSockets {
  readonly #participants: Participants;
  readonly #handshake: JoinHandshake;
  readonly #documents: Documents;
  readonly #channels: Channels;
  readonly #early = new EarlyFrames();
  readonly #transfers: Transfers;

  constructor(
    participants: Participants,
    handshake: JoinHandshake,
    documents: Documents,
    channels: Channels,
  ) {
    this.#participants = participants;
    this.#handshake = handshake;
    this.#documents = documents;
    this.#channels = channels;
    this.#transfers = new Transfers(documents);
    participants.onRemoved = (id) => this.#remove(id);
  }

  /** A socket whose address names the document, and whose token came with the upgrade. */
  open(connection: Waiting, token: string): Effect[] {
    return this.#handshake.begin(connection, token);
  }

  /** A socket that survived hibernation. */
  restore({ id, documents }: Joined): void {
    for (const key of documents?.opened ?? []) {
      const isNamed = documents?.wire === "hocuspocus";
      this.#channels.open(isNamed ? nameOf(key) : key).restore(new Subscription(id, isNamed ? key : null));
    }
  }

  /** Handles a frame of a socket that speaks one of the protocols of documents. */
  receive(connection: Connection, data: string | ArrayBuffer): Effect[] {
    if (typeof data === "string") return []; // some clients add messages of their own
    if (data.byteLength > MAX_FRAME_BYTES)
      return this.#break(connection.id, `frame too large: at most ${MAX_FRAME_BYTES} bytes`);
    const bytes = new Uint8Array(data);
    if (connection.phase === "joined") return this.#handle(connection.id, bytes);
    if (connection.phase === "authorizing") return this.#keep(connection.id, bytes);
    if (connection.documents?.wire === "yWebsocket")
      // its token was lost with the room's memory
      return this.#participants.disconnect([connection.id], CLOSE.joinTimeout, "not joined in time");
    const named = parseDocumentFrame(bytes, true);
    if (named?.frame.type !== "authenticate") return this.#break(connection.id, "expected a token");
    return [...this.#keep(connection.id, bytes), ...this.#handshake.begin(connection, named.frame.token)];
  }

  #break(id: string, reason: string): Effect[] {
    return this.#participants.disconnect([id], CLOSE.protocolBroken, reason);
  }

  /** The token is being verified: what the client sends meanwhile waits. */
  #keep(id: string, bytes: Uint8Array): Effect[] {
    if (this.#early.add(id, bytes)) return [];
    return this.#participants.disconnect([id], CLOSE.flooding, "too much before the token was verified");
  }

  /** A token was refused: a client that sent it in a frame learns why, before its socket is closed. */
  refuse(id: string, decision: JoinDecision): Effect[] {
    if (decision.approved) return [];
    return this.#early.take(id).flatMap((bytes) => {
      const named = parseDocumentFrame(bytes, true);
      if (named?.frame.type !== "authenticate") return [];
      const frame = withKey(named.key, refusedBody(decision.message));
      return [{ type: "sendBytes" as const, to: [id], frame }];
    });
  }

  /** A socket has joined: it receives what it has asked for meanwhile. */
  joined(id: string): Effect[] {
    const connection = this.#joined(id);
    if (connection === null) return [];
    const { wire, opened } = connection.documents;
    const [name] = opened;
    const effects =
      wire === "yWebsocket" && name !== undefined
        ? this.#channels.open(name).add(new Subscription(id, null))
        : [];
    return [...effects, ...this.#early.take(id).flatMap((bytes) => this.#handle(id, bytes))];
  }

  #joined(id: string) {
    const connection = this.#participants.connections.get(id);
    if (connection?.phase !== "joined" || connection.documents === undefined) return null;
    return { ...connection, documents: connection.documents };
  }

  #handle(id: string, bytes: Uint8Array): Effect[] {
    const connection = this.#joined(id);
    if (connection === null) return [];
    const isNamed = connection.documents.wire === "hocuspocus";
    const named = parseDocumentFrame(bytes, isNamed);
    if (named === null) return this.#break(id, "a frame is none of Yjs' protocols");
    const { key, frame } = named;
    if (frame.type === "other") return [];
    const name = isNamed ? nameOf(key) : (connection.documents.opened[0] ?? "");
    const channel = this.#channels.open(name);
    const known = channel.find(id, isNamed ? key : null);
    if (known !== undefined) return this.#act(connection, channel, known, frame);
    if (frame.type === "close") {
      this.#channels.release(name);
      return [];
    }
    const opened = [...connection.documents.opened, key];
    if (name === "" || name.length > MAX_DOCUMENT_NAME_LENGTH || bytesOf(opened) > MAX_OPEN_NAME_BYTES) {
      const refused = withKey(
        key,
        refusedBody("The document's name is empty or too long, or too many are open"),
      );
      this.#channels.release(name);
      return [{ type: "sendBytes", to: [id], frame: refused }];
    }
    const subscription = new Subscription(id, key);
    const attached: Joined = { ...connection, documents: { ...connection.documents, opened } };
    this.#participants.connections.update(attached);
    return [
      { type: "attach", connection: attached },
      ...channel.add(subscription),
      ...this.#act(connection, channel, subscription, frame),
    ];
  }

  #act(connection: Joined, channel: Channel, subscription: Subscription, frame: DocumentFrame): Effect[] {
    switch (frame.type) {
      case "step1":
        return this.#transfers.begin(channel.name, subscription, frame.stateVector);
      case "step2":
      case "update":
        return this.#receiveUpdate(connection, channel, subscription, frame);
      case "awareness":
        return this.#receiveAwareness(
          channel,
          subscription,
          channel.awareness.apply(connection.id, frame.entries),
        );
      case "queryAwareness":
        return [sendTo(subscription, awarenessBody(channel.awareness.all()))];
      case "authenticate":
        return this.#authenticate(connection, subscription, frame.token);
      case "close":
        return this.#close(connection, channel, subscription, "provider_initiated");
      case "other":
        return [];
    }
  }

  /** A further document of the socket, or a newer token, by which the socket may stay open longer. */
  #authenticate({ id, role }: Joined, subscription: Subscription, token: string): Effect[] {
    return [
      sendTo(subscription, authenticatedBody(role === "viewer" ? "readonly" : "read-write")),
      { type: "authorizeRefresh", id, token, requestId: undefined },
    ];
  }

  /** So much was sent to a socket that its client has to show that it reads: by its answer to another step 1. */
  mark(id: string, mark: number): Effect[] {
    for (const channel of this.#channels.all()) {
      const [subscription] = channel.of(id);
      if (subscription !== undefined)
        return [this.#transfers.ask(channel.name, subscription, { mark, isSync: false })];
    }
    return [];
  }

  #receiveUpdate(
    connection: Joined,
    channel: Channel,
    subscription: Subscription,
    { type, update }: DocumentFrame & { readonly type: "step2" | "update" },
  ): Effect[] {
    const { id, userId } = connection;
    const expected = type === "step2" ? this.#transfers.answered(id) : undefined;
    const read: Effect[] =
      expected === undefined || expected.mark === null
        ? []
        : [{ type: "acknowledgeRead", id, mark: expected.mark }];
    let written: Written;
    try {
      written = this.#write(connection, channel.name, update);
    } catch (error) {
      if (error instanceof MalformedUpdate) return this.#break(id, error.message);
      throw error;
    }
    const isNews = "isNews" in written && written.isNews;
    return [
      ...read,
      ...(isNews ? this.#channels.broadcast(channel.name, update, subscription) : []),
      ...(expected?.isSync === false ? [] : this.#acknowledge(connection, subscription, written)),
      ...(type === "step2" ? this.#transfers.continue(channel.name, subscription) : []),
      { type: "countDelivery", userId, isBroadcast: false },
    ];
  }

  /** Throws a {@link MalformedUpdate}, and what no one expects. */
  #write({ role, userId }: Joined, name: string, update: Uint8Array): Written {
    try {
      if (role === "viewer")
        return this.#documents.covers(name, update) ? { isNews: false } : { refused: VIEWER };
      return { isNews: this.#documents.append(name, update, userId) };
    } catch (error) {
      if (error instanceof MalformedUpdate || !(error instanceof AppError)) throw error;
      return { refused: error.message };
    }
  }

  /** Closes a document, which was deleted, for all who have it open. */
  closeForAll(name: string): Effect[] {
    const subscriptions = this.#channels.find(name)?.subscriptions ?? [];
    return subscriptions.flatMap((subscription) => {
      const connection = this.#joined(subscription.socketId);
      const channel = this.#channels.find(name);
      if (connection === null || channel === undefined) return [];
      return subscription.key === null
        ? this.#participants.disconnect([connection.id], CLOSE.roomDeleted, DELETED)
        : this.#close(connection, channel, subscription, DELETED);
    });
  }

  #acknowledge({ documents }: Joined, subscription: Subscription, written: Written): Effect[] {
    const isRefused = "refused" in written;
    if (documents?.wire === "hocuspocus") return [sendTo(subscription, syncStatusBody(!isRefused))];
    if (!isRefused || subscription.hasWarned) return [];
    subscription.hasWarned = true;
    return [sendTo(subscription, deniedBody(written.refused))];
  }

  /** Everyone receives the entries, their sender too: clients take silence for a broken connection. */
  #receiveAwareness(
    channel: Channel,
    subscription: Subscription,
    entries: ReturnType<Channel["awareness"]["all"]>,
  ): Effect[] {
    const body = awarenessBody(entries);
    return entries.length === 0 ? [sendTo(subscription, body)] : channel.broadcast(body);
  }

  #close(connection: Joined, channel: Channel, subscription: Subscription, reason: string): Effect[] {
    const opened = connection.documents?.opened.filter((key) => key !== subscription.key) ?? [];
    const attached: Joined = {
      ...connection,
      ...(connection.documents && { documents: { ...connection.documents, opened } }),
    };
    this.#participants.connections.update(attached);
    const removed = channel.remove(subscription);
    this.#channels.release(channel.name);
    return [{ type: "attach", connection: attached }, ...removed, sendTo(subscription, closeBody(reason))];
  }

  /** A socket is gone. */
  #remove(id: string): Effect[] {
    this.#early.take(id);
    this.#transfers.forget(id);
    return this.#channels.all().flatMap((channel) => {
      const subscriptions = channel.of(id);
      const effects = subscriptions.flatMap((subscription) => channel.remove(subscription));
      if (subscriptions.length > 0) this.#channels.release(channel.name);
      return effects;
    });
  }

  /** Folds the documents that need it. A client that is being sent one receives it from the start again: parts have changed. */
  foldDue(): void {
    this.#channels.foldDue((name, subscription) => this.#transfers.restart(name, subscription));
  }
}

const encoder = new TextEncoder();
const bytesOf = (names: readonly string[]): number =>
  names.reduce((sum, name) => sum + encoder.encode(name).length, 0);
