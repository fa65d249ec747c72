/** Opens documents for joined sockets with the first frame about each, and closes them. */

import { DOCUMENT_LIMITS } from "@atrium/contract/document-limits.ts";
import { byteLength, fits, isFolder, isPlainText } from "@atrium/contract/text.ts";
import type { Participants } from "../../engine/participants/participants.ts";
import { failure } from "../../protocol/frame.ts";
import { CLOSE } from "../../protocol/protocol.ts";
import type { DocumentWire, Effect, Joined } from "../../transport/connection.ts";
import { send } from "../../transport/connections.ts";
import type { RoomDocuments } from "../documents.ts";
import { MalformedUpdate } from "../updates/content-reader.ts";
import { type Channels, MAX_ENTRIES_OF_SOCKET, Subscription, sendTo } from "./channels.ts";
import { type DocumentConnection, DocumentMessages, subjectOf } from "./document-messages.ts";
import { bodies, type DocumentFrame, nameOf, parseDocumentFrame, withKey } from "./frames.ts";
import type { PendingTokens } from "./pending-tokens.ts";

const DELETED = "document deleted";
const FORGOTTEN = "the room does not know what this answers";
const UNREADABLE = "A binary frame is none of Yjs' protocols";
const UNNAMED = "The document's name is empty, too long, `.`, `..` or with NUL, or too many are open";

export class OpenDocuments {
  readonly #participants: Participants;
  readonly #documents: RoomDocuments;
  readonly #channels: Channels;
  readonly #messages: DocumentMessages;
  readonly #pending: PendingTokens;

  constructor(
    participants: Participants,
    documents: RoomDocuments,
    channels: Channels,
    pending: PendingTokens,
  ) {
    this.#participants = participants;
    this.#documents = documents;
    this.#channels = channels;
    this.#pending = pending;
    this.#messages = new DocumentMessages(documents, channels);
  }

  /** Restores the documents of a socket after hibernation. */
  restore({ id, documents }: Joined): void {
    for (const key of documents?.opened ?? []) {
      const isNamed = documents?.wire !== "yWebsocket";
      const shown = documents?.shown?.filter((entry) => entry.key === key) ?? [];
      const channel = this.#channels.open(isNamed ? nameOf(key) : key);
      channel.restore(new Subscription(channel, id, isNamed ? key : null, true), shown);
    }
  }

  joined(id: string): Effect[] {
    const connection = this.#find(id);
    const [name] = connection?.documents.opened ?? [];
    if (connection?.documents.wire !== "yWebsocket" || name === undefined) return [];
    const channel = this.#channels.open(name);
    return channel.add(new Subscription(channel, id, null));
  }

