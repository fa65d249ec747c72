/** The ports of a pure room, and parts of its content without the rest of the room. */
import { type RoomLimits, roomLimits } from "../../../src/platform/config.ts";
import { Changes } from "../../../src/room/engine/content/changes.ts";
import { RoomStores, StoreQuota } from "../../../src/room/engine/content/stores.ts";
import { StoreEvents } from "../../../src/room/engine/outbox/delayed-events.ts";
import type { EventPorts } from "../../../src/room/engine/outbox/room-events.ts";
import type { RoomPorts } from "../../../src/room/transport/room-ports.ts";
import { ROOM } from "./rows.ts";

type SomePorts<Ports extends Pick<RoomPorts, "storage">> = Partial<Ports> & Pick<RoomPorts, "storage">;

/** The limits of a deployment without settings, but for these. */
export const limits = (changed: Partial<RoomLimits>) => () => ({ ...roomLimits({}), ...changed });

export const roomPorts = (ports: SomePorts<RoomPorts>): RoomPorts => ({
  now: () => 0,
  newId: () => crypto.randomUUID(),
  roomId: () => ROOM.id,
  graceMs: 0,
  trailKeptMs: Number.POSITIVE_INFINITY,
  limits: limits({}),
  lastPingAt: () => null,
  answerableIn: () => 0,
  canTakeMore: () => true,
  closingOf: () => 0,
  planAlarm: () => {},
  report: (_, error) => {
    throw error;
  },
  ...ports,
});

export const eventPorts = (ports: SomePorts<EventPorts>): EventPorts => ({
  now: () => 0,
  newId: () => crypto.randomUUID(),
  planAlarm: () => {},
  cause: () => null,
  stats: () => ({ activeParticipants: 0, occupiedMs: 0, occupiedSince: null }),
  ...ports,
});

export function openStores(ports: SomePorts<RoomPorts>) {
  const all = roomPorts(ports);
  const changes = new Changes(all);
  const quota = new StoreQuota(all, () => 0);
  return { changes, stores: new RoomStores(all, changes, new StoreEvents(eventPorts(all)), quota) };
}
