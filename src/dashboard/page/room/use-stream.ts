/** The stream of a room: its events, changes of its documents and, while watching live, broadcasts and writes. */
import { useQueryClient } from "@tanstack/react-query";
import type { EventPage } from "atrium/server";
import { useEffect, useMemo, useRef, useState } from "react";
import { HOUR_MS } from "../../../platform/time.ts";
import { EVENTS } from "../data/events.ts";
import { useApiQuery, useKey } from "../data/organization.tsx";
import { useDocuments } from "../documents/documents-part.tsx";
import { LIVE_REFRESH_MS, useLive, useNames } from "../live/live.tsx";
import { changedDocuments, itemOfFeed, MAX_ITEMS, mergeItems, type StreamItem } from "../live/stream.ts";

type RoomEvent = EventPage["events"][number];

const MAX_EVENTS = 50;

interface EventHistory {
  readonly events: readonly RoomEvent[];
  /** The cursor of the next read. */
  readonly cursor: string;
}

/** Events of the event log, newest first, continued while the page is open. */
function useRoomEvents(roomId: string) {
  const queries = useQueryClient();
  const key = useKey();
  const part = ["room", roomId, "events"];
  return useApiQuery(
    part,
    async (atrium): Promise<EventHistory> => {
      const known = queries.getQueryData<EventHistory>(key(...part));
      const since =
        known === undefined
          ? { from: new Date(Date.now() - HOUR_MS).toISOString() }
          : { after: known.cursor };
      let { events = [] as readonly RoomEvent[], cursor = "" } = known ?? {};
      for await (const page of atrium.events.pages({ roomId, limit: 100, ...since })) {
        events = [...page.events.toReversed(), ...events].slice(0, MAX_EVENTS);
        cursor = page.cursor;
      }
      return { events, cursor };
    },
    { refetchInterval: LIVE_REFRESH_MS, structuralSharing: false },
  );
}

/** The page sees these by itself; the log has them only while a webhook or a workflow listens. */
const SEEN_ANYWAY: ReadonlySet<string> = new Set([
  "document.created",
  "document.updated",
  "document.deleted",
]);

/** True when a page that is open since a time (ISO 8601) shows the event without the log. */
const isSeenAnyway = ({ event, timestamp }: RoomEvent, since: string): boolean =>
  SEEN_ANYWAY.has(event) && timestamp >= since;

const itemOfEvent = (event: RoomEvent): StreamItem => ({
  id: event.id,
  at: event.timestamp,
  name: event.event,
  about: describe(event),
});

/** The subject of the event, or the meaning of its name. */
function describe(event: RoomEvent): string {
  if ("user" in event && event.user !== undefined) return event.user.name;
  if ("comment" in event) return event.comment.text;
  if ("file" in event) return event.file.filename;
  if (event.event === "store.changed") return event.data.store;
  if (event.event === "version.created") return `${event.data.document}: ${event.data.name ?? "unnamed"}`;
  if ("document" in event.data) return event.data.document;
  return EVENTS[event.event];
}

/** The page is drawn again at most this often. */
const FLUSH_MS = 250;

export function useStream(roomId: string) {
  const { data, error } = useRoomEvents(roomId);
  const [openedAt] = useState(() => new Date().toISOString());
  const written = useFeedItems(roomId);
  const documents = useDocumentItems(roomId);
  const items = useMemo(() => {
    const logged = data?.events.filter((event) => !isSeenAnyway(event, openedAt)) ?? [];
    const events = logged.map(itemOfEvent);
    return mergeItems(events, written, documents);
  }, [data, written, documents, openedAt]);
  return { items: data === undefined ? undefined : items, error };
}

function useFeedItems(roomId: string): readonly StreamItem[] {
  const { listen } = useLive();
  const { nameOf } = useNames(roomId);
  const latestNameOf = useRef(nameOf);
  latestNameOf.current = nameOf;
  const [items, setItems] = useState<readonly StreamItem[]>([]);
  const count = useRef(0);
  useEffect(() => {
    if (listen === null) return;
    let waiting: StreamItem[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const flush = () => {
      timer = undefined;
      const news = waiting;
      waiting = [];
      setItems((known) => [...known, ...news].slice(-MAX_ITEMS));
    };
    const stop = listen((item) => {
      count.current += 1;
      const by = item.by === null ? null : latestNameOf.current(item.by);
      waiting.push(itemOfFeed(item, new Date(), count.current, by));
      if (waiting.length > MAX_ITEMS) waiting.shift();
      timer ??= setTimeout(flush, FLUSH_MS);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [listen]);
  return items;
}

/** Changes of documents since the page is shown. */
function useDocumentItems(roomId: string): readonly StreamItem[] {
  const { data } = useDocuments(roomId);
  const known = useRef(data);
  const [items, setItems] = useState<readonly StreamItem[]>([]);
  useEffect(() => {
    if (data === undefined) return;
    const news = known.current === undefined ? [] : changedDocuments(known.current, data, new Date());
    known.current = data;
    if (news.length > 0) setItems((before) => [...before, ...news].slice(-MAX_ITEMS));
  }, [data]);
  return items;
}
