/** Handles the frames about an open document: step 1, step 2, updates and awareness. */
import { AppError } from "@atrium/contract/errors.ts";
import { mayWrite, type Subject } from "@atrium/contract/resources/permissions.ts";
import type { DocumentWire, Effect, Joined } from "../../transport/connection.ts";
import type { RoomDocuments } from "../documents.ts";
import { MalformedUpdate } from "../updates/content-reader.ts";
import { type Channels, type Subscription, sendTo } from "./channels.ts";
import { type AwarenessEntry, bodies, type DocumentFrame } from "./frames.ts";
import { Transfers } from "./transfers.ts";

/** A joined socket that may have documents open. */
export type DocumentConnection = Joined & { readonly documents: DocumentWire };

export const subjectOf = ({ rights, readsOnly }: Joined): Subject => ({
  isOrganization: false,
  rights,
  readsOnly: readsOnly === true,
});

type Written = { readonly news: Uint8Array | null } | { readonly refused: string };

export class DocumentMessages {
  readonly #documents: RoomDocuments;
  readonly #channels: Channels;
  readonly transfers: Transfers;

  constructor(documents: RoomDocuments, channels: Channels) {
    this.#documents = documents;
    this.#channels = channels;
    this.transfers = new Transfers(documents);
  }

  receive(connection: DocumentConnection, subscription: Subscription, frame: DocumentFrame): Effect[] {
    const { userId } = connection;
    const work = frame.type === "step1" ? this.transfers.workOf(subscription, frame.stateVector) : 0;
    const effects = this.#handle(connection, subscription, frame);
    return [...effects, { type: "countDelivery", userId, isBroadcast: false, work }];
  }

  #handle(connection: DocumentConnection, subscription: Subscription, frame: DocumentFrame): Effect[] {
    switch (frame.type) {
      case "step1":
        return this.transfers.begin(subscription, frame.stateVector);
      case "step2":
      case "update":
        return this.#receiveUpdate(connection, subscription, frame);
      case "awareness":
        return receiveAwareness(connection, subscription, frame.entries);
      case "queryAwareness":
        return [sendTo(subscription, bodies.awareness(subscription.channel.awareness.all()))];
      case "authenticate":
      case "close":
      case "other":
        return [];
    }
  }

  #receiveUpdate(
    connection: DocumentConnection,
    subscription: Subscription,
    { type, update }: DocumentFrame & { readonly type: "step2" | "update" },
  ): Effect[] {
    const { id } = connection;
    const { name } = subscription.channel;
    const answered = type === "step2" ? subscription.unanswered.shift() : undefined;
    const mark = answered?.mark ?? null;
    const read: Effect[] = mark === null ? [] : [{ type: "acknowledgeRead", id, mark }];
    const written = this.#write(connection, name, update);
    const news = "news" in written ? written.news : null;
    const statuses = () => {
      if ("refused" in written) return 1;
      if (type === "update") return this.transfers.statusesOfUpdate(subscription, update);
      return answered?.isSync === false ? 0 : this.transfers.statusesOfAnswer(subscription);
    };
    return [
      ...read,
      ...(news === null
        ? this.#channels.foldIfDue(name)
        : this.#channels.broadcast(name, news, subscription)),
      ...acknowledge(connection, subscription, written, statuses()),
      ...(answered?.mark === null ? this.transfers.continue(subscription) : []),
    ];
  }

  #write(connection: DocumentConnection, name: string, update: Uint8Array): Written {
    const { id: socketId, userId, documents } = connection;
    const author = { type: "user", id: userId } as const;
    try {
      const refusal = this.#documents.writeRefusal(name, author, subjectOf(connection));
      if (refusal !== null)
        return this.#documents.covers(name, update) ? { news: null } : { refused: refusal.message };
      return { news: this.#documents.append(name, update, author, { socketId }) };
    } catch (error) {
      const isUnanswerable = error instanceof MalformedUpdate && documents.wire !== "room";
      if (isUnanswerable || !(error instanceof AppError)) throw error;
      return { refused: error.message };
    }
  }
}

/** Answers an update. Hocuspocus' client counts statuses, so the room sends exactly as many as it expects. */
function acknowledge(
  { documents }: DocumentConnection,
  subscription: Subscription,
  written: Written,
  statuses: number,
): Effect[] {
  const refused = "refused" in written ? written.refused : null;
  switch (documents.wire) {
    case "room":
      return [sendTo(subscription, bodies.syncStatus(refused === null, refused))];
    case "hocuspocus":
      return Array.from({ length: statuses }, () =>
        sendTo(subscription, bodies.syncStatus(refused === null)),
      );
    case "yWebsocket":
      if (refused === null || subscription.hasWarned) return [];
      subscription.hasWarned = true;
      return [sendTo(subscription, bodies.denied(refused))];
  }
}

/** Sends news to everyone; the awareness of a socket that may not write presence is dropped. Clients of editors also receive their own: they take silence for a broken connection. */
function receiveAwareness(
  { id, rights, documents }: DocumentConnection,
  subscription: Subscription,
  entries: readonly AwarenessEntry[],
): Effect[] {
  const { channel } = subscription;
  if (!mayWrite(rights, "presence")) return [];
  const news = channel.awareness.apply(id, entries);
  const body = bodies.awareness(news);
  if (documents.wire === "room") return news.length === 0 ? [] : channel.broadcast(body, subscription);
  return news.length === 0 ? [sendTo(subscription, body)] : channel.broadcast(body);
}
