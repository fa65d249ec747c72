/** Time travel: the board as it was, moment by moment, and a way back. */

import { useComments, useRoom, useUsers } from "atrium/react";
import { useCallback, useEffect, useMemo, useState } from "react";
import { useMayWrite } from "../room/participants.ts";
import { ask } from "../room/visitor.ts";
import { boardAt, type Change, entriesAt, type Moment, momentsOf, type Past, readPast } from "./replay.ts";
import type { PanelProps } from "./threads.ts";

/** The next moment follows after this time, at a speed of 1. */
const STEP_MS = 800;
const SPEEDS = [1, 4, 16];
/** Changes are listed again when the board has been still for this long. */
const STILL_MS = 1_000;

const STORES = ["notes", "shapes"] as const;

interface Page {
  readonly changes: readonly Change[];
  readonly dropped_seq: number;
  readonly has_more: boolean;
}

/** The kept changes of the board, read again as it changes. */
function useHistory(isLive: boolean): { past: Past | null; error: string } {
  const { client } = useRoom();
  const [comments] = useComments();
  const [past, setPast] = useState<Past | null>(null);
  const [error, setError] = useState("");
  const read = useCallback(async () => {
    const changes: Change[] = [];
    for (;;) {
      const page = await ask<Page>("GET", `history?after=${changes.at(-1)?.seq ?? 0}`);
      changes.push(...page.changes);
      if (page.has_more) continue;
      const present = STORES.flatMap((name) => {
        const store = client.store(name);
        return Object.entries(store.getAll()).map(([key, value]) => {
          return { store: name, key, value, version: store.getVersion(key) };
        });
      });
      const seqOf = (id: string) => changes.findLast(({ key }) => key === id)?.seq ?? 0;
      const known = (page.dropped_seq === 0 ? [] : comments).map((value) => {
        return { store: null, key: value.id, value, version: seqOf(value.id) };
      });
      return setPast(readPast(changes, page.dropped_seq, [...present, ...known]));
    }
  }, [client, comments]);
  useEffect(() => {
    if (!isLive) return;
    let timer = 0;
    const load = () => {
      read().then(
        () => setError(""),
        (reason: Error) => setError(reason.message),
      );
    };
    const loadSoon = () => {
      clearTimeout(timer);
      timer = window.setTimeout(load, STILL_MS);
    };
    load();
    const stops = STORES.map((name) => client.store(name).on("updated", loadSoon));
    return () => {
      clearTimeout(timer);
      for (const stop of stops) stop();
    };
  }, [client, isLive, read]);
  return { past, error };
}

const timeOf = (at: string): string => new Date(at).toLocaleTimeString([], { timeStyle: "medium" });

/** Calls `step` again and again while it plays. */
function usePlaying(isPlaying: boolean, speed: number, step: () => void): void {
  useEffect(() => {
    if (!isPlaying) return;
    const timer = setTimeout(step, STEP_MS / speed);
    return () => clearTimeout(timer);
  });
}

export default function TimeTravel({ close, setPast }: PanelProps) {
  const { client } = useRoom();
  /** The number of moments that have passed; null for the present. */
  const [at, setAt] = useState<number | null>(null);
  const [isPlaying, setPlaying] = useState(false);
  const [speed, setSpeed] = useState(1);
  const { past, error } = useHistory(at === null);
  const moments = useMemo(() => (past === null ? [] : momentsOf(past)), [past]);
  const shown = at ?? moments.length;
  const by = moments[shown - 1]?.by;
  const [person] = useUsers(by ? [by] : []);
  const mayEdit = useMayWrite("stores");

  const show = (next: number) => {
    const isNow = past === null || next >= moments.length;
    if (isNow) setPlaying(false);
    setAt(isNow ? null : next);
    const count = moments[next - 1]?.count ?? 0;
    setPast(isNow ? null : boardAt(past, count));
  };
  usePlaying(isPlaying, speed, () => show(shown + 1));
  useEffect(() => () => setPast(null), [setPast]);
  const play = () => {
    if (!isPlaying && at === null) show(0);
    setPlaying(!isPlaying && moments.length > 0);
  };
  const restore = () => {
    if (past === null) return;
    const count = moments[shown - 1]?.count ?? 0;
    client.history.transaction(() => {
      for (const name of STORES) {
        const store = client.store(name);
        const [then, now] = [entriesAt(past, count, name), store.getAll()];
        for (const key of Object.keys(now)) if (!Object.hasOwn(then, key)) void store.delete(key);
        for (const [key, value] of Object.entries(then))
          if (JSON.stringify(value) !== JSON.stringify(now[key])) void store.set(key, value);
      }
    });
    show(moments.length);
  };

  const describe = (): string => {
    const moment = moments[shown - 1];
    if (moment === undefined) {
      return past?.isWhole === false
        ? "The oldest known state: earlier changes are no longer kept"
        : "The board was empty";
    }
    return `${timeOf(moment.at)} · ${sayDeed(moment)}`;
  };
  const sayDeed = ({ by, deed, count }: Moment): string => {
    if (by === null)
      return count === moments[0]?.count && past?.isWhole ? "The board was opened" : `Atrium ${deed}`;
    return `${person === undefined ? "…" : (person?.name ?? "A deleted user")} ${deed}`;
  };
  const status = error || (past === null ? "Loading…" : describe());
  return (
    <section
      className="history"
      aria-label="History"
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.key === "Escape") close();
      }}
    >
      <p role={error ? "alert" : undefined}>
        <span>
          {at === null || <b>Past</b>} {status}
        </span>
        <button type="button" className="close" aria-label="Close history" onClick={close}>
          ×
        </button>
      </p>
      <div>
        <button type="button" className="primary" disabled={moments.length === 0} onClick={play}>
          {isPlaying ? "Pause" : "Play"}
        </button>
        <button
          type="button"
          aria-label={`Speed: ${speed} times`}
          onClick={() => setSpeed(SPEEDS[(SPEEDS.indexOf(speed) + 1) % SPEEDS.length] ?? 1)}
        >
          {speed}×
        </button>
        <input
          type="range"
          aria-label="Moment"
          aria-valuetext={status}
          min={0}
          max={moments.length}
          value={shown}
          disabled={moments.length === 0}
          onChange={({ target }) => {
            setPlaying(false);
            show(Number(target.value));
          }}
        />
        <button
          type="button"
          aria-label="Restore this moment"
          title="Restores notes and shapes; comments stay"
          disabled={at === null || !mayEdit}
          onClick={restore}
        >
          Restore
        </button>
        <button type="button" disabled={at === null} onClick={() => show(moments.length)}>
          Back to now
        </button>
      </div>
    </section>
  );
}
