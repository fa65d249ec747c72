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
import { parseDocumentFrame, refusedBody, withKey } from "./wire/frames.ts";

export class DocumentSockets {
  readonly #participants: Participants;
  readonly #handshake: JoinHandshake;
  readonly #open: OpenDocuments;
  readonly #early = new EarlyFrames();

  constructor(participants: Participants, handshake: JoinHandshake, open: OpenDocuments) {
    this.#participants = participants;
    this.#handshake = handshake;
    this.#open = open;
    participants.onRemoved = (id) => this.#remove(id);
  }

  /** A socket whose address names the document, and whose token came with the upgrade. */
  open(connection: Waiting, token: string): Effect[] {
    return this.#handshake.begin(connection, token);
  }

  /** Handles a frame of a socket that has not joined. */
  receive(connection: Waiting | Authorizing, data: string | ArrayBuffer): Effect[] {
    if (typeof data === "string") return []; // some clients add messages of their own
    if (data.byteLength > MAX_DOCUMENT_FRAME_BYTES) return this.#break(connection.id, "frame too large");
    const bytes = new Uint8Array(data);
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
    if (this.#participants.connections.get(id)?.phase !== "joined") return [];
    const opened = this.#open.joined(id);
    return [...opened, ...this.#early.take(id).flatMap((bytes) => this.#open.receive(id, bytes))];
  }

  #remove(id: string): Effect[] {
    this.#early.take(id);
    return this.#open.remove(id);
  }
}
