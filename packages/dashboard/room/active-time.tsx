/** The time in which someone was in a room, which goes on while someone is. */
import type { Room } from "atrium/server";
import { useMemo } from "react";
import { formatDuration, useTick } from "../ui/time.tsx";

const REFRESH_MS = 1000;

type ActiveTimeProps = Pick<Room, "duration_seconds" | "active_participants">;

export function ActiveTime({ duration_seconds: known, active_participants: online }: ActiveTimeProps) {
  useTick(REFRESH_MS);
  const isActive = online > 0;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the moment of each answer
  const answeredAt = useMemo(Date.now, [known, isActive]);
  const since = isActive ? Math.floor((Date.now() - answeredAt) / 1000) : 0;
  return formatDuration(known + since);
}
