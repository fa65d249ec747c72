/** What a request or a workflow's run carries through commands and queries: who asks, for which organization, and the ports. */

import type { SubscriberGateway } from "../delivery/port/subscriber-port.ts";
import type { Blobs } from "../files/storage/blobs.ts";
import type { MemberRole } from "../members/schema.ts";
import type { Results, Statement, Tenant } from "../platform/d1.ts";
import { AppError } from "../platform/errors.ts";
import type { RoomGateway } from "../realtime/gateway.ts";
import type { Runner } from "../sandbox/runners/runner.ts";
import type { Role } from "../users/schema.ts";
import type { Tokens } from "../users/tokens.ts";

/** Who makes a request. */
export type Actor =
  /** The organization itself, by one of its API keys. */
  | { readonly type: "key"; readonly accountId: string; readonly keyId: string }
  /** A member of the organization, by the dashboard's session cookie. */
  | {
      readonly type: "person";
      readonly accountId: string;
      readonly personId: string;
      readonly role: MemberRole;
    }
  /** One user of one room, by its JWT. */
  | {
      readonly type: "user";
      readonly accountId: string;
      readonly userId: string;
      readonly roomId: string;
      readonly role: Role;
    }
  /** Nobody that we know: only public endpoints see this one. */
  | { readonly type: "anyone"; readonly address: string };

/** A run of a workflow, which makes no requests: it acts in one room, that of its event. */
export interface WorkflowActor {
  readonly type: "workflow";
  readonly accountId: string;
  readonly workflowId: string;
  readonly roomId: string;
}

/** A store's tenant (account and database) with what commands and queries may use whoever asks. */
export interface OperationContext extends Tenant {
  readonly actor: Actor | WorkflowActor;
  readonly rooms: RoomGateway;
  /** The bytes of files. */
  readonly blobs: Blobs;
  /** Where the caller reached us, as in `https://atrium.example`: what addresses in answers begin with. */
  readonly origin: string;
  /** Epoch milliseconds. */
  now(): number;
  /** One line for whoever runs the service; never secrets, never what users wrote. */
  log(message: string, error?: unknown): void;
  /**
   * Runs statements as one atomic D1 batch, in one round trip. A command that creates something passes the
   * `data` of its answer: an Idempotency-Key then leaves its receipt in the same batch.
   */
  commit<const T extends readonly [Statement, ...Statement[]]>(
    statements: T,
    data?: object,
  ): Promise<Results<T>>;
}

/** What a request has besides. */
export interface RequestContext extends OperationContext {
  readonly requestId: string;
  readonly actor: Actor;
  readonly tokens: Tokens;
  readonly subscribers: SubscriberGateway;
  /** Where the code of workflows runs. */
  readonly runner: Pick<Runner, "deploy">;
  /** Hosts for which the rules of webhooks' targets are loosened; none in production. */
  readonly webhookDevTargets: readonly string[];
  /** The Idempotency-Key of a POST, for work that is kept elsewhere than in the database; null without one. */
  readonly idempotencyKey: string | null;
  /** A random UUID. */
  newId(): string;
  /** Finishes work after the answer has gone out. */
  defer(work: Promise<unknown>): void;
}

/** Refuses who is of one room and reaches for another; an organization may use all of its rooms. */
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
 * Refuses a member who is no owner what would make it one in all but name: members, invitations and API keys.
 * A key is the organization itself.
 */
export function requireOwner({ actor }: RequestContext): void {
  if (actor.type === "person" && actor.role !== "owner") {
    throw new AppError("Auth", "FORBIDDEN", "Only owners of the organization may do this; ask one of them");
  }
}
