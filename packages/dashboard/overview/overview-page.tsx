/** The overview of an organization: troubles, first steps, rooms in use, and activity over time. */

import type { DeliveryStats, ListedWebhook, Overview, Usage as UsageMetrics } from "atrium/server";
import { useMemo } from "react";
import { Link } from "wouter";
import { useFilters } from "../data/filters.ts";
import { orNull, useApiQuery } from "../data/organization.tsx";
import { isHalfUsed, QuotaMeters, useQuotas } from "../settings/quota-meters.tsx";
import { Icon } from "../ui/button.tsx";
import { Chart, Sparkline, sayStart } from "../ui/chart.tsx";
import { Loaded } from "../ui/feedback.tsx";
import { RangeSelect, rangeOf } from "../ui/list-filters.tsx";
import { Page, Section } from "../ui/page.tsx";
import { formatMs } from "../ui/time.tsx";
import { LatestRooms } from "./latest-rooms.tsx";
import { Onboarding, waitingMs } from "./onboarding.tsx";

const REFRESH_MS = 5000;

export default function OverviewPage() {
  const overview = useApiQuery(["overview"], ({ organization }) => organization.overview(), {
    refetchInterval: ({ state: { data, dataUpdateCount } }) =>
      data?.first_joined_at === null ? waitingMs(dataUpdateCount) : REFRESH_MS,
  });
  return (
    <Page title="Overview" beside={overview.data && <Totals {...overview.data} />}>
      <Loaded query={overview}>{(data) => <Summary overview={data} />}</Loaded>
    </Page>
  );
}

/** The numbers of rooms and users, once there are some. */
const Totals = ({ rooms_total: rooms, users_total: users }: Overview) =>
  rooms === 0 ? null : (
    <span className="soft">
      {`${rooms.toLocaleString("en")} ${rooms === 1 ? "room" : "rooms"}`}
      {users > 0 && ` · ${users.toLocaleString("en")} ${users === 1 ? "user" : "users"}`}
    </span>
  );

interface SummaryProps {
  readonly overview: Overview;
}

const Summary = ({ overview }: SummaryProps) => (
  <>
    <Attention overview={overview} />
    <Onboarding overview={overview} />
    {overview.rooms_total > 0 && (
      <>
        <Day overview={overview} />
        <LatestRooms roomsOnline={overview.rooms_online} peopleOnline={overview.participants_online} />
        <Usage />
      </>
    )}
  </>
);

