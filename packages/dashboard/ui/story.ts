/** The state of webhooks and workflows in sentences, their attempts over time, and neighbours with equal errors. Pure. */

import type { DeliveryStats } from "@atrium/contract/rest/deliveries.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "@atrium/contract/time.ts";
import { formatDuration } from "./duration.ts";

export type Kind = "webhooks" | "workflows";

/** The stats of the last 24 hours that the sentences need. */
export type Attempts = Pick<
  DeliveryStats,
  "succeeded" | "failed" | "waiting" | "oldest_waiting_since" | "failing" | "last_success_at"
>;

interface Subscriber {
  readonly enabled: boolean;
  readonly disabled_reason?: string | undefined;
}

export interface Story {
  readonly state: "failing" | "disabled" | "going" | "quiet" | "new";
  readonly title: string;
  readonly text: string;
}

const WORDS = {
  webhooks: {
    going: "Delivering.",
    one: "attempt",
    many: "attempts",
    succeeded: "arrived",
    waiting: ["1 event waits.", "events wait."],
    new: ["No event yet.", "A test event shows whether the endpoint accepts it."],
    disabled: "It receives no events until it is enabled.",
  },
  workflows: {
    going: "Running.",
    one: "run",
    many: "runs",
    succeeded: "succeeded",
    waiting: ["1 run waits.", "runs wait."],
    new: ["No run yet.", "Its first event starts it, or Run starts it now."],
    disabled: "Nothing starts it until it is enabled.",
  },
} as const;

const count = (number: number): string => number.toLocaleString("en");

