/** A room on the wire, and how its row and its live stats are presented. The SDK imports its type. */
import * as z from "zod";
import { parseStored } from "../stored.ts";
import { presentNullableTime, presentTime, Timestamp } from "../time.ts";
import { presentLimits, RoomLimits } from "./room-limits.ts";
import type { RoomStats } from "./snapshots.ts";

export const RoomState = z.enum(["active", "closed"]);
export type RoomState = z.infer<typeof RoomState>;

export const Room = z
  .object({
    id: z.uuid(),
    account_id: z.uuid(),
    name: z.string(),
    custom_id: z.string().optional().meta({ description: "Your own identifier. Absent if not set." }),
    created_at: Timestamp,
    state: RoomState.meta({ description: "A closed room refuses joins and uploads, and keeps its data." }),
    expires_at: Timestamp.nullable().meta({
      description: "When the room is deleted with everything in it; `null` for a room that stays.",
    }),
    limits: RoomLimits.meta({ description: "The limits that you have given the room." }),
    duration_seconds: z.int().meta({
      description:
        "Total time with at least one user online, in whole seconds, including the current occupancy period.",
      minimum: 0,
    }),
    active_participants: z.int().meta({
      description: "Users online now. A user with several tabs counts once.",
      minimum: 0,
    }),
    total_users_created: z.int().meta({
      description: "Users ever created in the room. Deleting a user does not lower it.",
      minimum: 0,
    }),
  })
  .meta({
    id: "Room",
    example: {
      id: "3f0c8a52-6a0e-4f6b-9a53-0d1f6a4f2b11",
      account_id: "8c1a1f0e-5b7d-4c52-9d5e-2a7f3c9b6e40",
      name: "Weekly planning",
      custom_id: "planning-7",
      created_at: "2026-01-31T09:30:00.000Z",
      state: "active",
      expires_at: null,
      limits: {
        ...{ users: null, store_bytes: null, document_bytes: null, stream_bytes: null, comment_bytes: null },
        ...{ files: null, file_bytes: null },
      },
      duration_seconds: 0,
      active_participants: 0,
      total_users_created: 0,
    },
  });
export type Room = z.infer<typeof Room>;

export interface RoomFields extends RoomStats {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly customId: string | null;
  readonly state: RoomState;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Epoch milliseconds. */
  readonly expiresAt: number | null;
  /** As JSON; null for none. */
  readonly limits: string | null;
  readonly firstJoinAt: number | null;
  readonly totalUsersCreated: number;
}

export const parseRoom = (json: string) =>
  parseStored<RoomFields>(json, {
    customId: null,
    expiresAt: null,
    limits: null,
    firstJoinAt: null,
    occupiedSince: null,
  });

/** Presents a room at `now` (epoch ms) with live stats from its object, or by default with the copy in its row. */
export function presentRoom(row: RoomFields, now: number, stats: RoomStats = row): Room {
  const currentMs = stats.occupiedSince === null ? 0 : Math.max(0, now - stats.occupiedSince);
  return {
    id: row.id,
    account_id: row.accountId,
    name: row.name,
    ...(row.customId === null ? {} : { custom_id: row.customId }),
    created_at: presentTime(row.createdAt),
    state: row.state,
    expires_at: presentNullableTime(row.expiresAt),
    limits: presentLimits(row.limits),
    duration_seconds: Math.floor((stats.occupiedMs + currentMs) / 1000),
    active_participants: stats.activeParticipants,
    total_users_created: row.totalUsersCreated,
  };
}
