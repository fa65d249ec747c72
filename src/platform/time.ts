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

/** Epoch ms; null unless RFC 3339. A bare date covers its UTC day, and fractions round towards the inside. */
export function parseTime(value: string, end: "from" | "to"): number | null {
  const match = RFC_3339.exec(value);
  if (match === null) return null;
  const [, year, month, day, hour, minute, second, fraction = "", sign, zoneHour, zoneMinute] = match;
  const midnight = new Date(0);
  midnight.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  if (midnight.toISOString().slice(0, 10) !== value.slice(0, 10)) return null;
  if (hour === undefined) return end === "from" ? midnight.getTime() : midnight.getTime() + DAY_MS - 1;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return null;
  if (Number(zoneHour ?? 0) > 23 || Number(zoneMinute ?? 0) > 59) return null;
  const millis = Number(fraction.slice(0, 3).padEnd(3, "0"));
  const finer = end === "from" && /[1-9]/.test(fraction.slice(3)) ? 1 : 0;
  const offsetMinutes = (sign === "-" ? -1 : 1) * (Number(zoneHour ?? 0) * 60 + Number(zoneMinute ?? 0));
  return (
    midnight.getTime() +
    ((Number(hour) * 60 + Number(minute) - offsetMinutes) * 60 + Number(second)) * 1000 +
    millis +
    finer
  );
}

/** One end of a span of time in a request, in epoch milliseconds; see {@link parseTime}. `hint` follows the refusal. */
export const timeInput = (end: "from" | "to", hint = "") =>
  z
    .string()
    .transform((value, context) => {
      const parsed = parseTime(value, end);
      if (parsed === null)
        context.addIssue(`must be a date or an RFC 3339 timestamp with a time zone${hint}`);
      return parsed ?? z.NEVER;
    })
    .pipe(z.number()); // so that the package can print what it becomes

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;
