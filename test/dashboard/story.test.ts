/** The state of webhooks and workflows in sentences, their attempts as bars, equal errors together, and the choice of events. */

import { describe, expect, it } from "vitest";
import { EVENT_NAMES, WEBHOOK_EVENT_NAMES } from "../../packages/dashboard/data/events.ts";
import { findEvents, presetsOf } from "../../packages/dashboard/ui/event-choice.ts";
import {
  type Attempts,
  barsOf,
  clock,
  errorWords,
  groupEqual,
  guideOf,
  lineOf,
  linesAround,
  replayOfFailures,
  sayBar,
  sayBars,
  sayEqual,
  saySpan,
  storyOf,
} from "../../packages/dashboard/ui/story.ts";

const NOW = new Date(2026, 0, 31, 14, 30).getTime();
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const ago = (ms: number): string => new Date(NOW - ms).toISOString();
const NONE: Attempts = {
  succeeded: 0,
  failed: 0,
  waiting: 0,
  oldest_waiting_since: null,
  failing: null,
  last_success_at: null,
};
const ON = { enabled: true };

/** The state, and its sentences. */
const story = (kind: "webhooks" | "workflows", attempts: Partial<Attempts>, subscriber = ON) => {
  const { state, title, text } = storyOf(kind, subscriber, { ...NONE, ...attempts }, NOW);
  return `${state}: ${title} ${text}`;
};

