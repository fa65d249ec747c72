/** Relative times and durations; the tooltip has the exact time. */
import { useEffect, useState } from "react";

const UNITS = [
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
  const found = UNITS.find((one) => Math.abs(seconds) >= one.seconds);
  return found === undefined ? "now" : relative.format(Math.trunc(seconds / found.seconds), found.unit);
}

const REFRESH_MS = 10_000;

export function Time({ at }: { readonly at: string }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), REFRESH_MS);
    return () => clearInterval(timer);
  }, []);
  const moment = new Date(at);
  return (
    <time dateTime={at} title={absolute.format(moment)}>
      {formatRelativeTime(moment.getTime(), Math.max(now, Date.now() - REFRESH_MS))}
    </time>
  );
}

/** A duration, such as "2 h 5 min". */
export function formatDuration(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}
