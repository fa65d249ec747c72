/**
 * Watching a room live: the person joins it as a viewer and receives changes at once. Joining is visible to others,
 * so it is opt-in; without it, pages poll the API every two seconds.
 */
import { AtriumClient } from "atrium/client";
import type { Room } from "atrium/server";
import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useState } from "react";
import type { Me } from "../../../features/people/schema.ts";
import { findOrCreateUser } from "../data/find-user.ts";
import { useCurrent } from "../data/organization.tsx";
import { useAction } from "../data/use-action.ts";
import { RoomFeed } from "./room-feed.ts";
import { useLiveRefresh } from "./use-live-refresh.ts";

export interface Live {
  /** Null while not watching. */
  readonly client: AtriumClient | null;
  /** What the room sends meanwhile; null while not watching. */
  readonly feed: RoomFeed | null;
  readonly isJoining: boolean;
  readonly join: () => void;
  readonly leave: () => void;
}

const LiveContext = createContext<Live | null>(null);

export function useLive(): Live {
  const live = useContext(LiveContext);
  if (live === null) throw new Error("useLive must be used within LiveProvider");
  return live;
}

/** Tokens to watch with. They are short, so that a person who has left the organization stops watching soon. */
const VIEWING = { ttl: 300, role: "viewer" } as const;

const NOTHING = { client: null, feed: null };

export interface LiveProviderProps {
  readonly room: Room;
  readonly children: ReactNode;
}

export function LiveProvider({ room, children }: LiveProviderProps) {
  const { atrium, me } = useCurrent();
  const [watched, setWatched] = useState<Pick<Live, "client" | "feed">>(NOTHING);
  const { client, feed } = watched;
  const joining = useAction(async () => {
    const { id } = await findOrCreateUser(atrium, ownUserOf(room.id, me.person));
    const authToken = async () => (await atrium.users.createToken(room.id, id, VIEWING)).token;
    const viewer = new AtriumClient({ serverUrl: location.origin, authToken });
    const itsFeed = new RoomFeed(viewer);
    await viewer.join({ role: "viewer" });
    setWatched({ client: viewer, feed: itsFeed });
  });
  const leave = useCallback(() => setWatched(NOTHING), []);
  useEffect(() => {
    if (client === null) return;
    const off = client.socket.on("failed", leave);
    return () => {
      off();
      client.disconnect();
    };
  }, [client, leave]);
  useLiveRefresh(room.id, watched);
  const live = useMemo(
    () => ({ client, feed, isJoining: joining.isPending, join: () => joining.mutate(), leave }),
    [client, feed, joining.isPending, joining.mutate, leave],
  );
  return <LiveContext value={live}>{children}</LiveContext>;
}

/** The person's own user of the room. */
const ownUserOf = (roomId: string, { id, name }: Me["person"]) =>
  ({ roomId, name: `${name} (dashboard)`, customId: `dashboard:${id}`, role: "viewer" }) as const;
