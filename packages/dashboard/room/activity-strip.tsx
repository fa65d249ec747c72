/** The last hour of a room, minute by minute. */
import { MINUTE_MS } from "@atrium/contract/time.ts";
import { useTick } from "../ui/time.tsx";

/** What happened, by the minute since the epoch. */
export type Minutes = ReadonlyMap<number, number>;

export const minuteOf = (at: string): number => Math.floor(Date.parse(at) / MINUTE_MS);

const SHOWN = 60;
const REFRESH_MS = 15_000;
const clock = new Intl.DateTimeFormat("en", { hour: "2-digit", minute: "2-digit", hour12: false });

export function ActivityStrip({ minutes }: { readonly minutes: Minutes }) {
  useTick(REFRESH_MS);
  const first = Math.floor(Date.now() / MINUTE_MS) - SHOWN + 1;
  const counts = Array.from({ length: SHOWN }, (_, index) => minutes.get(first + index) ?? 0);
  const total = counts.reduce((sum, count) => sum + count, 0);
  const most = Math.max(4, ...counts);
  const busiest = counts.indexOf(Math.max(...counts));
  const peak = clock.format((first + busiest) * MINUTE_MS);
  const label =
    total === 0
      ? "Nothing in the last 60 minutes"
      : total === 1
        ? `1 event in the last 60 minutes, at ${peak}`
        : `${total.toLocaleString("en")} events in the last 60 minutes, most at ${peak}`;
  return (
    <figure className="activity">
      <figcaption className="soft small">
        {label} <span>Events of the log, and writes and broadcasts since this page is open.</span>
      </figcaption>
      <svg viewBox={`0 0 ${SHOWN} ${most}`} preserveAspectRatio="none" role="img" aria-label={label}>
        {counts.map((count, index) => (
          <rect
            // biome-ignore lint/suspicious/noArrayIndexKey: a minute is its place
            key={index}
            x={index + 0.15}
            width={0.7}
            y={most - count}
            height={count}
          />
        ))}
      </svg>
    </figure>
  );
}
