/** Operations on presence, broadcasts, and users online. */
import * as z from "zod";
import { LIMITS } from "../limits.ts";
import { User } from "../resources/user.ts";
import { text } from "../text.ts";
import { OnlineLimit } from "./connection.ts";
import { expensiveRead, FREE, innerOperation, operation } from "./operation.ts";
import { Id, isRecord, JsonObject, Nothing } from "./values.ts";

/** A position in the list of users online: behind this user, who joined then. */
export const OnlinePlace = z.object({ joined_at: z.iso.datetime(), id: Id });
export type OnlinePlace = z.infer<typeof OnlinePlace>;

/** Subscribes to presence, or ends it; everyone's can have numbers for users (R86). */
const PresenceSubscription = z.object({
  target: Id,
  on: z.boolean(),
  numbers: z.boolean().default(false),
});
export type PresenceSubscription = z.infer<typeof PresenceSubscription>;

/** A whole presence state, or changes to it: the fields of `patch` are set, and those of `remove` removed. */
export const PresenceUpdate = z
  .object({
    state: JsonObject.nullable().optional(),
    patch: JsonObject.optional(),
    remove: z.array(z.string()).max(LIMITS.removedFields).optional(),
  })
  .refine(({ state, patch }) => (state === undefined) !== (patch === undefined), {
    path: ["state"],
    message: "pass either state or patch",
  });
export type PresenceUpdate = z.infer<typeof PresenceUpdate>;

/** A shortcut for cursors, thousands a second: a whole state or a patch alone. Null for the schema to decide. */
export function parseMove(data: unknown): PresenceUpdate | null {
  if (!isRecord(data) || data.remove !== undefined) return null;
  const { state, patch } = data;
  if (patch === undefined) return isRecord(state) ? { state } : null;
  return state === undefined && isRecord(patch) ? { patch } : null;
}

export const BroadcastData = z.object({
  event: text(1, LIMITS.eventNameLength),
  data: z.unknown().optional().meta({ description: "Any JSON, at most 64 KiB." }),
  userIds: z.array(Id).max(LIMITS.broadcastUsers).optional().meta({
    description: "If omitted, everyone who is online.",
  }),
});
export type BroadcastData = z.infer<typeof BroadcastData>;

/** When users were last seen, in epoch milliseconds; null is no filter. */
const SeenFilter = z.object({
  online: z.boolean().nullable(),
  from: z.number().nullable(),
  to: z.number().nullable(),
  /** When users who are online are seen. */
  now: z.number(),
});
export type SeenFilter = z.infer<typeof SeenFilter>;

export const PRESENCE_OPERATIONS = {
  PRESENCE_UPDATE: operation({
    done: "Presence updated",
    input: () => PresenceUpdate,
    output: () => Nothing,
    right: "presence:write",
    cost: FREE,
  }),
  PRESENCE_SUBSCRIBE: operation({
    done: "Subscription changed",
    input: () => PresenceSubscription,
    output: () => Nothing,
    right: "read",
    cost: FREE,
  }),
  PRESENCE_GET: innerOperation({
    done: "Presence retrieved",
    input: () => Nothing,
    output: () => z.object({ presence: z.record(z.string(), z.record(z.string(), z.unknown())) }),
    cost: expensiveRead(200),
    right: "read",
  }),
  PARTICIPANT_REMOVE: innerOperation({
    done: "Participant removed",
    input: () => z.object({ userId: z.string() }),
    output: () => Nothing,
    cost: FREE,
    right: "organization",
  }),
  BROADCAST: operation({
    done: "Broadcast sent",
    input: () => BroadcastData,
    output: () => z.object({ delivered: z.int() }),
    right: "broadcasts:write",
    cost: { ...FREE, excess: "refused" },
  }),
  USERS_ONLINE: operation({
    done: "Users online retrieved",
    input: () => z.object({ after: OnlinePlace.optional(), limit: OnlineLimit.default(LIMITS.onlinePage) }),
    output: () => z.object({ users: z.array(User).readonly(), next: OnlinePlace.optional() }),
    right: "read",
    cost: expensiveRead<{ readonly limit: number }>(({ limit }) => limit / 10),
  }),
  USERS_SEEN: innerOperation({
    done: "Users found",
    input: () => SeenFilter,
    output: () => z.object({ userIds: z.array(z.string()).readonly(), isExcluding: z.boolean() }),
    cost: FREE,
    right: "organization",
  }),
  IDENTITY_ONLINE: innerOperation({
    done: "Identity looked up",
    input: () => z.object({ identityId: z.string() }),
    output: () => z.object({ online: z.boolean() }),
    cost: FREE,
    right: "organization",
  }),
} as const;
