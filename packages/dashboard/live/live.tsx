/**
 * Watching a room live: a socket that reads receives changes at once, and is not shown to the people in the room. Pages
 * poll the API while it does not work.
 */
import { useQueryClient } from "@tanstack/react-query";
import { AtriumClient } from "atrium/client";
import { inspections } from "atrium/internal/inspection";
import type { Room } from "atrium/server";
import {
  createContext,
  type ReactNode,
  useContext,
  useEffect,
  useReducer,
  useState,
  useSyncExternalStore,
} from "react";
import { callDashboard } from "../data/api.ts";
import { useApiQuery, useCurrent, useKey } from "../data/organization.tsx";
import { Button } from "../ui/button.tsx";
import type { FeedItem } from "./stream.ts";

/** The interval of polls without a stream. */
export const LIVE_REFRESH_MS = 2000;
/** The same beside the stream, which says when something has changed. */
const BESIDE_STREAM_MS = 15_000;

export const refreshMs = (isLive: boolean): number => (isLive ? BESIDE_STREAM_MS : LIVE_REFRESH_MS);

/** The interval of polls of a room's page now. */
export const useRefreshMs = (): number => refreshMs(useLive().client !== null);

interface Watched {
  /** Null while not watching. */
  readonly client: AtriumClient | null;
  /** Listens to the messages of the room meanwhile; null while not watching. */
  readonly listen: Listen | null;
}

interface Live extends Watched {
  readonly room: Room;
  readonly tryAgain: () => void;
}

const LiveContext = createContext<Live | null>(null);

export function useLive(): Live {
  const live = useContext(LiveContext);
  if (live === null) throw new Error("useLive must be used within LiveProvider");
  return live;
}

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

const subscribeToVisibility = (notify: () => void): (() => void) => {
  document.addEventListener("visibilitychange", notify);
  return () => document.removeEventListener("visibilitychange", notify);
};

/** False while the page is in a hidden tab or window. */
const usePageIsVisible = (): boolean =>
  useSyncExternalStore(subscribeToVisibility, () => document.visibilityState === "visible");

interface LiveProviderProps {
  readonly room: Room;
  /** Called when watching begins, and when it ends. */
  readonly onLive: (isLive: boolean) => void;
  readonly children: ReactNode;
}

/** The service relays no changes of a room that no one has joined yet, such as its first user or its closing. */
const hasBeenJoined = ({ active_participants, duration_seconds }: Room): boolean =>
  active_participants > 0 || duration_seconds > 0;

/** Watches an open room that someone has joined, while the page is visible. */
export function LiveProvider({ room, onLive, children }: LiveProviderProps) {
  const { id: roomId, state } = room;
  const { id: accountId } = useCurrent().organization;
  const [watched, setWatched] = useState(NOTHING);
  const [attempt, tryAgain] = useReducer((count: number) => count + 1, 0);
  const isWanted = usePageIsVisible() && state === "active" && hasBeenJoined(room);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt begins anew
  useEffect(() => {
    if (!isWanted) return;
    const path = `organizations/${accountId}/rooms/${roomId}/watch`;
    const authToken = async () => (await callDashboard<{ readonly token: string }>("POST", path)).token;
    const client = new AtriumClient({ serverUrl: location.origin, authToken });
    const listen = feedOf(client);
    const end = () => setWatched(NOTHING);
    const off = client.socket.on("failed", end);
    client.join({ role: "viewer" }).then(() => setWatched({ client, listen }), end);
    return () => {
      off();
      client.disconnect();
      end();
    };
  }, [accountId, roomId, isWanted, attempt]);
  const isLive = watched.client !== null;
  useEffect(() => onLive(isLive), [isLive, onLive]);
  useLiveRefresh(roomId, watched);
  return <LiveContext value={{ ...watched, room, tryAgain }}>{children}</LiveContext>;
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
    const refresh =
      (...parts: readonly string[]) =>
      () => {
        for (const part of parts) refreshSoon(part);
      };
    refresh("users", "events")();
    const comments = refresh("comments", "events");
    const offs = [
      client.on("roomUpdated", refresh("users", "events")),
      client.users.on("updated", refresh("users", "events")),
      client.comments.on("created", comments),
      client.comments.on("updated", comments),
      client.comments.on("deleted", comments),
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

/** Says how the page updates. */
export function LiveLine() {
  const { room, client, tryAgain } = useLive();
  if (room.state === "closed")
    return <p className="live-line soft">The room is closed. Updates every 2 s.</p>;
  if (!hasBeenJoined(room)) return <p className="live-line soft">Updates every 2 s until someone joins.</p>;
  if (client !== null)
    return (
      <p className="live-line" role="status">
        <span className="pulse good" aria-hidden="true" />
        Live <span className="soft">You are not shown to the people in the room.</span>
      </p>
    );
  return (
    <p className="live-line soft">
      Updates every 2 s.
      <Button variant="quiet" icon="live" onClick={tryAgain}>
        Watch live
      </Button>
    </p>
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