const timeOfDay = new Intl.DateTimeFormat("en", { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const day = new Intl.DateTimeFormat("en", { day: "numeric", month: "short" });

/** Such as "14:02", or "31 Jan, 14:02" of another day than `now` (epoch ms). */
export function clock(at: number, now: number): string {
  const time = timeOfDay.format(at);
  return day.format(at) === day.format(now) ? time : `${day.format(at)}, ${time}`;
}

/** Such as "2 min ago"; "just now" within a minute. */
const ago = (at: string, now: number): string => {
  const seconds = Math.floor((now - Date.parse(at)) / 1000);
  return seconds < 60 ? "just now" : `${formatDuration(seconds)} ago`;
};

/** An error as the rest of a sentence, without its end: "the receiver answered 503", "TypeError: No tea at line 4". */
export function errorWords(error: string): string {
  const line = (error.split("\n", 1)[0] ?? "").replace(/ \(line (\d+)\)$/, " at line $1").replace(/\.$/, "");
  return line.replace(/^(The|A|An|No|Not) /, (word) => word.toLowerCase());
}

/** The state of a webhook or workflow, by its stats of the last 24 hours at `now` (epoch ms). */
export function storyOf(kind: Kind, subscriber: Subscriber, attempts: Attempts, now: number): Story {
  const words = WORDS[kind];
  const { failing, waiting, succeeded, failed, last_success_at: last } = attempts;
  const waits =
    waiting === 0 ? "" : waiting === 1 ? words.waiting[0] : `${count(waiting)}\u00a0${words.waiting[1]}`;
  if (!subscriber.enabled)
    return subscriber.disabled_reason === undefined
      ? { state: "disabled", title: "Disabled.", text: words.disabled }
      : { state: "disabled", title: "Disabled by the service.", text: subscriber.disabled_reason };
  if (failing !== null) {
    const title = `Failing since ${clock(Date.parse(failing.since), now)}: ${errorWords(failing.error)}.`;
    return { state: "failing", title, text: sentences(nextTry(failing.next_attempt_at, now), waits) };
  }
  const all = succeeded + failed;
  if (all === 0 && last === null) return { state: "new", title: words.new[0], text: waits || words.new[1] };
  if (all === 0)
    return {
      state: "quiet",
      title: "Quiet.",
      text: sentences(
        `No ${words.one} in the last 24 hours${last === null ? "" : `; the latest ${words.succeeded} ${ago(last, now)}`}.`,
        waits,
      ),
    };
  return { state: "going", title: words.going, text: sentences(sayAttempts(kind, attempts, now), waits) };
}

const sentences = (...some: readonly string[]): string => some.filter(Boolean).join(" ");

function sayAttempts(
  kind: Kind,
  { succeeded, failed, last_success_at: last }: Attempts,
  now: number,
): string {
  const { one, many, succeeded: done } = WORDS[kind];
  const all = succeeded + failed;
  const latest = last === null ? "" : `, the latest ${ago(last, now)}`;
  if (failed > 0)
    return `${count(failed)} of ${count(all)} ${all === 1 ? one : many} in the last 24 hours failed${last === null ? "" : `; the latest ${done} ${ago(last, now)}`}.`;
  if (all === 1) return `The only ${one} of the last 24 hours ${done}${latest.replace(" the latest", "")}.`;
  return `All ${count(all)} ${many} of the last 24 hours ${done}${latest}.`;
}

function nextTry(at: string | null, now: number): string {
  if (at === null) return "";
  const seconds = Math.ceil((Date.parse(at) - now) / 1000);
  return seconds <= 0 ? "Next try any moment." : `Next try in ${formatDuration(seconds)}.`;
}

/** The queue may have been late by this: an event that ended without an attempt can be older than the failures. */
const LATENESS_MS = HOUR_MS;

/** The replay that sends again what has failed since the webhook fails, and tries what waits. */
export function replayOfFailures({ failing }: Pick<Attempts, "failing">): {
  readonly from: string;
  readonly status: "failed";
} {
  const since = failing === null ? Date.now() : Date.parse(failing.since);
  return { from: new Date(since - LATENESS_MS).toISOString(), status: "failed" };
}

/** The section of the guide about the state. */
export function guideOf(kind: Kind, error: string | null): string {
  if (kind === "webhooks")
    return error !== null && /not allowed|public/.test(error)
      ? "/docs/guides/webhooks#where-webhooks-may-go"
      : "/docs/guides/webhooks#retries";
  return error !== null && /limit|killed|too (long|much|many)/.test(error)
    ? "/docs/guides/workflows#limits-of-a-run"
    : "/docs/guides/workflows#the-log-of-a-run";
}

/** The time that a bar stands for. */
const STEPS_MS = { "1h": 5 * MINUTE_MS, "24h": HOUR_MS, "7d": 6 * HOUR_MS, "30d": DAY_MS } as const;

export interface Bar {
  /** Epoch milliseconds. */
  readonly from: number;
  readonly to: number;
  readonly succeeded: number;
  readonly failed: number;
}

type Counted = Pick<DeliveryStats, "range"> & {
  readonly points: readonly Pick<DeliveryStats["points"][number], "at" | "succeeded" | "failed">[];
};

/** The attempts of equal times, which begin at whole hours, quarters of days or days of the person. */
export function barsOf({ range, points }: Counted): readonly Bar[] {
  const step = STEPS_MS[range];
  const beginOf = (at: string) => {
    const offset = new Date(at).getTimezoneOffset() * MINUTE_MS;
    return Math.floor((Date.parse(at) - offset) / step) * step + offset;
  };
  return [...Map.groupBy(points, ({ at }) => beginOf(at))].map(([from, some]) => ({
    from,
    to: from + step,
    succeeded: some.reduce((sum, { succeeded }) => sum + succeeded, 0),
    failed: some.reduce((sum, { failed }) => sum + failed, 0),
  }));
}

/** Such as "14:00 to 15:00", or "31 Jan" for a whole day. */
const sayTime = ({ from, to }: Bar, now: number): string =>
  to - from >= DAY_MS ? day.format(from) : `${clock(from, now)} to ${timeOfDay.format(to)}`;

/** A bar in words, such as "14:00 to 15:00: 12 arrived, 3 failed". */
export function sayBar(kind: Kind, bar: Bar, now: number): string {
  const { many, succeeded: done } = WORDS[kind];
  const parts = [
    ...(bar.succeeded > 0 ? [`${count(bar.succeeded)} ${done}`] : []),
    ...(bar.failed > 0 ? [`${count(bar.failed)} failed`] : []),
  ];
  return `${sayTime(bar, now)}: ${parts.join(", ") || `no ${many}`}`;
}

/** All bars in words. */
export function sayBars(kind: Kind, bars: readonly Bar[], now: number): string {
  const busy = bars.filter(({ succeeded, failed }) => succeeded + failed > 0);
  return busy.length === 0 ? `No ${WORDS[kind].many}` : busy.map((bar) => sayBar(kind, bar, now)).join("; ");
}

/** Fewer equal errors are shown one by one. */
const LEAST_EQUAL = 3;

/** The items in their order, neighbours with the same error together once they are three. */
export function groupEqual<Item>(
  items: readonly Item[],
  errorOf: (item: Item) => string | null,
): readonly (readonly [Item, ...Item[]])[] {
  const groups: [Item, ...Item[]][] = [];
  for (const item of items) {
    const last = groups.at(-1);
    const error = errorOf(item);
    if (last !== undefined && error !== null && error === errorOf(last[0])) last.push(item);
    else groups.push([item]);
  }
  return groups.flatMap((group) =>
    group.length < LEAST_EQUAL ? group.map((item): [Item] => [item]) : [group],
  );
}

/** Such as "13 × the receiver answered 503". */
export const sayEqual = (many: number, error: string): string => `${count(many)} × ${errorWords(error)}`;

/** Such as "14:02 to 14:31". */
export function saySpan(from: string, to: string, now: number): string {
  const [first, last] = [clock(Date.parse(from), now), clock(Date.parse(to), now)];
  return first === last ? first : `${first} to ${last}`;
}

/** The line of a program that a run's error names; null when it names none. */
export function lineOf(error: string): number | null {
  const found = /\(line (\d+)\)/.exec(error.split("\n", 1)[0] ?? "")?.[1];
  return found === undefined ? null : Number(found);
}

const LINES_AROUND = 3;

/** The lines of a program around one of them, with their numbers; nothing when the program has no such line. */
export function linesAround(
  code: string,
  line: number,
): readonly { readonly number: number; readonly text: string }[] {
  const lines = code.trimEnd().split("\n");
  if (line < 1 || line > lines.length) return [];
  const first = Math.max(1, line - LINES_AROUND);
  return lines.slice(first - 1, line + LINES_AROUND).map((text, index) => ({ number: first + index, text }));
}
