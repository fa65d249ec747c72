/** Joins the sockets of editors' own clients: y-websocket's and Hocuspocus'. */

import { DOCUMENT_LIMITS } from "@atrium/contract/document-limits.ts";
import type { JoinDecision } from "../../engine/join/join-decision.ts";
import { type JoinHandshake, nextToken } from "../../engine/join/join-handshake.ts";
import type { Participants } from "../../engine/participants/participants.ts";
import { CLOSE } from "../../protocol/protocol.ts";
import type { Authorizing, Effect, Joined, Waiting } from "../../transport/connection.ts";
import { bodies, parseDocumentFrame, withKey } from "./frames.ts";
import type { OpenDocuments } from "./open-documents.ts";
import type { PendingTokens } from "./pending-tokens.ts";

/** Refused tokens after which a socket is closed: each has to be verified. */
const MAX_REFUSED_TOKENS = 8;

export class DocumentSockets {
  readonly #participants: Participants;
  readonly #handshake: JoinHandshake;
  readonly #open: OpenDocuments;
  readonly #pending: PendingTokens;
  /** Tokens of sockets that have not joined; y-websocket's come with the upgrade. */
  readonly #tokens = new Map<string, string>();
  readonly #refusals = new Map<string, number>();

  constructor(
    participants: Participants,
    handshake: JoinHandshake,
    open: OpenDocuments,
    pending: PendingTokens,
  ) {
    this.#participants = participants;
    this.#handshake = handshake;
    this.#open = open;
    this.#pending = pending;
    participants.onRemoved = (id) => this.#remove(id);
  }

  /** Keeps the upgrade's token until the first frame: the runtime takes 10 to 20 s to end a socket that closes earlier. */
  open({ id }: Waiting, token: string): void {
    this.#tokens.set(id, token);
  }

  receive(connection: Waiting | Authorizing, data: string | ArrayBuffer): Effect[] {
    if (typeof data === "string") return []; // some clients add messages of their own
    if (data.byteLength > DOCUMENT_LIMITS.documentFrameBytes)
      return this.#open.break(connection.id, "frame too large");
    const bytes = new Uint8Array(data);
    if (connection.phase === "authorizing") return this.#open.wait(connection.id, bytes);
    return connection.documents?.wire === "yWebsocket"
      ? this.#receiveFirst(connection, bytes)
      : this.#receiveToken(connection, bytes);
  }

  #receiveFirst(connection: Waiting, bytes: Uint8Array): Effect[] {
    const token = this.#tokens.get(connection.id);
    // The room has lost its memory.
    if (token === undefined)
      return this.#participants.disconnect([connection.id], CLOSE.joinTimeout, "not joined in time");
    return [...this.#open.wait(connection.id, bytes), ...this.#handshake.begin(connection, token)];
  }

  #receiveToken(connection: Waiting, bytes: Uint8Array): Effect[] {
    const { id } = connection;
    const named = parseDocumentFrame(bytes, true);
    if (named === null) return this.#open.break(id, "expected a token");
    // The client's answer to the next step 1 repeats edits made before the token.
    if (named.frame.type !== "authenticate") return [];
    this.#tokens.set(id, named.frame.token);
    return [...this.#open.wait(id, bytes), ...this.#handshake.begin(connection, named.frame.token)];
  }

