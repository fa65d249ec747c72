/**
 * Watching a room live: the person joins it as a viewer and receives changes at once. Joining is visible to others,
 * so it is opt-in; without it, pages poll the API.
 */
import { useQueryClient } from "@tanstack/react-query";
import { AtriumClient } from "atrium/client";
import { inspections } from "atrium/internal/inspection";
import type { Room } from "atrium/server";
import { createContext, type ReactNode, useContext, useEffect, useState } from "react";
import { findOrCreateUser, useAction, useApiQuery, useCurrent, useKey } from "../data/organization.tsx";
import { Button, Icon } from "../ui/button.tsx";
import type { FeedItem } from "./stream.ts";

/** The interval of polls. */
export const LIVE_REFRESH_MS = 2000;

interface Watched {
  /** Null while not watching. */
  readonly client: AtriumClient | null;
  /** Listens to the messages of the room meanwhile; null while not watching. */
  readonly listen: Listen | null;
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

const NOTHING: Watched = { client: null, listen: null };

/** Returns a function that removes the listener. */
type Listen = (listener: (item: FeedItem) => void) => () => void;

const userOf = (by: unknown): string | null => (typeof by === "string" ? by : null);

/** Takes these messages from a client of the dashboard, which keeps no copies of stores and has no listeners of its own. */
function feedOf(client: AtriumClient): Listen {
  const listeners = new Set<(item: FeedItem) => void>();
  const notify = (item: FeedItem) => {
    for (const listener of listeners) listener(item);
  };
  const stream = inspections.get(client)?.connection.changeStream;
  stream?.handle("broadcast", ({ event, data, from }) =>
    notify({ type: "broadcast", event: String(event), data, by: userOf(from) }),
  );
  stream?.handle("storeChanged", ({ store, key, action, value, by }) =>
    notify({
      type: "write",
      store: String(store),
      key: String(key),
      value,
      isDeletion: action === "delete",
      by: userOf(by),
    }),
  );
  return (listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
}

interface LiveProviderProps {
  readonly room: Room;
  readonly children: ReactNode;
}

export function LiveProvider({ room: { id: roomId }, children }: LiveProviderProps) {
  const { person } = useCurrent().me;
  const [watched, setWatched] = useState(NOTHING);
  const { client } = watched;
  const joining = useAction(
    async (atrium) => {
      const { id } = await findOrCreateUser(atrium, {
        roomId,
        role: "viewer",
        ...{ name: `${person.name} (dashboard)`, customId: `dashboard:${person.id}` },
      });
      const authToken = async () => (await atrium.users.createToken(roomId, id, VIEWING)).token;
      const viewer = new AtriumClient({ serverUrl: location.origin, authToken });
      const listen = feedOf(viewer);
      await viewer.join({ role: "viewer" });
      setWatched({ client: viewer, listen });
    },
    { notifiesErrors: true },
  );
  useEffect(() => {
    if (client === null) return;
    const off = client.socket.on("failed", () => setWatched(NOTHING));
    return () => {
      off();
      client.disconnect();
    };
  }, [client]);
  useLiveRefresh(roomId, watched);
  const leave = () => setWatched(NOTHING);
  const live = { ...watched, isJoining: joining.isPending, join: () => joining.mutate(), leave };
  return <LiveContext value={live}>{children}</LiveContext>;
}

/** Combines changes in quick succession into one request. */
const DEBOUNCE_MS = 250;

/** Refreshes the queries that the room's messages say have changed. */
function useLiveRefresh(roomId: string, { client, listen }: Watched): void {
  const queries = useQueryClient();
  const key = useKey();
  useEffect(() => {
    if (client === null || listen === null) return;
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
      listen((item) => {
        if (item.type !== "write") return;
        refreshSoon("entries", item.store);
        refreshSoon("stores");
      }),
    ];
    return () => {
      for (const off of offs) off();
      for (const timer of waiting.values()) clearTimeout(timer);
    };
  }, [client, listen, queries, key, roomId]);
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

/** A room's newest users, undefined while loading, and their names by ID, which stand for themselves for others. */
export function useNames(roomId: string) {
  const { data } = useApiQuery(
    ["room", roomId, "users", "names"],
    ({ rooms }) => rooms.get(roomId, { limit: MAX_NAMED_USERS }),
    { staleTime: NAMES_STALE_MS },
  );
  const users = data?.users;
  return { users, nameOf: (userId: string) => users?.find(({ id }) => id === userId)?.name ?? userId };
}