describe("the state of a webhook", () => {
  it.each<[Partial<Attempts>, string]>([
    [{}, "new: No event yet. A test event shows whether the endpoint accepts it."],
    [{ waiting: 1 }, "new: No event yet. 1 event waits."],
    [
      { succeeded: 1214, last_success_at: ago(2 * MINUTE_MS) },
      "going: Delivering. All 1,214 attempts of the last 24 hours arrived, the latest 2 min ago.",
    ],
    [
      { succeeded: 1, last_success_at: ago(0), waiting: 2 },
      "going: Delivering. The only attempt of the last 24 hours arrived, just now. 2\u00a0events wait.",
    ],
    [
      { succeeded: 210, failed: 4, last_success_at: ago(90 * MINUTE_MS) },
      "going: Delivering. 4 of 214 attempts in the last 24 hours failed; the latest arrived 1 h 30 min ago.",
    ],
    [
      { last_success_at: ago(72 * HOUR_MS) },
      "quiet: Quiet. No attempt in the last 24 hours; the latest arrived 3 d 0 h ago.",
    ],
    [
      {
        failed: 13,
        waiting: 13,
        failing: {
          since: ago(28 * MINUTE_MS),
          error: "The receiver refused the connection",
          next_attempt_at: ago(-4 * MINUTE_MS),
        },
      },
      "failing: Failing since 14:02: the receiver refused the connection. Next try in 4 min. 13\u00a0events wait.",
    ],
    [
      { failing: { since: ago(38 * HOUR_MS), error: "The receiver answered 503", next_attempt_at: ago(1) } },
      "failing: Failing since Jan 30, 00:30: the receiver answered 503. Next try any moment.",
    ],
  ])("of %j is said in words", (attempts, said) => {
    expect(story("webhooks", attempts)).toBe(said);
  });

  it("that is disabled says by whom, whatever its attempts are", () => {
    const failing = { since: ago(1), error: "x", next_attempt_at: null };
    expect(story("webhooks", { failing }, { enabled: false })).toBe(
      "disabled: Disabled. It receives no events until it is enabled.",
    );
    const reason = { enabled: false, disabled_reason: "The receiver answered 410 Gone." };
    expect(story("webhooks", {}, reason)).toBe(
      "disabled: Disabled by the service. The receiver answered 410 Gone.",
    );
  });

  it("has a replay of what failed and waits, from before its first failure on, and a section of the guide", () => {
    const failing = { since: ago(HOUR_MS), error: "x", next_attempt_at: null };
    expect(replayOfFailures({ failing })).toEqual({ from: ago(2 * HOUR_MS), status: "failed" });
    expect(guideOf("webhooks", "The receiver answered 503")).toMatch(/#retries$/);
    expect(guideOf("webhooks", "The URL is not allowed")).toMatch(/#where-webhooks-may-go$/);
    expect(guideOf("workflows", "It had to be killed")).toMatch(/#limits-of-a-run$/);
  });
});

it("the state of a workflow is said in words", () => {
  const failing = { since: ago(28 * MINUTE_MS), error: "TypeError: No tea (line 4)", next_attempt_at: null };
  expect([
    story("workflows", {}),
    story("workflows", { succeeded: 409, failed: 3, last_success_at: ago(0) }),
    story("workflows", { failed: 1, failing }),
    story("workflows", {}, { enabled: false }),
  ]).toEqual([
    "new: No run yet. Its first event starts it, or Run starts it now.",
    "going: Running. 3 of 412 runs in the last 24 hours failed; the latest succeeded just now.",
    "failing: Failing since 14:02: TypeError: No tea at line 4. ",
    "disabled: Disabled. Nothing starts it until it is enabled.",
  ]);
});

describe("the attempts of a time", () => {
  const point = (minutes: number, succeeded: number, failed = 0) => ({
    at: ago(minutes * MINUTE_MS),
    succeeded,
    failed,
  });

  it("are bars of whole hours, each with a sentence", () => {
    const bars = barsOf({
      range: "24h",
      points: [point(90, 12, 3), point(75, 1), point(30, 0), point(0, 0)],
    });
    expect(bars.map((bar) => sayBar("webhooks", bar, NOW))).toEqual([
      "13:00 to 14:00: 13 arrived, 3 failed",
      "14:00 to 15:00: no attempts",
    ]);
    expect(sayBars("webhooks", bars, NOW)).toBe("13:00 to 14:00: 13 arrived, 3 failed");
    expect(sayBars("workflows", bars.slice(1), NOW)).toBe("No runs");
  });

  it.each([
    ["1h", "14:30 to 14:35: 1 succeeded"],
    ["7d", "12:00 to 18:00: 1 succeeded"],
    ["30d", "Jan 31: 1 succeeded"],
  ] as const)("of %s are named as %s", (range, said) => {
    const bars = barsOf({ range, points: [point(0, 1)] });
    expect(bars.map((bar) => sayBar("workflows", bar, NOW))).toEqual([said]);
  });
});

describe("equal errors", () => {
  it("of three neighbours or more are together, in their order", () => {
    const items = ["a", "a", "a", "-", "a", "a", "b", "b", "b", "b", "-", "-", "-"];
    const groups = groupEqual(items, (item) => (item === "-" ? null : item));
    expect(groups.map((group) => group.join(""))).toEqual(["aaa", "-", "a", "a", "bbbb", "-", "-", "-"]);
  });

  it("are said with their number and time", () => {
    expect(sayEqual(13, "The receiver answered 503")).toBe("13 × the receiver answered 503");
    expect(saySpan(ago(28 * MINUTE_MS), ago(-MINUTE_MS), NOW)).toBe("14:02 to 14:31");
    expect(saySpan(ago(0), ago(0), NOW)).toBe("14:30");
    expect(clock(NOW - 24 * HOUR_MS, NOW)).toBe("Jan 30, 14:30");
    expect(errorWords("Error: The end. (line 2)\n    at x (line 2)")).toBe("Error: The end. at line 2");
  });

  it("name a line, which is shown with those around it", () => {
    expect(lineOf("TypeError: x (line 4)\n    at default (line 9)")).toBe(4);
    expect(lineOf("The run took too long\n    at default (line 9)")).toBeNull();
    const code = Array.from({ length: 9 }, (_, index) => `line ${index + 1}`).join("\n");
    expect(linesAround(`${code}\n`, 8).map(({ number }) => number)).toEqual([5, 6, 7, 8, 9]);
    expect(linesAround(code, 1)[0]).toEqual({ number: 1, text: "line 1" });
    expect([linesAround(code, 10), linesAround(code, 0)]).toEqual([[], []]);
  });
});

describe("the choice of events", () => {
  it("has each event in one group, and finds events by name, sentence and group", () => {
    for (const names of [WEBHOOK_EVENT_NAMES, EVENT_NAMES])
      expect(
        findEvents<(typeof names)[number]>(names, "")
          .flatMap((group) => group.names)
          .toSorted(),
      ).toEqual(names.toSorted());
    const find = (search: string) => findEvents(WEBHOOK_EVENT_NAMES, search).flatMap(({ names }) => names);
    expect(find(" Came ONLINE ")).toEqual(["participant.joined"]);
    expect(find("come go participant")).toEqual(["participant.joined", "participant.left"]);
    expect(find("unread")).toEqual(["notification"]);
    expect(find("nothing like this")).toEqual([]);
  });

  it("has presets, of which a workflow has those of rooms", () => {
    const [everything, ...others] = presetsOf(WEBHOOK_EVENT_NAMES);
    expect(everything).toEqual({ title: "Everything in rooms", names: EVENT_NAMES });
    expect(others.map(({ title }) => title)).toContain("Identities");
    expect(presetsOf(EVENT_NAMES).map(({ title }) => title)).not.toContain("Identities");
  });
});
