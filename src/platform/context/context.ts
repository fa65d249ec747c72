/** The context that requests and workflow runs pass to commands and queries: actor, database and clock. */
import type { Database, Results, Statement, Tenant } from "../d1/d1.ts";
import { AppError } from "../errors.ts";
import type { Trace } from "../trace.ts";
import type { Actor, WorkflowActor } from "./actor.ts";

/** The context of every operation, of a request or of a workflow's run. Features add the ports that they use. */
export interface OperationContext extends Tenant {
  readonly actor: Actor | WorkflowActor;
  /** The service's origin as the caller sees it, such as `https://atrium.example`. URLs in responses begin with it. */
  readonly origin: string;
  /** What the events that follow from it keep of it; null for a run whose event has none. */
  readonly trace: Trace | null;
  /** Epoch milliseconds. */
  now(): number;
  /** Logs one entry. Never log secrets or anything that users wrote. */
  log(message: string, error?: unknown): void;
  /**
   * Runs statements as one atomic D1 batch, in one round trip. A command that creates something also passes the `data`
   * of its response, so that the receipt of an Idempotency-Key is written in the same batch.
   */
  commit<const T extends readonly [Statement, ...Statement[]]>(
    statements: T,
    data?: object,
  ): Promise<Results<T>>;
}

/** The context of a request. */
export interface RequestContext extends OperationContext {
  readonly requestId: string;
  /** The database of people and their access. Endpoints that say so have it as `db`. */
  readonly directory: Database;
  readonly trace: Trace;
  readonly actor: Actor;
  /** The caller's address, as the edge reports it. Log it shortened only. */
  readonly address: string;
  /** The Idempotency-Key of a POST, for work whose result is not stored in D1; null without one. */
  readonly idempotencyKey: string | null;
  /** A random UUID. */
  newId(): string;
  /** Lets work finish after the response is sent. */
  defer(work: Promise<unknown>): void;
}

/** FORBIDDEN when the actor belongs to another room. An organization may access all of its rooms. */
export function requireRoomAccess({ actor }: Pick<OperationContext, "actor">, roomId: string): void {
  if ("roomId" in actor && actor.roomId !== roomId) {
    throw new AppError(
      "Auth",
      "FORBIDDEN",
      actor.type === "user"
        ? "A user's token gives access to the user's own room only"
        : "A workflow's run can access the room of its event only",
    );
  }
}

/**
 * FORBIDDEN for members who are not owners. Guards members, invitations and API keys, because the one who controls them
 * controls the organization. An API key acts as the organization itself.
 */
export function requireOwner({ actor }: Pick<OperationContext, "actor">): void {
  if (actor.type === "person" && actor.role !== "owner") {
    throw new AppError("Auth", "FORBIDDEN", "Only owners of the organization can do this; ask one of them");
  }
}
