/** Times, durations and sizes in text. */
import { useEffect, useReducer } from "react";

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

/** Such as "3 minutes ago" or "in 2 hours". */
function formatRelativeTime(at: number, now: number): string {
  const seconds = Math.round((at - now) / 1000);
  const found = TIME_UNITS.find((one) => Math.abs(seconds) >= one.seconds);
  return found === undefined ? "now" : relative.format(Math.trunc(seconds / found.seconds), found.unit);
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

/** A relative time; the tooltip has the exact one. */
export function Time({ at }: { readonly at: string }) {
  useTick(REFRESH_MS);
  const moment = new Date(at);
  return (
    <time dateTime={at} title={absolute.format(moment)}>
      {formatRelativeTime(moment.getTime(), Date.now())}
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

/** A duration of milliseconds, such as "80 ms" or "1.4 s". */
export const formatMs = (ms: number): string => (ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`);

/** A duration, such as "2 h 5 min". */
export function formatDuration(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

const SIZE_UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

/** A size, for example "1.5 MiB". */
export function formatSize(bytes: number): string {
  const power = Math.min(SIZE_UNITS.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  return `${(bytes / 1024 ** power).toLocaleString("en", { maximumFractionDigits: 1 })} ${SIZE_UNITS[power]}`;
}
