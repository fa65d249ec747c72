/**
 * Being in the room oneself, as a viewer, for those who ask for it: what changes is then told at once. It counts as
 * everybody's coming does, so nobody is let in unasked; without it, pages ask the REST interface every two seconds.
 */
import { useQueryClient } from "@tanstack/react-query";
import { AtriumClient } from "atrium/client";
import { AtriumError, type AtriumServer, type Room, type UserWithToken } from "atrium/server";
import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useState } from "react";
import type { Me } from "../data/me.ts";
import { useCurrent, useKey } from "../data/organization.tsx";
import { useAct } from "../data/use-action.ts";

export interface Live {
  /** Null while one is not in the room. */
  readonly client: AtriumClient | null;
  readonly isJoining: boolean;
  readonly join: () => void;
  readonly leave: () => void;
}

const LiveContext = createContext<Live | null>(null);

export function useLive(): Live {
  const live = useContext(LiveContext);
  if (live === null) throw new Error("This is for pages of a room");
  return live;
}

/** So that many changes in a moment are one question. */
const GATHER_MS = 250;

export interface LiveProviderProps {
  readonly room: Room;
  readonly children: ReactNode;
}

export function LiveProvider({ room, children }: LiveProviderProps) {
  const { atrium, me } = useCurrent();
  const [client, setClient] = useState<AtriumClient | null>(null);
  const enter = useAct(async () => {
    const { token } = await findOwnUser(atrium, room.id, me.person);
    const visitor = new AtriumClient({ serverUrl: location.origin, authToken: token });
    await visitor.join({ role: "viewer" });
    setClient(visitor);
  });
  const leave = useCallback(() => setClient(null), []);
  useEffect(() => {
    if (client === null) return;
    const off = client.socket.on("failed", leave);
    return () => {
      off();
      client.disconnect();
    };
  }, [client, leave]);
  useNews(room.id, client);
  const live = useMemo(
    () => ({ client, isJoining: enter.isPending, join: () => enter.mutate(), leave }),
    [client, enter.isPending, enter.mutate, leave],
  );
  return <LiveContext value={live}>{children}</LiveContext>;
}

/** One user for each person who looks, however often they come. */
async function findOwnUser(
  atrium: AtriumServer,
  roomId: string,
  { id, name }: Me["person"],
): Promise<UserWithToken> {
  const customId = `dashboard:${id}`;
  try {
    return (await atrium.users.getByCustomId(roomId, customId)).user;
  } catch (error) {
    if (!(error instanceof AtriumError) || error.code !== "NOT_FOUND") throw error;
    return atrium.users.create({ roomId, name: `${name} (dashboard)`, customId, role: "viewer" });
  }
}

/** Asks again for what the room says has changed. */
function useNews(roomId: string, client: AtriumClient | null): void {
  const queries = useQueryClient();
  const key = useKey();
  useEffect(() => {
    if (client === null) return;
    const waiting = new Map<string, ReturnType<typeof setTimeout>>();
    const tell = (part: string) => () => {
      if (waiting.has(part)) return;
      const ask = () => {
        waiting.delete(part);
        void queries.invalidateQueries({ queryKey: key("room", roomId, part) });
      };
      waiting.set(part, setTimeout(ask, GATHER_MS));
    };
    tell("users")();
    const offs = [
      client.on("roomUpdated", tell("users")),
      client.users.on("updated", tell("users")),
      client.comments.on("created", tell("comments")),
      client.comments.on("updated", tell("comments")),
      client.comments.on("deleted", tell("comments")),
    ];
    return () => {
      for (const off of offs) off();
      for (const timer of waiting.values()) clearTimeout(timer);
    };
  }, [client, queries, key, roomId]);
}
