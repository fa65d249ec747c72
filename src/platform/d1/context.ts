/** The actors that requests and runs act for. */

import type { Role } from "@atrium/contract/resources/user.ts";
import type { MemberRole } from "@atrium/contract/rest/people.ts";
import type { Narrowed } from "../narrowing.ts";
import type { Trace } from "../trace.ts";
import type { Database, Results, Statement, Tenant } from "./d1.ts";

/** The facts from which the rights of a user were decided. A write checks that they still hold. */
interface Decided {
  readonly role: Role;
  /** Access of the user's identity, as JSON; its content counts for no other user. */
  readonly access: string;
  /** Token epoch of the user's identity; null without one. */
  readonly identityEpoch: number | null;
  /** Null for a room that was deleted. */
  readonly roomState: "active" | "closed" | null;
  /** The request came with the user's lasting token, which shows itself. */
  readonly isByLastingToken: boolean;
}

export type Actor =
  | {
      readonly type: "key";
      readonly accountId: string;
      readonly keyId: string;
      readonly name: string;
      /** Absent for a key that may do everything of its organization. */
      readonly narrowed?: Narrowed;
      /** The room of the request, by a key that names rooms. Absent outside of rooms. */
      readonly roomId?: string;
    }
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
      /** Null for a user without one. */
      readonly identityId: string | null;
      readonly isGuest: boolean;
      readonly roomId: string;
      /** Rights in the room, as a bit set. */
      readonly rights: number;
      /** The token may write nothing, not even state that the room keeps for its user. */
      readonly readsOnly: boolean;
      readonly decided: Decided;
    }
  /** An identity, outside of rooms. */
  | (Narrowed & {
      readonly type: "identity";
      readonly accountId: string;
      readonly identityId: string;
      readonly isGuest: boolean;
      /** The token epochs in which its token was signed. */
      readonly epochs: { readonly identity: number; readonly account: number };
    })
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
   * Runs one atomic D1 batch. `data` adds the receipt of an Idempotency-Key to it. `resourceId` is for the
   * audit entry, if only the operation knows it.
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

/** The Idempotency-Key is the room's request ID, so the room handles concurrent repetitions once. Each narrowed key has its own. */
export function requestIdOf({ idempotencyKey, actor }: RequestContext): string | undefined {
  if (idempotencyKey === null) return undefined;
  return actor.type === "key" && actor.narrowed ? `${actor.keyId}:${idempotencyKey}` : idempotencyKey;
}
