/** The actors that requests and runs act for, and their roles. Pure: schemas and tables use the roles. */

import { AppError } from "../errors.ts";
import type { Trace } from "../trace.ts";
import type { Database, Results, Statement, Tenant } from "./d1.ts";

export const ROLES = ["editor", "viewer"] as const;

export const MEMBER_ROLES = ["owner", "member"] as const;
type MemberRole = (typeof MEMBER_ROLES)[number];

/** The facts from which the rights of a user were decided. A write checks that they still hold. */
interface Decided {
  readonly role: (typeof ROLES)[number];
  /** Of the user's identity, as JSON; what is in it counts for no other user. */
  readonly access: string;
  /** Of the tokens of the user's identity; null without one. */
  readonly identityEpoch: number | null;
  /** Null for a room that was deleted. */
  readonly roomState: "active" | "closed" | null;
  /** The request came with the identity's own token, which shows no lasting one. */
  readonly isByIdentity: boolean;
}

export type Actor =
  | { readonly type: "key"; readonly accountId: string; readonly keyId: string; readonly name: string }
  | {
      readonly type: "person";
      readonly accountId: string;
      readonly personId: string;
      readonly name: string;
      readonly role: MemberRole;
    }
  | {
      readonly type: "user";
      readonly accountId: string;
      readonly userId: string;
      readonly roomId: string;
      /** Its rights in the room, as a bit set. */
      readonly rights: number;
      readonly decided: Decided;
    }
  /** An identity, outside of rooms. */
  | {
      readonly type: "identity";
      readonly accountId: string;
      readonly identityId: string;
      readonly isGuest: boolean;
      /** The rooms that its token names. Absent for all. */
      readonly rooms?: readonly (string | { readonly customId: string })[];
      /** The most that its token allows in a room, as a bit set. */
      readonly rights: number;
      /** The token epochs in which its token was signed. */
      readonly epochs: { readonly identity: number; readonly account: number };
    }
  /** An unauthenticated caller of a public endpoint. */
  | { readonly type: "anyone"; readonly address: string };

/** The cause that a run's events carry; null for other actors. */
export const causeOf = (
  actor: Actor | WorkflowActor,
): { readonly workflowId: string; readonly depth: number } | null =>
  actor.type === "workflow" ? { workflowId: actor.workflowId, depth: actor.depth } : null;

interface WorkflowActor {
  readonly type: "workflow";
  readonly accountId: string;
  readonly workflowId: string;
  readonly roomId: string;
  readonly depth: number;
}

/** The context of every operation, of a request or of a workflow's run. Features add the ports that they use. */
export interface OperationContext extends Tenant {
  readonly actor: Actor | WorkflowActor;
  readonly origin: string;
  /** Null for a run whose event has none. */
  readonly trace: Trace | null;
  /** Epoch milliseconds. */
  now(): number;
  /** Logs one entry. Never log secrets or anything that users wrote. */
  log(message: string, error?: unknown): void;
  /**
   * Runs one atomic D1 batch. With `data`, an Idempotency-Key's receipt joins the batch. An audit entry is about `resourceId`,
   * if only the operation knows it.
   */
  commit<const T extends readonly [Statement, ...Statement[]]>(
    statements: T,
    data?: object,
    resourceId?: string,
  ): Promise<Results<T>>;
}

export interface RequestContext extends OperationContext {
  readonly requestId: string;
  readonly directory: Database;
  readonly trace: Trace;
  readonly actor: Actor;
  /** The caller's address, as the edge reports it. Log it shortened only. */
  readonly address: string;
  /** The Idempotency-Key of a POST, for work whose result is not stored in D1; null without one. */
  readonly idempotencyKey: string | null;
  newId(): string;
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

/** A user whose rights may have ended since it was authenticated; undefined for others. */
export const writerOf = (actor: Actor | WorkflowActor) =>
  actor.type === "user" ? { userId: actor.userId, identityEpoch: actor.decided.identityEpoch } : undefined;

/** FORBIDDEN for members who are not owners: access rights control the organization. API keys may. */
export function requireOwner({ actor }: Pick<OperationContext, "actor">): void {
  if (actor.type === "person" && actor.role !== "owner") {
    throw new AppError("Auth", "FORBIDDEN", "Only owners of the organization can do this; ask one of them");
  }
}
