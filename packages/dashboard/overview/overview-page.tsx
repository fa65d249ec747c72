/** Totals of the organization, first steps for a new one, activity over time, and users online. */

import type { ListedWebhook, Overview, Room, Usage as UsageMetrics } from "atrium/server";
import { type ReactNode, useMemo } from "react";
import { Link } from "wouter";
import { useFilters } from "../data/filters.ts";
import { useApiQuery } from "../data/organization.tsx";
import { NewRoom, useRooms } from "../rooms/rooms.tsx";
import { useKeys } from "../settings/api-part.tsx";
import { isHalfUsed, QuotaMeters, useQuotas } from "../settings/quota-meters.tsx";
import { Icon } from "../ui/button.tsx";
import { Chart } from "../ui/chart.tsx";
import { Badge, ErrorMessage, Loaded } from "../ui/feedback.tsx";
import { RangeSelect, rangeOf } from "../ui/fields.tsx";
import { Page, Section, Stats, Trend } from "../ui/page.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { formatMs } from "../ui/time.tsx";
import { Quickstart } from "./quickstart.tsx";

const REFRESH_MS = 5000;

export default function OverviewPage() {
  const overview = useApiQuery(["overview"], ({ organization }) => organization.overview(), {
    refetchInterval: REFRESH_MS,
  });
  return (
    <Page title="Overview">
      <Loaded query={overview}>{(data) => <Summary overview={data} />}</Loaded>
    </Page>
  );
}

interface SummaryProps {
  readonly overview: Overview;
}

const Summary = ({ overview }: SummaryProps) => (
  <>
    <Stats
      stats={[
        { label: "Rooms online", value: overview.rooms_online },
        { label: "Participants", value: overview.participants_online },
        {
          label: "Events (24 h)",
          value: overview.events_last_day,
          before: overview.before.events,
          href: "/webhooks",
        },
        {
          label: "Runs (24 h)",
          value: overview.runs_last_day,
          before: overview.before.runs,
          href: "/workflows",
        },
        { label: "Total rooms", value: overview.rooms_total, href: "/rooms" },
        { label: "Total users", value: overview.users_total },
      ]}
    />
    <FirstSteps overview={overview} />
    {overview.first_joined_at === null && <Quickstart />}
    {overview.rooms_total > 0 && (
      <>
        <Attention overview={overview} />
        <OnlineRooms />
        <Usage />
      </>
    )}
  </>
);

/** Each shows when it is done, and the list stays until all are. */
function FirstSteps({ overview }: SummaryProps) {
  const { data: keys } = useKeys({ limit: 1, offset: 0 });
  if (keys === undefined) return null;
  const hasRoom = overview.rooms_total > 0;
  const hasKey = keys.total > 0;
  const hasJoined = overview.first_joined_at !== null;
  if (hasRoom && hasKey && hasJoined) return null;
  return (
    <Section id="first-steps" title="Get started in three steps" className="steps">
      <ol>
        <Step
          title="Create a room"
          about="A room is a space your users share, such as a board, a document or a call."
          isDone={hasRoom}
        >
          <NewRoom />
        </Step>
        <Step
          title="Get an API key"
          about="Your back end uses it to create users and get a token for each of them."
          isDone={hasKey}
        >
          <Link className="button plain" href="/settings">
            API keys
          </Link>
        </Step>
        <Step
          title="Join from a browser"
          about="All the SDK needs is a user's token. The samples below have everything filled in."
          isDone={hasJoined}
        >
          <a className="button plain" href="/docs#quickstarts">
            Quickstarts
          </a>
        </Step>
      </ol>
    </Section>
  );
}

interface StepProps {
  readonly title: string;
  readonly about: string;
  readonly isDone: boolean;
  /** The instruction. */
  readonly children: ReactNode;
}

const Step = ({ title, about, isDone, children }: StepProps) => (
  <li>
    <div>
      <h3>{title}</h3>
      <p className="soft">{about}</p>
    </div>
    {isDone ? <Badge tone="good">done</Badge> : children}
  </li>
);

const MAX_ROOMS = 20;

const ROOM_COLUMNS: readonly Column<Room>[] = [
  { label: "Room", cell: ({ id, name }) => <Link href={`/rooms/${id}`}>{name}</Link> },
  { label: "Participants", cell: ({ active_participants }) => active_participants },
];

/** The rooms with participants, the newest first. */
function OnlineRooms() {
  const { data, error } = useRooms({ limit: MAX_ROOMS, online: true }, REFRESH_MS);
  return (
    <Section id="online-rooms" title="Rooms online now">
      <ErrorMessage error={error} />
      {data?.total === 0 && <p className="soft">No one is online right now.</p>}
      {data && (
        <Table label="List of rooms online" items={data.rooms} idOf={({ id }) => id} columns={ROOM_COLUMNS} />
      )}
      {data && data.total > data.rooms.length && (
        <p>
          <Link className="button plain" href="/rooms?show=online">
            Show all {data.total} rooms online
          </Link>
        </p>
      )}
    </Section>
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
  if (items.length === 0 && failed_runs_last_day === 0) return null;
  return (
    <Section id="attention" title="Needs attention">
      <ul className="attention">
        {items.map(({ id, url, trouble }) => (
          <li key={id}>
            <Icon name="warning" />
            <Link href={`/webhooks/${id}`}>{url}</Link> <span>{trouble}</span>
          </li>
        ))}
        {failed_runs_last_day > 0 && (
          <li>
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
    <Section id="usage" title="Usage" beside={<RangeSelect filters={filters} />}>
      <Loaded query={usage}>{(data) => <Charts usage={data} />}</Loaded>
      <QuotaMeters quotas={quotas.data?.quotas.filter(isHalfUsed) ?? []} />
      <p>
        <Link className="button plain" href="/settings/quotas">
          All quotas
        </Link>
      </p>
    </Section>
  );
}

function Charts({ usage }: { readonly usage: UsageMetrics }) {
  const { starts, events, runs } = useMemo(() => {
    const { points } = usage;
    return {
      starts: points.map(({ at }) => Date.parse(at) / 1000),
      events: [{ label: "Events", color: "--chart-1", values: points.map((point) => point.events) }],
      runs: [
        { label: "Runs", color: "--chart-1", values: points.map((point) => point.runs) },
        { label: "Failed", color: "--chart-2", values: points.map((point) => point.failed_runs) },
      ],
    };
  }, [usage]);
  const width = usage.point_seconds;
  const count = (number: number) => number.toLocaleString("en");
  return (
    <div className="charts">
      <Chart
        title={`${count(usage.events)} events`}
        beside={<Trend value={usage.events} before={usage.before.events} />}
        {...{ starts, width }}
        series={events}
      />
      <Chart
        title={`${count(usage.runs)} workflow runs`}
        beside={<Trend value={usage.runs} before={usage.before.runs} />}
        {...{ starts, width }}
        series={runs}
      />
    </div>
  );
}
