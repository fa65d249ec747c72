/** The stores of a room, and the pages of a store's entries in the order of their keys. */
import type { Entry } from "atrium/server";
import { useState } from "react";
import { orNull, useApiQuery } from "../data/organization.tsx";
import { LIVE_REFRESH_MS } from "../live/live.tsx";
import { Button } from "../ui/button.tsx";

export const useStores = (roomId: string) =>
  useApiQuery(["room", roomId, "stores"], ({ stores }) => stores.list(roomId), {
    refetchInterval: LIVE_REFRESH_MS,
  });

/** Larger pages are slow to render. */
const PAGE_SIZE = 100;

/** One page at a time, however many there are. `prefix` is the beginning of the keys; empty for all. */
export function useEntryPage(roomId: string, store: string, prefix = "") {
  /** The last key of each page before this one. */
  const [passed, setPassed] = useState<{ readonly prefix: string; readonly keys: readonly string[] }>({
    prefix,
    keys: [],
  });
  const keys = passed.prefix === prefix ? passed.keys : [];
  const after = keys.at(-1);
  const query = useApiQuery(
    ["room", roomId, "entries", store, { prefix, after }],
    async ({ stores }) => {
      // The keys that begin with a text follow it; the text itself may be one.
      const from = after ?? (prefix === "" ? undefined : prefix);
      const [page, exact] = await Promise.all([
        stores.getPage(roomId, store, { limit: PAGE_SIZE, ...(from !== undefined && { after: from }) }),
        prefix !== "" && after === undefined ? orNull(stores.get(roomId, store, prefix)) : null,
      ]);
      const found = Object.entries(page.entries).filter(([one]) => one.startsWith(prefix));
      const entries: readonly (readonly [key: string, entry: Entry])[] =
        exact === null ? found : [[prefix, exact], ...found];
      return {
        entries: entries.toSorted(([a], [b]) => (a < b ? -1 : 1)),
        next: page.next?.startsWith(prefix) ? page.next : undefined,
      };
    },
    { refetchInterval: LIVE_REFRESH_MS },
  );
  const next = query.data?.next;
  const position = {
    /** The number of entries on earlier pages. */
    offset: keys.length * PAGE_SIZE,
    hasNext: next !== undefined,
    goNext: () => next !== undefined && setPassed({ prefix, keys: [...keys, next] }),
    goBack: () => setPassed({ prefix, keys: keys.slice(0, -1) }),
  };
  return { query, position };
}

interface EntryPagerProps {
  readonly position: ReturnType<typeof useEntryPage>["position"];
  /** The number of entries on the page. */
  readonly shown: number;
  /** The number of entries in the store, if known. */
  readonly total: number | undefined;
  readonly store: string;
}

export function EntryPager({ position, shown, total, store }: EntryPagerProps) {
  const { offset, hasNext, goNext, goBack } = position;
  if (offset === 0 && !hasNext) return null;
  return (
    <nav className="pager" aria-label={`Pages of ${store}`}>
      <span className="soft" role="status">
        {(offset + 1).toLocaleString("en")}–{(offset + shown).toLocaleString("en")}
        {total !== undefined && ` of ${total.toLocaleString("en")}`}
      </span>
      <Button icon="left" disabled={offset === 0} onClick={goBack}>
        Previous
      </Button>
      <Button icon="right" disabled={!hasNext} onClick={goNext}>
        Next
      </Button>
    </nav>
  );
}
