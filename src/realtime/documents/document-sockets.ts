/** The sockets that editors' own clients open for documents: how they join, whichever protocol they speak. */
import type { JoinDecision } from "../join/join-decision.ts";
import type { JoinHandshake } from "../join/join-handshake.ts";
import type { Participants } from "../participants/participants.ts";
import { CLOSE } from "../protocol/protocol.ts";
import type { Authorizing, Waiting } from "../transport/connection.ts";
import type { Effect } from "../transport/effects.ts";
import { EarlyFrames } from "./early-frames.ts";
import { MAX_DOCUMENT_FRAME_BYTES } from "./limits.ts";
import type { OpenDocuments } from "./open-documents.ts";
import { deniedBody, parseDocumentFrame, refusedBody, withKey } from "./wire/frames.ts";

export class DocumentSockets {
  readonly #participants: Participants;
  readonly #handshake: JoinHandshake;
  readonly #open: OpenDocuments;
  readonly #early = new EarlyFrames();
  /** Those that came with the upgrades of sockets that have sent nothing yet. */
  readonly #tokens = new Map<string, string>();

  constructor(participants: Participants, handshake: JoinHandshake, open: OpenDocuments) {
    this.#participants = participants;
    this.#handshake = handshake;
    this.#open = open;
    participants.onRemoved = (id) => this.#remove(id);
  }

  /**
   * A socket whose address names the document, and whose token came with the upgrade. It is verified when the client
   * sends its first frame, which it does at once: the runtime ends a socket that is closed before only 10 to 20 s later.
   */
  open({ id }: Waiting, token: string): void {
    this.#tokens.set(id, token);
  }

  /** Handles a frame of a socket that has not joined. */
  receive(connection: Waiting | Authorizing, data: string | ArrayBuffer): Effect[] {
    if (typeof data === "string") return []; // some clients add messages of their own
    if (data.byteLength > MAX_DOCUMENT_FRAME_BYTES) return this.#break(connection.id, "frame too large");
    const bytes = new Uint8Array(data);
    if (connection.phase === "authorizing") return this.#keep(connection.id, bytes);
    const isNamed = connection.documents?.wire !== "yWebsocket";
    const token = isNamed ? authenticationIn(bytes)?.token : this.#tokens.get(connection.id);
    if (token !== undefined)
      return [...this.#keep(connection.id, bytes), ...this.#handshake.begin(connection, token)];
    return isNamed
      ? this.#break(connection.id, "expected a token")
      : // it was lost with the room's memory
        this.#participants.disconnect([connection.id], CLOSE.joinTimeout, "not joined in time");
  }

  #break(id: string, reason: string): Effect[] {
    return this.#participants.disconnect([id], CLOSE.protocolBroken, reason);
  }

  /** The token is being verified: what the client sends meanwhile waits. */
  #keep(id: string, bytes: Uint8Array): Effect[] {
    if (this.#early.add(id, bytes)) return [];
    return this.#participants.disconnect([id], CLOSE.flooding, "too much before the token was verified");
  }

  /** A token was refused: the client learns why, before its socket is closed. */
  refuse(id: string, decision: JoinDecision): Effect[] {
    const { documents } = this.#participants.connections.get(id) ?? {};
    if (decision.approved || documents === undefined) return [];
    const early = this.#early.take(id);
    const frames =
      documents.wire === "yWebsocket"
        ? [deniedBody(decision.message)]
        : early.flatMap((bytes) => refusalOf(bytes, decision.message));
    return frames.map((frame) => ({ type: "sendBytes", to: [id], frame }));
  }

  /** A socket has joined: it receives what it has asked for meanwhile. */
  joined(id: string): Effect[] {
    if (this.#participants.connections.get(id)?.phase !== "joined") return [];
    this.#tokens.delete(id);
    const opened = this.#open.joined(id);
    return [...opened, ...this.#early.take(id).flatMap((bytes) => this.#open.receive(id, bytes))];
  }

  #remove(id: string): Effect[] {
    this.#early.take(id);
    this.#tokens.delete(id);
    return this.#open.remove(id);
  }
}

function authenticationIn(bytes: Uint8Array): { readonly key: string; readonly token: string } | null {
  const named = parseDocumentFrame(bytes, true);
  return named?.frame.type === "authenticate" ? { key: named.key, token: named.frame.token } : null;
}

function refusalOf(bytes: Uint8Array, reason: string): Uint8Array[] {
  const authentication = authenticationIn(bytes);
  return authentication === null ? [] : [withKey(authentication.key, refusedBody(reason))];
}
