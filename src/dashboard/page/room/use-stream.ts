/** What happens in a room: its events, what its documents become and, while watching live, broadcasts and writes. */
import { useEffect, useMemo, useRef, useState } from "react";
import { useDocuments } from "../documents/use-documents.ts";
import { useLive } from "../live/live.tsx";
import { useNames } from "../live/use-names.ts";
import { isSeenAnyway, itemOfEvent } from "./event-item.ts";
import { changedDocuments, itemOfFeed, MAX_ITEMS, mergeItems, type StreamItem } from "./stream.ts";
import { useRoomEvents } from "./use-room-events.ts";

/** However much is written, the page is drawn again only so often. */
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
  const { feed } = useLive();
  const { nameOf } = useNames(roomId);
  const latestNameOf = useRef(nameOf);
  latestNameOf.current = nameOf;
  const [items, setItems] = useState<readonly StreamItem[]>([]);
  const count = useRef(0);
  useEffect(() => {
    if (feed === null) return;
    let waiting: StreamItem[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const flush = () => {
      timer = undefined;
      const news = waiting;
      waiting = [];
      setItems((known) => [...known, ...news].slice(-MAX_ITEMS));
    };
    const stop = feed.listen((item) => {
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
  }, [feed]);
  return items;
}

/** What has become of documents since the page is shown. */
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
