/** The versions of the board, newest first: who did what, when, and a way back. */
import { useRoom, useUsers } from "atrium/react";
import { useEffect, useMemo, useState } from "react";
import { useMayWrite } from "../room/participants.ts";
import { ask } from "../room/visitor.ts";
import Side from "./side.tsx";
import type { PanelProps } from "./threads.ts";
import { type Change, entriesAt, type Past, type Version, versionsOf } from "./versions.ts";

/** Changes are listed again when the board has been still for this long. */
const STILL_MS = 1_000;
/** So many versions are shown at first, and more each time that they are asked for. */
const SHOWN = 50;

const STORES = ["notes", "shapes"] as const;

interface Page {
  readonly changes: readonly Change[];
  readonly dropped_seq: number;
  readonly has_more: boolean;
}

/** The kept changes of the board, and those that follow; null until they are loaded. */
function useHistory(): Past | null {
  const { client } = useRoom();
  const [past, setPast] = useState<Past | null>(null);
  useEffect(() => {
    let known: Past | null = null;
    /** The entries that are as they were before the oldest kept change. */
    const startAfter = (droppedSeq: number): Past["start"] =>
      STORES.flatMap((name) => {
        const store = client.store(name);
        return Object.entries(store.getAll())
          .filter(([key]) => store.getVersion(key) <= droppedSeq)
          .map(([key, value]) => ({ store: name, key, value }));
      });
    const read = async () => {
      for (let hasMore = true; hasMore; ) {
        const { start, changes = [] }: Partial<Past> = known ?? {};
        const page: Page = await ask("GET", `history?after=${changes.at(-1)?.seq ?? 0}`);
        known = { start: start ?? startAfter(page.dropped_seq), changes: [...changes, ...page.changes] };
        hasMore = page.has_more;
      }
      setPast(known);
    };
    let [timer, reading] = [0, read()];
    const readSoon = () => {
      clearTimeout(timer);
      timer = window.setTimeout(() => {
        reading = reading.then(read, read); // a failure is a toast
      }, STILL_MS);
    };
    const stops = STORES.map((name) => client.store(name).on("updated", readSoon));
    return () => {
      clearTimeout(timer);
      for (const stop of stops) stop();
    };
  }, [client]);
  return past;
}

const timeOf = (at: string): string => new Date(at).toLocaleTimeString([], { timeStyle: "medium" });

export default function History({ close }: PanelProps) {
  const { client } = useRoom();
  const past = useHistory();
  const versions = useMemo(() => (past === null ? [] : versionsOf(past).toReversed()), [past]);
  const [limit, setLimit] = useState(SHOWN);
  const shown = versions.slice(0, limit);
  const authorIds = [...new Set(shown.flatMap(({ by }) => by ?? []))];
  const authors = useUsers(authorIds);
  const mayEdit = useMayWrite("stores");
  const restore = ({ count }: Version) => {
    if (past === null) return;
    client.history.transaction(() => {
      for (const name of STORES) {
        const store = client.store(name);
        const [then, now] = [entriesAt(past, count, name), store.getAll()];
        for (const key of Object.keys(now)) if (!then.has(key)) void store.delete(key);
        for (const [key, value] of then)
          if (JSON.stringify(value) !== JSON.stringify(now[key])) void store.set(key, value);
      }
    });
  };
  return (
    <Side title="History" close={close}>
      {past === null && <p>Loading…</p>}
      <ol>
        {shown.map((version, index) => {
          const { at, by, count, deed } = version;
          const author = by === null ? { name: "Atrium" } : authors[authorIds.indexOf(by)];
          const name = author === undefined ? "…" : (author?.name ?? "A deleted user");
          return (
            <li key={count} className="row">
              <p>
                <b>{name}</b>
                <time dateTime={at}>{timeOf(at)}</time>
                <span className="excerpt">{deed}</span>
              </p>
              {mayEdit && index > 0 && (
                <button
                  type="button"
                  title="Restores notes and shapes; comments stay"
                  onClick={() => restore(version)}
                >
                  Restore
                </button>
              )}
            </li>
          );
        })}
        {versions.length > limit && (
          <li>
            <button type="button" onClick={() => setLimit(limit + SHOWN)}>
              Show earlier versions
            </button>
          </li>
        )}
      </ol>
    </Side>
  );
}