  #find(id: string): DocumentConnection | null {
    const connection = this.#participants.connections.get(id);
    if (connection?.phase !== "joined") return null;
    return { ...connection, documents: connection.documents ?? { wire: "room", opened: [] } };
  }

  receive(id: string, bytes: Uint8Array): Effect[] {
    const connection = this.#find(id);
    if (connection === null) return [];
    const { wire } = connection.documents;
    if (bytes.length > DOCUMENT_LIMITS.documentFrameBytes)
      return wire === "room"
        ? this.#participants.disconnect([id], CLOSE.frameTooLarge, "frame too large")
        : this.break(id, `frame too large: at most ${DOCUMENT_LIMITS.documentFrameBytes} bytes`);
    const isNamed = wire !== "yWebsocket";
    const named = parseDocumentFrame(bytes, isNamed);
    if (wire === "room" && (named === null || isUnknown(named.frame))) return [unreadable(id)];
    if (named === null) return this.break(id, UNREADABLE);
    const { key, frame } = named;
    if (frame.type === "other") return [];
    if (frame.type === "authenticate")
      return wire === "hocuspocus" ? this.#verify(connection, key, frame.token, bytes) : [];
    const name = isNamed ? nameOf(key) : (connection.documents.opened[0] ?? "");
    const channel = this.#channels.open(name);
    const known = channel.find(id, isNamed ? key : null);
    if (known !== undefined) return this.#act(connection, known, frame);
    if (wire === "hocuspocus" || frame.type === "close") {
      this.#channels.release(name);
      return this.#pending.isWaiting(id, key) ? this.wait(id, bytes) : [];
    }
    const subscription = new Subscription(channel, id, key);
    const opened = this.#open(connection, subscription);
    return opened === null ? [unnamed(id, key)] : [...opened, ...this.#act(connection, subscription, frame)];
  }

  /** Verifies the token for a document. Frames about a document that is not open wait for it. */
  #verify(connection: DocumentConnection, key: string, token: string, bytes: Uint8Array): Effect[] {
    const { id, documents } = connection;
    if (this.#pending.isWaiting(id, key)) return this.wait(id, bytes);
    const opening = [...new Set([...documents.opened, ...this.#pending.keysOf(id)])];
    if (!documents.opened.includes(key) && !mayOpen(documents.wire, opening, key)) return [unnamed(id, key)];
    return this.#pending.begin(id, key, token);
  }

  /** Keeps a frame until a token is verified. */
  wait(id: string, bytes: Uint8Array): Effect[] {
    if (this.#pending.early.add(id, bytes)) return [];
    return this.#participants.disconnect([id], CLOSE.flooding, "too much before the token was verified");
  }

  /** Opens a document of Hocuspocus' client after its token was accepted. */
  admit(id: string, key: string): Effect[] {
    const connection = this.#find(id);
    if (connection === null) return [];
    const channel = this.#channels.open(nameOf(key));
    const known = channel.find(id, key);
    const subscription = known ?? new Subscription(channel, id, key);
    const opened = known === undefined ? this.#open(connection, subscription) : [];
    const refusal = this.#documents.writeRefusal(
      nameOf(key),
      { type: "user", id: connection.userId },
      subjectOf(connection),
    );
    const scope = bodies.authenticated(refusal === null ? "read-write" : "readonly");
    return opened === null ? [unnamed(id, key)] : [...opened, sendTo(subscription, scope)];
  }

  /** Closes a socket that breaks the protocol. */
  break(id: string, reason: string): Effect[] {
    return this.#participants.disconnect([id], CLOSE.protocolBroken, reason);
  }

  /** Null for a document that the socket may not open. */
  #open(connection: DocumentConnection, subscription: Subscription): Effect[] | null {
    const { channel, key } = subscription;
    const { wire, opened } = connection.documents;
    if (!mayOpen(wire, opened, key ?? "")) {
      this.#channels.release(channel.name);
      return null;
    }
    const attached = this.#update(connection, { opened: [...opened, key ?? ""] });
    return [{ type: "attach", connection: attached }, ...channel.add(subscription)];
  }

  #update(connection: DocumentConnection, documents: Partial<DocumentWire>): Joined {
    const updated: Joined = { ...connection, documents: { ...connection.documents, ...documents } };
    this.#participants.connections.update(updated);
    return updated;
  }

  #act(connection: DocumentConnection, subscription: Subscription, frame: DocumentFrame): Effect[] {
    if (frame.type === "close") return this.#close(connection, subscription, "provider_initiated");
    if (frame.type === "awareness" && connection.watches) return [];
    const { id, documents } = connection;
    // The client may wait for the next part. Only our own asks again without a reconnection.
    const isLost = frame.type === "step2" && documents.wire !== "room" && subscription.answersForgotten;
    try {
      const effects = this.#messages.receive(connection, subscription, frame);
      if (isLost) return [...effects, ...this.#participants.interrupt([id], CLOSE.failed, FORGOTTEN)];
      return frame.type === "awareness" ? [...effects, ...this.#keepShown(subscription)] : effects;
    } catch (error) {
      if (error instanceof MalformedUpdate) return this.break(id, error.message);
      throw error;
    }
  }

  /** Keeps the awareness with the socket, in case the room loses its memory. */
  #keepShown({ channel: { name, awareness }, socketId, key }: Subscription): Effect[] {
    const connection = this.#find(socketId);
    if (connection === null) return [];
    const own = awareness.idsOf(socketId).map((id) => ({ ...id, key: key ?? name }));
    const others = connection.documents.shown?.filter((entry) => entry.key !== (key ?? name)) ?? [];
    const shown = [...own, ...others].slice(0, MAX_ENTRIES_OF_SOCKET);
    return [{ type: "attach", connection: this.#update(connection, { shown }) }];
  }

  /** Asks a client with much to read for a mark: its answer to another step 1 shows that it reads. */
  mark(id: string, mark: number): Effect[] {
    for (const channel of this.#channels.all()) {
      const [subscription] = channel.of(id);
      if (subscription !== undefined)
        return [this.#messages.transfers.ask(subscription, { mark, isSync: false })];
    }
    return [];
  }

  usersOf(name: string): string[] {
    const subscriptions = this.#channels.find(name)?.subscriptions ?? [];
    const users = subscriptions.flatMap(({ socketId }) => {
      const connection = this.#find(socketId);
      return connection === null || connection.watches ? [] : [connection.userId];
    });
    return [...new Set(users)];
  }

  closeForAll(name: string): Effect[] {
    const subscriptions = this.#channels.find(name)?.subscriptions ?? [];
    return subscriptions.flatMap((subscription) => {
      const connection = this.#find(subscription.socketId);
      if (connection === null) return [];
      return subscription.key === null
        ? this.#participants.disconnect([connection.id], CLOSE.roomDeleted, DELETED)
        : this.#close(connection, subscription, DELETED);
    });
  }

  #close(connection: DocumentConnection, subscription: Subscription, reason: string): Effect[] {
    const { channel } = subscription;
    const isOther = (key: string): boolean => key !== subscription.key;
    const opened = connection.documents.opened.filter(isOther);
    const shown = connection.documents.shown?.filter(({ key }) => isOther(key)) ?? [];
    const attached = this.#update(connection, { opened, shown });
    const removed = channel.remove(subscription);
    this.#channels.release(channel.name);
    return [{ type: "attach", connection: attached }, ...removed, sendTo(subscription, bodies.close(reason))];
  }

  remove(id: string): Effect[] {
    this.#messages.transfers.forget(id);
    return this.#channels.all().flatMap((channel) => {
      const subscriptions = channel.of(id);
      const effects = subscriptions.flatMap((subscription) => channel.remove(subscription));
      if (subscriptions.length > 0) this.#channels.release(channel.name);
      return effects;
    });
  }

  /** Folds the documents that are due. A client that is receiving one gets changed parts again. */
  foldDue(): void {
    const { transfers } = this.#messages;
    this.#channels.foldDue((...changed) => transfers.restart(...changed));
  }
}

/** Tells whether only editors' own clients send such a frame. */
const isUnknown = ({ type }: DocumentFrame): boolean => type === "other" || type === "authenticate";

/** Tells whether a socket with these open documents may open another one. */
function mayOpen(wire: DocumentWire["wire"], opened: readonly string[], key: string): boolean {
  const name = nameOf(key);
  const maxBytes = wire === "room" ? DOCUMENT_LIMITS.openNameBytesBeside : DOCUMENT_LIMITS.openNameBytes;
  const bytes = byteLength(JSON.stringify([...opened, key]));
  const isAddress = name !== "" && isPlainText(name) && !isFolder(name);
  return isAddress && fits(name, DOCUMENT_LIMITS.documentNameLength) && bytes <= maxBytes;
}

const unnamed = (id: string, key: string): Effect => ({
  type: "sendBytes",
  to: [id],
  frame: withKey(key, bodies.refused(UNNAMED)),
});

const unreadable = (id: string): Effect =>
  send([id], failure({ module: "Rooms", code: "BAD_REQUEST", message: UNREADABLE }));
