/** How a joined socket gets a newer token of its user, so that it stays open when the first one expires. */
import { lowerRole } from "../../../wire/user.ts";
import { failure, success } from "../../protocol/frame.ts";
import type { MessageOf } from "../../protocol/messages.ts";
import type { Fault } from "../../protocol/protocol.ts";
import type { Joined } from "../../transport/connection.ts";
import { type Connections, send } from "../../transport/connections.ts";
import type { Effect } from "../../transport/effects.ts";
import type { JoinApproval, JoinDecision } from "./join-decision.ts";

const refusal = (code: "FORBIDDEN" | "CONFLICT", message: string): Fault => ({
  module: "Auth",
  code,
  message,
});

const ANOTHER_USER = refusal("FORBIDDEN", "token: must be of this connection's user");
const LOWER_ROLE = refusal("FORBIDDEN", "token: allows a lower role than this connection has; join again");
const IN_PROGRESS = refusal("CONFLICT", "Another token of this connection is being verified");

/** The connection with its next token, or why the token is refused. */
type NextToken = { readonly connection: Joined } | { readonly refusal: Fault };

/** What a verified token does to the connection whose client has sent it. */
export function nextToken(connection: Joined, decision: JoinDecision): NextToken {
  if (!decision.approved) return { refusal: decision };
  if (decision.user.id !== connection.userId) return { refusal: ANOTHER_USER };
  if (lowerRole(decision.ceiling, connection.role) !== connection.role) return { refusal: LOWER_ROLE };
  return { connection: withToken(connection, decision) };
}

export class TokenRefresh {
  readonly #connections: Connections;
  /** The sockets whose next token is being verified. */
  readonly #pending = new Set<string>();

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  /** A joined socket has sent `TOKEN_REFRESH`: one token at a time is verified. */
  receive(id: string, { data, requestId }: MessageOf<"TOKEN_REFRESH">): Effect[] {
    if (this.#pending.has(id)) return [send([id], failure(IN_PROGRESS, requestId))];
    this.#pending.add(id);
    return [{ type: "authorizeRefresh", id, token: data.token, requestId }];
  }

  /** Completes an `authorizeRefresh` effect. The socket may be gone by now. */
  complete(id: string, decision: JoinDecision, requestId: string | undefined): Effect[] {
    this.#pending.delete(id);
    const connection = this.#connections.get(id);
    if (connection?.phase !== "joined") return [];
    const next = nextToken(connection, decision);
    if ("refusal" in next) return [send([id], failure(next.refusal, requestId))];
    this.#connections.update(next.connection);
    const expiresAt = new Date(next.connection.tokenExpiresAt).toISOString();
    return [
      { type: "attach", connection: next.connection },
      send([id], success("Token refreshed", { expiresAt }, requestId)),
    ];
  }
}

function withToken(
  { tokenEpochs: _, ...connection }: Joined,
  { ceiling, tokenExpiresAt, tokenEpochs }: JoinApproval,
): Joined {
  const highest = lowerRole(ceiling, connection.ceiling);
  return { ...connection, ceiling: highest, tokenExpiresAt, ...(tokenEpochs && { tokenEpochs }) };
}
