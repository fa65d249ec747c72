/** Time on the wire: output in ISO 8601, input in strict RFC 3339 or as a UTC date. */
import * as z from "zod";

const TWO_DIGITS = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, "0"));

/** The day that was presented last, by its number since 1970, with its date up to the `T`. */
let latest = { day: Number.NaN, date: "" };

/** ISO 8601 with milliseconds. The runtime's own takes six times as long, mostly for the date. */
export function presentTime(epochMs: number): string {
  const ms = Math.trunc(epochMs);
  const day = Math.floor(ms / DAY_MS);
  if (day !== latest.day)
    latest = { day, date: new Date(day * DAY_MS).toISOString().slice(0, -"00:00:00.000Z".length) };
  const ofDay = ms - day * DAY_MS;
  const seconds = Math.floor(ofDay / 1000);
  const minutes = Math.floor(seconds / 60);
  const hour = TWO_DIGITS[Math.floor(minutes / 60)];
  const fraction = String(ofDay % 1000).padStart(3, "0");
  return `${latest.date}${hour}:${TWO_DIGITS[minutes % 60]}:${TWO_DIGITS[seconds % 60]}.${fraction}Z`;
}

export const presentNullableTime = (epochMs: number | null): string | null =>
  epochMs === null ? null : presentTime(epochMs);

export const Timestamp = z.string().meta({ format: "date-time", example: "2026-01-31T09:30:00.000Z" });

const RFC_3339 =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(?:[Zz]|([+-])(\d{2}):(\d{2})))?$/;

/** The days that began after a leap second, which clocks write as 23:59:60. No further one is announced. */
const AFTER_LEAP_SECONDS: ReadonlySet<number> = new Set([
  ...[1972, 1981, 1982, 1983, 1985, 1992, 1993, 1994, 1997, 2012, 2015].map((year) => Date.UTC(year, 6, 1)),
  ...[1973, 1974, 1975, 1976, 1977, 1978, 1979, 1980, 1988, 1990, 1991, 1996, 1999, 2006, 2009, 2017].map(
    (year) => Date.UTC(year, 0, 1),
  ),
]);

/**
 * Epoch ms; null unless RFC 3339. A bare date covers its UTC day. Fractions, and a leap second, which epoch time leaves out,
 * round towards the inside.
 */
export function parseTime(value: string, end: "from" | "to"): number | null {
  const match = RFC_3339.exec(value);
  if (match === null) return null;
  const [, year, month, day, hour, minute, second, fraction = "", sign, zoneHour, zoneMinute] = match;
  const midnight = new Date(0);
  midnight.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  if (midnight.toISOString().slice(0, 10) !== value.slice(0, 10)) return null;
  if (hour === undefined) return end === "from" ? midnight.getTime() : midnight.getTime() + DAY_MS - 1;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60) return null;
  if (Number(zoneHour ?? 0) > 23 || Number(zoneMinute ?? 0) > 59) return null;
  const millis = Number(fraction.slice(0, 3).padEnd(3, "0"));
  const finer = end === "from" && /[1-9]/.test(fraction.slice(3)) ? 1 : 0;
  const offsetMinutes = (sign === "-" ? -1 : 1) * (Number(zoneHour ?? 0) * 60 + Number(zoneMinute ?? 0));
  const wholeSecond =
    midnight.getTime() + ((Number(hour) * 60 + Number(minute) - offsetMinutes) * 60 + Number(second)) * 1000;
  if (second !== "60") return wholeSecond + millis + finer;
  if (!AFTER_LEAP_SECONDS.has(wholeSecond)) return null;
  return end === "from" ? wholeSecond : wholeSecond - 1;
}

const parsedBy = (parse: (value: string) => number | null, refusal: string) =>
  z
    .string()
    .transform((value, context) => {
      const parsed = parse(value);
      if (parsed === null) context.addIssue(refusal);
      return parsed ?? z.NEVER;
    })
    .pipe(z.number()); // so that the package can print what it becomes

/** One end of a span of time in a request, in epoch milliseconds; see {@link parseTime}. `hint` follows the refusal. */
export const timeInput = (end: "from" | "to", hint = "") =>
  parsedBy(
    (value) => parseTime(value, end),
    `must be a date or an RFC 3339 timestamp with a time zone${hint}`,
  );

/** A moment in a request, in epoch milliseconds. A bare date is none. */
export const momentInput = () =>
  parsedBy(
    (value) => (value.includes(":") ? parseTime(value, "to") : null),
    "must be an RFC 3339 timestamp with a time zone, such as 2026-01-31T09:30:00Z",
  );

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/**
 * A number above all that a counter has had until `now` (epoch ms), also in a history that is lost: nothing counts a thousand
 * in each millisecond. Safe integers end in the year 2255.
 */
export const unusedNumber = (now: number): number => now * 1_000;
