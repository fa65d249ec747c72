/** Times, durations and sizes in text. */
import { useEffect, useReducer } from "react";

export { formatDuration, formatMs } from "./duration.ts";

const TIME_UNITS = [
  { unit: "year", seconds: 31_536_000 },
  { unit: "month", seconds: 2_592_000 },
  { unit: "day", seconds: 86_400 },
  { unit: "hour", seconds: 3600 },
  { unit: "minute", seconds: 60 },
  { unit: "second", seconds: 1 },
] as const;

const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const absolute = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "medium" });
const day = new Intl.DateTimeFormat("en", { dateStyle: "medium" });
const hour = new Intl.DateTimeFormat("en", {
  year: "numeric",
  month: "short",
  day: "numeric",
  hour: "numeric",
});

/** Such as "3 minutes ago" or "in 2 hours"; null within `least` seconds. */
function formatRelativeTime(at: number, now: number, least: number): string | null {
  const seconds = Math.round((at - now) / 1000);
  const found = TIME_UNITS.find((one) => Math.abs(seconds) >= one.seconds);
  if (found === undefined || found.seconds < least) return null;
  return relative.format(Math.trunc(seconds / found.seconds), found.unit);
}

/** Renders the component again and again, because time passes. */
export function useTick(intervalMs: number): void {
  const [, tick] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    const timer = setInterval(tick, intervalMs);
    return () => clearInterval(timer);
  }, [intervalMs]);
}

const REFRESH_MS = 10_000;

interface TimeProps {
  readonly at: string;
  /** Shown for a planned time that has come. */
  readonly due?: string;
}

/** A relative time; the tooltip has the exact one. */
export function Time({ at, due }: TimeProps) {
  useTick(REFRESH_MS);
  const moment = new Date(at);
  const now = Date.now();
  return (
    <time dateTime={at} title={absolute.format(moment)}>
      {(moment.getTime() <= now && due) || (formatRelativeTime(moment.getTime(), now, 1) ?? "just now")}
    </time>
  );
}

const HOUR_SECONDS = 3600;

/** A relative time that is known to the hour. */
export function HourlyTime({ at }: { readonly at: string }) {
  useTick(REFRESH_MS);
  const moment = new Date(at);
  return (
    <time dateTime={at} title={hour.format(moment)}>
      {formatRelativeTime(moment.getTime(), Date.now(), HOUR_SECONDS) ?? "within the last hour"}
    </time>
  );
}

/** A date, for sentences; the tooltip has the time, too. */
export function Day({ at }: { readonly at: string }) {
  const moment = new Date(at);
  return (
    <time dateTime={at} title={absolute.format(moment)}>
      {day.format(moment)}
    </time>
  );
}

/** A time, or "never". */
export const OptionalTime = ({ at }: { readonly at: string | null | undefined }) =>
  at ? <Time at={at} /> : <span className="soft">never</span>;

/** Value for a field of type `datetime-local`: the person's local time, to the minute. */
export const toLocal = (epochMs: number): string => {
  const offsetMs = new Date(epochMs).getTimezoneOffset() * 60_000;
  return new Date(epochMs - offsetMs).toISOString().slice(0, 16);
};

const SIZE_UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

/** A size, for example "1.5 MiB". */
export function formatSize(bytes: number): string {
  const power = Math.min(SIZE_UNITS.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  return `${(bytes / 1024 ** power).toLocaleString("en", { maximumFractionDigits: 1 })} ${SIZE_UNITS[power]}`;
}
