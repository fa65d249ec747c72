/** What a request, or a run of a workflow, gives to commands and queries: the actor, the organization's database and the clock. */
import type { Results, Statement, Tenant } from "../platform/d1.ts";
import { AppError } from "../platform/errors.ts";
import type { Actor, WorkflowActor } from "./actor.ts";

/** What every operation has, whether a request or a workflow's run asks for it. Features add the ports that they use. */
export interface OperationContext extends Tenant {
  readonly actor: Actor | WorkflowActor;
  /** Where the caller reached the service, such as `https://atrium.example`: URLs in responses begin with it. */
  readonly origin: string;
  /** Epoch milliseconds. */
  now(): number;
  /** Logs one entry for the operators; never secrets, never anything that users wrote. */
  log(message: string, error?: unknown): void;
  /**
   * Runs statements as one atomic D1 batch, in one round trip. A command that creates something passes the
   * `data` of its response: an Idempotency-Key then leaves its receipt in the same batch.
   */
  commit<const T extends readonly [Statement, ...Statement[]]>(
    statements: T,
    data?: object,
  ): Promise<Results<T>>;
}

/** What a request has in addition. */
export interface RequestContext extends OperationContext {
  readonly requestId: string;
  readonly actor: Actor;
  /** The Idempotency-Key of a POST, for work that is kept elsewhere than in the database; null without one. */
  readonly idempotencyKey: string | null;
  /** A random UUID. */
  newId(): string;
  /** Finishes work after the response was sent. */
  defer(work: Promise<unknown>): void;
}

/** Refuses an actor that belongs to one room and addresses another; an organization may use all of its rooms. */
export function requireRoomAccess({ actor }: Pick<OperationContext, "actor">, roomId: string): void {
  if ("roomId" in actor && actor.roomId !== roomId) {
    throw new AppError(
      "Auth",
      "FORBIDDEN",
      actor.type === "user"
        ? "This user's token opens its own room only"
        : "A workflow's run may use its event's room only",
    );
  }
}

/**
 * Refuses members who are not owners. It guards what would make them owners in all but name: members, invitations
 * and API keys. A key is the organization itself.
 */
export function requireOwner({ actor }: Pick<OperationContext, "actor">): void {
  if (actor.type === "person" && actor.role !== "owner") {
    throw new AppError("Auth", "FORBIDDEN", "Only owners of the organization may do this; ask one of them");
  }
}
