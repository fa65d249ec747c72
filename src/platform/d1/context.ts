/** The actors that requests and runs act for, and their roles. Pure: schemas and tables use the roles. */

import { AppError } from "../errors.ts";
import type { Trace } from "../trace.ts";
import type { Database, Results, Statement, Tenant } from "./d1.ts";

/** The roles of a room's users. */
export const ROLES = ["editor", "viewer"] as const;
type Role = (typeof ROLES)[number];

/** The roles of an organization's members. */
export const MEMBER_ROLES = ["owner", "member"] as const;
type MemberRole = (typeof MEMBER_ROLES)[number];

/** Who makes a request. */
export type Actor =
  /** The organization itself, with one of its API keys. */
  | { readonly type: "key"; readonly accountId: string; readonly keyId: string; readonly name: string }
  /** A member of the organization, with the dashboard's session cookie. */
  | {
      readonly type: "person";
      readonly accountId: string;
      readonly personId: string;
      readonly name: string;
      readonly role: MemberRole;
    }
  /** A user of a room, with its JWT. */
  | {
      readonly type: "user";
      readonly accountId: string;
      readonly userId: string;
      readonly roomId: string;
      readonly role: Role;
    }
  /** An unauthenticated caller of a public endpoint. */
  | { readonly type: "anyone"; readonly address: string };

/** What the events that the actor causes say of it: null unless a workflow's run acts. */
export const causeOf = (
  actor: Actor | WorkflowActor,
): { readonly workflowId: string; readonly depth: number } | null =>
  actor.type === "workflow" ? { workflowId: actor.workflowId, depth: actor.depth } : null;

/** A run of a workflow, which acts in the room of its event only. */
export interface WorkflowActor {
  readonly type: "workflow";
  readonly accountId: string;
  readonly workflowId: string;
  readonly roomId: string;
  /** The depth of the events that its actions cause. */
  readonly depth: number;
}

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
