/** The timeline of a room: its events, changes of its documents and, while watching live, broadcasts and writes. */

import { HOUR_MS } from "@atrium/contract/time.ts";
import { useQueryClient } from "@tanstack/react-query";
import type { EventPage } from "atrium/server";
import { useEffect, useMemo, useRef, useState } from "react";
import { useFilters } from "../data/filters.ts";
import { useApiQuery, useKey } from "../data/organization.tsx";
import { useDocuments } from "../documents/documents-part.tsx";
import { LIVE_REFRESH_MS, useLive, useNames } from "../live/live.tsx";
import {
  changedDocuments,
  type FeedItem,
  itemOfEvent,
  itemOfFeed,
  KINDS,
  MAX_ITEMS,
  mergeItems,
  type StreamItem,
} from "../live/stream.ts";
import { Button, ScrollBox } from "../ui/button.tsx";
import { Details, ErrorMessage, Loading } from "../ui/feedback.tsx";
import { JsonTree } from "../ui/json-tree.tsx";
import { FilterSelect } from "../ui/list-filters.tsx";
import { Section } from "../ui/page.tsx";
import { Time } from "../ui/time.tsx";
import { type Minutes, minuteOf } from "./activity-strip.tsx";

interface TimelineProps {
  readonly roomId: string;
  readonly stream: ReturnType<typeof useStream>;
}

export function Timeline({ roomId, stream: { items, error } }: TimelineProps) {
  const { client } = useLive();
  const { users = [] } = useNames(roomId);
  const filters = useFilters();
  const [kind, by] = [filters.get("kind"), filters.get("by")];
  const [paused, setPaused] = useState<readonly StreamItem[] | null>(null);
  const isShown = (item: StreamItem) =>
    (kind === "" || item.kind === kind) && (by === "" || item.userId === by);
  const shown = (paused ?? items)?.filter(isShown);
  const seen = new Set(paused?.map(({ id }) => id));
  const news = items?.filter((item) => isShown(item) && !seen.has(item.id)).length ?? 0;
  return (
    <Section
      id="timeline"
      title="Timeline"
      beside={
        <>
          <FilterSelect
            label="Events to show"
            filters={filters}
            name="kind"
            all="All events"
            options={KINDS}
          />
          <FilterSelect
            label="Events of"
            filters={filters}
            name="by"
            all="All users"
            options={Object.fromEntries(users.map(({ id, name }) => [id, name]))}
          />
          {items !== undefined && (
            <Button
              icon={paused === null ? "pause" : "run"}
              onClick={() => setPaused(paused === null ? items : null)}
            >
              {paused === null ? "Pause" : news === 0 ? "Resume" : `Resume (${news} new)`}
            </Button>
          )}
        </>
      }
    >
      <ErrorMessage error={error} />
      {shown === undefined && !error && <Loading shape="list" />}
      {shown?.length === 0 && (
        <p className="soft">
          {kind + by === "" ? "Nothing has happened." : "Nothing like this has happened."}
        </p>
      )}
      {shown && shown.length > 0 && <Items items={shown} />}
      <p className="soft small">
        {client === null
          ? "The last hour, without broadcasts and single writes to stores, which only the live stream has."
          : "The last hour, and everything as it happens."}
      </p>
    </Section>
  );
}

const Items = ({ items }: { readonly items: readonly StreamItem[] }) => (
  <ScrollBox className="stream" label="Events">
    <ol className="records">
      {items.map(({ id, at, kind, text, value }) => (
        <li key={id}>
          <Details
            summary={
              <>
                <span className="soft small kind">{KINDS[kind]}</span>
                <span className="grow">{text}</span>
                <Time at={at} />
              </>
            }
          >
            <div className="detail">
              <JsonTree value={value} isOpen />
            </div>
          </Details>
        </li>
      ))}
    </ol>
  </ScrollBox>
);

type RoomEvent = EventPage["events"][number];

const MAX_EVENTS = 50;

interface EventHistory {
  readonly events: readonly RoomEvent[];
  /** Their number in each minute, with those that are left out. */
  readonly minutes: Minutes;
  /** The cursor of the next read. */
  readonly cursor: string;
}

function count(minutes: Map<number, number>, at: string): void {
  const minute = minuteOf(at);
  minutes.set(minute, (minutes.get(minute) ?? 0) + 1);
}

/** Beside the stream, the log is read for what the stream does not have, such as files. */
const LOG_REFRESH_MS = 5000;

/** Events of the event log, newest first, continued while the page is open. */
function useRoomEvents(roomId: string) {
  const { client } = useLive();
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
      const minutes = new Map(known?.minutes);
      for await (const page of atrium.events.pages({ roomId, limit: 100, ...since })) {
        events = [...page.events.toReversed(), ...events].slice(0, MAX_EVENTS);
        cursor = page.cursor;
        for (const { timestamp } of page.events) count(minutes, timestamp);
      }
      return { events, minutes, cursor };
    },
    { refetchInterval: client === null ? LIVE_REFRESH_MS : LOG_REFRESH_MS, structuralSharing: false },
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

/** The page is drawn again at most this often. */
const FLUSH_MS = 250;

/** The events of the room, newest first, and their number in each minute. */
export function useStream(roomId: string) {
  const { data, error } = useRoomEvents(roomId);
  const { nameOf } = useNames(roomId);
  const [openedAt] = useState(() => new Date().toISOString());
  const { arrivals, seen } = useArrivals();
  const documents = useDocumentItems(roomId);
  const items = useMemo(() => {
    const logged = data?.events.filter((event) => !isSeenAnyway(event, openedAt)) ?? [];
    const events = logged.map((event) => itemOfEvent(event, nameOf));
    const written = arrivals.map(({ item, at, number }) => itemOfFeed(item, at, number, nameOf));
    return mergeItems(events, written, documents);
  }, [data, arrivals, documents, openedAt, nameOf]);
  const minutes = useMemo(() => {
    const all = new Map(data?.minutes);
    for (const [minute, number] of seen) all.set(minute, (all.get(minute) ?? 0) + number);
    return all;
  }, [data, seen]);
  return { items: data === undefined ? undefined : items, minutes, error };
}

interface Arrival {
  readonly item: FeedItem;
  readonly at: Date;
  readonly number: number;
}

const NO_ARRIVALS: { readonly arrivals: readonly Arrival[]; readonly seen: Minutes } = {
  arrivals: [],
  seen: new Map(),
};

/** The messages of the room since the page is shown: they can arrive before the names of its users. */
function useArrivals() {
  const { listen } = useLive();
  const [known, setKnown] = useState(NO_ARRIVALS);
  const number = useRef(0);
  useEffect(() => {
    if (listen === null) return;
    let waiting: Arrival[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const flush = () => {
      timer = undefined;
      const news = waiting;
      waiting = [];
      setKnown(({ arrivals, seen }) => {
        const minutes = new Map(seen);
        for (const { at } of news) count(minutes, at.toISOString());
        return { arrivals: [...arrivals, ...news].slice(-MAX_ITEMS), seen: minutes };
      });
    };
    const stop = listen((item) => {
      number.current += 1;
      waiting.push({ item, at: new Date(), number: number.current });
      timer ??= setTimeout(flush, FLUSH_MS);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [listen]);
  return known;
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