/** The numbers of the last 24 hours that have a course, or something to compare with. */
function Day({ overview: { hours, before, events_last_day, runs_last_day } }: SummaryProps) {
  const numbers = [
    {
      label: "Events in 24 hours",
      value: events_last_day,
      before: before.events,
      href: "/webhooks",
      values: hours.map(({ events }) => events),
    },
    {
      label: "Workflow runs in 24 hours",
      value: runs_last_day,
      before: before.runs,
      href: "/workflows",
      values: hours.map(({ runs }) => runs),
    },
  ].filter(({ before: earlier, values }) => earlier > 0 || values.filter((value) => value > 0).length > 1);
  if (numbers.length === 0) return null;
  return (
    <dl className="stats numbers">
      {numbers.map(({ label, value, before: earlier, href, values }) => (
        <div key={label}>
          <dt>
            <Link href={href}>{label}</Link>
          </dt>
          <dd>
            {value.toLocaleString("en")} <Change value={value} before={earlier} than="the day before" />
            <Sparkline values={values} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

interface ChangeProps {
  readonly value: number;
  readonly before: number;
  /** The time that it is compared with. */
  readonly than: string;
}

/** Such as "+12 % against the day before"; nothing without something to compare with. */
function Change({ value, before, than }: ChangeProps) {
  if (before === 0) return null;
  const percent = Math.round((100 * (value - before)) / before);
  const sign = percent > 0 ? "+" : percent < 0 ? "−" : "±";
  return (
    <small className="trend soft" title={`${before.toLocaleString("en")} in ${than}`}>
      {`${sign}${Math.abs(percent).toLocaleString("en")} % against ${than}`}
    </small>
  );
}

const ATTENTION_REFRESH_MS = 60_000;
const MAX_WEBHOOKS = 100;
/** Response time above which a receiver keeps events of its rooms waiting. */
const SLOW_MS = 5000;

/** The webhook's problem in words; null for none. */
function troubleOf({ enabled, disabled_reason, backlogged_since, stats }: ListedWebhook): string | null {
  if (disabled_reason !== undefined) return disabled_reason;
  if (!enabled || stats === undefined) return null;
  const { failed, succeeded, waiting, latency_ms } = stats;
  if (backlogged_since !== undefined) return `${waiting.toLocaleString("en")} events wait for it.`;
  if (failed > 0)
    return `${failed.toLocaleString("en")} of ${(failed + succeeded).toLocaleString("en")} attempts failed.`;
  const slowest = latency_ms.p95 ?? 0;
  return slowest > SLOW_MS ? `One response in 20 takes more than ${formatMs(slowest)}.` : null;
}

/** The stats of each take a request. */
const MAX_WORKFLOWS = 20;

/** The workflows of which runs failed, once some did; `areAll` unless there may be others. */
function useFailedWorkflows(enabled: boolean) {
  const { data } = useApiQuery(
    ["workflows", "attention"],
    async ({ workflows }) => {
      const page = await workflows.list({ limit: MAX_WORKFLOWS, sort: "-updated_at" });
      const read = page.workflows.map(async ({ id, name }) => ({
        ...{ id, name },
        stats: await orNull(workflows.stats(id, "24h")),
      }));
      const failed = (await Promise.all(read)).filter(({ stats }) => (stats?.failed ?? 0) > 0);
      return { failed, areAll: failed.length > 0 && page.total <= MAX_WORKFLOWS };
    },
    { refetchInterval: ATTENTION_REFRESH_MS, enabled },
  );
  return data ?? { failed: [], areAll: false };
}

const sayFailures = ({ failed, succeeded }: DeliveryStats): string =>
  `${failed.toLocaleString("en")} of ${(failed + succeeded).toLocaleString("en")} runs failed.`;

/** Errors and slow receivers of the last 24 hours, when there are any. */
function Attention({ overview: { runs_last_day, failed_runs_last_day } }: SummaryProps) {
  const webhooks = useApiQuery(
    ["webhooks", "attention"],
    (atrium) => atrium.webhooks.list({ limit: MAX_WEBHOOKS, stats: "24h" }),
    { refetchInterval: ATTENTION_REFRESH_MS },
  );
  const troubled = (webhooks.data?.webhooks ?? []).map((webhook) => ({
    ...webhook,
    trouble: troubleOf(webhook),
  }));
  const items = troubled.filter(({ trouble }) => trouble !== null);
  const { failed, areAll } = useFailedWorkflows(failed_runs_last_day > 0);
  if (items.length === 0 && failed_runs_last_day === 0) return null;
  return (
    <Section id="attention" title="Needs attention">
      <ul className="attention">
        {items.map(({ id, url, trouble, stats }) => (
          <li key={id} className={stats?.failing ? "bad" : "waiting"}>
            <Icon name="warning" />
            <Link href={`/webhooks/${id}`}>{url}</Link> <span>{trouble}</span>
          </li>
        ))}
        {failed.map(({ id, name, stats }) => (
          <li key={id} className="bad">
            <Icon name="warning" />
            <Link href={`/workflows/${id}`}>{name}</Link> <span>{stats && sayFailures(stats)}</span>
          </li>
        ))}
        {failed_runs_last_day > 0 && !areAll && (
          <li className="waiting">
            <Icon name="warning" />
            <Link href="/workflows">Workflows</Link>{" "}
            <span>
              {failed_runs_last_day.toLocaleString("en")} of {runs_last_day.toLocaleString("en")} runs failed.
            </span>
          </li>
        )}
      </ul>
    </Section>
  );
}

const USAGE_REFRESH_MS = 10_000;

function Usage() {
  const filters = useFilters();
  const range = rangeOf(filters);
  const usage = useApiQuery(["usage", range], ({ organization }) => organization.usage(range), {
    refetchInterval: USAGE_REFRESH_MS,
  });
  const quotas = useQuotas();
  return (
    <Section
      id="usage"
      title="Usage"
      beside={
        <>
          <RangeSelect filters={filters} />
          <Link className="button quiet" href="/settings/quotas">
            All quotas
          </Link>
        </>
      }
    >
      <Loaded query={usage}>{(data) => <Charts usage={data} />}</Loaded>
      <QuotaMeters quotas={quotas.data?.quotas.filter(isHalfUsed) ?? []} />
    </Section>
  );
}

const BEFORE = {
  "1h": "the hour before",
  "24h": "the day before",
  "7d": "the week before",
  "30d": "the 30 days before",
};

/** Fewer columns say too little. */
const MIN_POINTS = 6;

/** The points from the first one with anything in it, and the time before it in which nothing happened. */
function fitting({ points, point_seconds }: UsageMetrics) {
  const first = points.findIndex(({ events, runs }) => events + runs > 0);
  const shown = points.slice(Math.max(0, Math.min(first, points.length - MIN_POINTS)));
  const since = shown[0] && sayStart(Date.parse(shown[0].at) / 1000, point_seconds);
  return { points: shown, before: shown.length < points.length ? `Nothing before ${since}` : "" };
}

function Charts({ usage }: { readonly usage: UsageMetrics }) {
  const { starts, events, runs, before } = useMemo(() => {
    const { points, before } = fitting(usage);
    return {
      before,
      starts: points.map(({ at }) => Date.parse(at) / 1000),
      events: [{ label: "Events", color: "--chart-1", values: points.map((point) => point.events) }],
      runs: [
        { label: "Runs", color: "--chart-1", values: points.map((point) => point.runs) },
        { label: "Failed", color: "--chart-2", values: points.map((point) => point.failed_runs) },
      ],
    };
  }, [usage]);
  const width = usage.point_seconds;
  const than = BEFORE[usage.range];
  const count = (number: number) => number.toLocaleString("en");
  return (
    <div className="charts">
      <Chart
        title={`${count(usage.events)} events`}
        beside={<Change value={usage.events} before={usage.before.events} than={than} />}
        note={before}
        {...{ starts, width }}
        series={events}
      />
      {usage.runs + usage.before.runs > 0 && (
        <Chart
          title={`${count(usage.runs)} workflow runs`}
          beside={<Change value={usage.runs} before={usage.before.runs} than={than} />}
          note={before}
          {...{ starts, width }}
          series={runs}
        />
      )}
    </div>
  );
}