  /** Refuses a token for its documents. The socket stays open for other tokens; null if it has to be closed. */
  askAgain(id: string, decision: JoinDecision): Effect[] | null {
    const connection = this.#participants.connections.get(id);
    if (decision.approved || !decision.authFailed || connection?.phase !== "authorizing") return null;
    const { openedAt, address, documents, request } = connection;
    const count = this.#refusals.get(id) ?? 0;
    if (documents?.wire !== "hocuspocus" || count >= MAX_REFUSED_TOKENS) return null;
    this.#refusals.set(id, count + 1);
    const waiting: Waiting = { phase: "waiting", id, openedAt, address, documents };
    this.#participants.connections.put(waiting);
    const refused: Effect[] = [];
    const others: Uint8Array[] = [];
    for (const bytes of this.#pending.early.take(id)) {
      const authentication = authenticationIn(bytes);
      if (authentication?.token !== request.token) others.push(bytes);
      else refused.push(refusal(id, authentication.key, decision.message));
    }
    return [...refused, ...others.flatMap((bytes) => this.#receiveAgain(id, bytes))];
  }

  #receiveAgain(id: string, bytes: Uint8Array): Effect[] {
    const connection = this.#participants.connections.get(id);
    if (connection === undefined || connection.phase === "joined") return [];
    return this.receive(connection, bytes.slice().buffer);
  }

  /** Tells the client why its token was refused, before its socket is closed. */
  refuse(id: string, decision: JoinDecision): Effect[] {
    const { documents } = this.#participants.connections.get(id) ?? {};
    if (decision.approved || documents === undefined) return [];
    const early = this.#pending.early.take(id);
    if (documents.wire === "yWebsocket")
      return [{ type: "sendBytes", to: [id], frame: bodies.denied(decision.message) }];
    return early.flatMap((bytes) => {
      const authentication = authenticationIn(bytes);
      return authentication === null ? [] : [refusal(id, authentication.key, decision.message)];
    });
  }

  joined(id: string): Effect[] {
    const connection = this.#participants.connections.get(id);
    if (connection?.phase !== "joined") return [];
    const token = connection.documents?.wire === "hocuspocus" ? this.#tokens.get(id) : undefined;
    this.#tokens.delete(id);
    this.#refusals.delete(id);
    const early = this.#pending.early.take(id);
    return [...this.#open.joined(id), ...early.flatMap((bytes) => this.#receiveEarly(id, bytes, token))];
  }

  /** Handles an early frame. The token of the join needs no second verification. */
  #receiveEarly(id: string, bytes: Uint8Array, token: string | undefined): Effect[] {
    const authentication = token === undefined ? null : authenticationIn(bytes);
    return authentication !== null && authentication.token === token
      ? this.#open.admit(id, authentication.key)
      : this.#open.receive(id, bytes);
  }

  /** Completes `authorizeDocuments`: opens or refuses the waiting documents. A temporary refusal closes the socket. */
  verified(id: string, token: string, decision: JoinDecision): Effect[] {
    const keys = this.#pending.end(id, token);
    const connection = this.#participants.connections.get(id);
    if (connection?.phase !== "joined") return [];
    if (!decision.approved && !decision.authFailed) return this.#participants.disconnectFor([id], decision);
    const early = this.#pending.early.take(id);
    return [
      ...this.#answer(connection, decision, keys),
      ...early.flatMap((bytes) => this.#open.receive(id, bytes)),
    ];
  }

  #answer(connection: Joined, decision: JoinDecision, keys: readonly string[]): Effect[] {
    const { id } = connection;
    const next = nextToken(connection, decision);
    if ("refusal" in next) return keys.map((key) => refusal(id, key, next.refusal.message));
    this.#participants.connections.update(next.connection);
    const attach: Effect = { type: "attach", connection: next.connection };
    return [attach, ...keys.flatMap((key) => this.#open.admit(id, key))];
  }

  #remove(id: string): Effect[] {
    this.#pending.forget(id);
    this.#tokens.delete(id);
    this.#refusals.delete(id);
    return this.#open.remove(id);
  }
}

function authenticationIn(bytes: Uint8Array): { readonly key: string; readonly token: string } | null {
  const named = parseDocumentFrame(bytes, true);
  return named?.frame.type === "authenticate" ? { key: named.key, token: named.frame.token } : null;
}

const refusal = (id: string, key: string, reason: string): Effect => ({
  type: "sendBytes",
  to: [id],
  frame: withKey(key, bodies.refused(reason)),
});
