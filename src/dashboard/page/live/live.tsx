/**
 * Watching a room live: the person joins it as a viewer and receives changes at once. Joining is visible to others,
 * so it is opt-in; without it, pages poll the API.
 */
import { useQueryClient } from "@tanstack/react-query";
import { AtriumClient } from "atrium/client";
import type { Room, User } from "atrium/server";
import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useState } from "react";
import { findOrCreateUser, useAction, useApiQuery, useCurrent, useKey } from "../data/organization.tsx";
import { Button, Icon } from "../ui/button.tsx";
import { RoomFeed } from "./room-feed.ts";

/** The interval of polls. */
export const LIVE_REFRESH_MS = 2000;

interface Watched {
  /** Null while not watching. */
  readonly client: AtriumClient | null;
  /** The messages of the room meanwhile; null while not watching. */
  readonly feed: RoomFeed | null;
}

interface Live extends Watched {
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

const NOTHING: Watched = { client: null, feed: null };

interface LiveProviderProps {
  readonly room: Room;
  readonly children: ReactNode;
}

export function LiveProvider({ room: { id: roomId }, children }: LiveProviderProps) {
  const { person } = useCurrent().me;
  const [watched, setWatched] = useState(NOTHING);
  const { client, feed } = watched;
  const joining = useAction(
    async (atrium) => {
      const { id } = await findOrCreateUser(atrium, {
        roomId,
        role: "viewer",
        ...{ name: `${person.name} (dashboard)`, customId: `dashboard:${person.id}` },
      });
      const authToken = async () => (await atrium.users.createToken(roomId, id, VIEWING)).token;
      const viewer = new AtriumClient({ serverUrl: location.origin, authToken });
      const itsFeed = new RoomFeed(viewer);
      await viewer.join({ role: "viewer" });
      setWatched({ client: viewer, feed: itsFeed });
    },
    { notifiesErrors: true },
  );
  const leave = useCallback(() => setWatched(NOTHING), []);
  useEffect(() => {
    if (client === null) return;
    const off = client.socket.on("failed", leave);
    return () => {
      off();
      client.disconnect();
    };
  }, [client, leave]);
  useLiveRefresh(roomId, watched);
  const live = useMemo(
    () => ({ client, feed, isJoining: joining.isPending, join: () => joining.mutate(), leave }),
    [client, feed, joining.isPending, joining.mutate, leave],
  );
  return <LiveContext value={live}>{children}</LiveContext>;
}

/** Combines changes in quick succession into one request. */
const DEBOUNCE_MS = 250;

/** Refreshes the queries that the room's messages say have changed. */
function useLiveRefresh(roomId: string, { client, feed }: Watched): void {
  const queries = useQueryClient();
  const key = useKey();
  useEffect(() => {
    if (client === null || feed === null) return;
    const waiting = new Map<string, ReturnType<typeof setTimeout>>();
    const refreshSoon = (...part: readonly string[]) => {
      const id = JSON.stringify(part);
      if (waiting.has(id)) return;
      const run = () => {
        waiting.delete(id);
        void queries.invalidateQueries({ queryKey: key("room", roomId, ...part) });
      };
      waiting.set(id, setTimeout(run, DEBOUNCE_MS));
    };
    const refresh = (part: string) => () => refreshSoon(part);
    refresh("users")();
    const offs = [
      client.on("roomUpdated", refresh("users")),
      client.users.on("updated", refresh("users")),
      client.comments.on("created", refresh("comments")),
      client.comments.on("updated", refresh("comments")),
      client.comments.on("deleted", refresh("comments")),
      feed.listen((item) => {
        if (item.type !== "write") return;
        refreshSoon("entries", item.store);
        refreshSoon("stores");
      }),
    ];
    return () => {
      for (const off of offs) off();
      for (const timer of waiting.values()) clearTimeout(timer);
    };
  }, [client, feed, queries, key, roomId]);
}

/** Explains how the page updates, and lets the person join the room. */
export function JoinBar({ isClosed = false }: { readonly isClosed?: boolean }) {
  const { client, isJoining, join, leave } = useLive();
  const isLive = client !== null;
  return (
    <div className={isLive ? "join-bar live" : "join-bar"}>
      <Icon name="live" />
      {isLive ? (
        <>
          <p>Watching live as a viewer. You are shown as present.</p>
          <Button onClick={leave}>Stop watching</Button>
        </>
      ) : (
        <>
          <p className="soft">Updates every 2 s. You are not shown as present.</p>
          <Button isBusy={isJoining} disabled={isClosed} onClick={join}>
            Watch live
          </Button>
        </>
      )}
    </div>
  );
}

const MAX_NAMED_USERS = 100;
const NAMES_STALE_MS = 15_000;

interface Names {
  /** Undefined while loading. */
  readonly users: readonly User[] | undefined;
  /** The user's name, or the ID if the user is not among the newest. */
  readonly nameOf: (userId: string) => string;
}

/** The names of a room's newest users by ID. */
export function useNames(roomId: string): Names {
  const { data } = useApiQuery(
    ["room", roomId, "users", "names"],
    ({ rooms }) => rooms.get(roomId, { limit: MAX_NAMED_USERS }),
    { staleTime: NAMES_STALE_MS },
  );
  const users = data?.users;
  return { users, nameOf: (userId) => users?.find(({ id }) => id === userId)?.name ?? userId };
}
