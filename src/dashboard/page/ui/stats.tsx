/** Rows of statistics: of any kind, and of the deliveries of a webhook or a workflow. */

import type { DeliveryStats as Figures } from "atrium/server";
import { Link } from "wouter";
import { useFilters } from "../data/filters.ts";
import { useApiQuery } from "../data/organization.tsx";
import { ErrorMessage } from "./feedback.tsx";
import { RangeSelect, rangeOf } from "./fields.tsx";
import { Section } from "./page.tsx";

interface Stat {
  readonly label: string;
  readonly value: number | string;
  /** The page with the details. */
  readonly href?: string;
}

export const Stats = ({ stats }: { readonly stats: readonly Stat[] }) => (
  <dl className="stats">
    {stats.map(({ label, value, href }) => (
      <div key={label}>
        <dt>{href === undefined ? label : <Link href={href}>{label}</Link>}</dt>
        <dd>{typeof value === "number" ? value.toLocaleString("en") : value}</dd>
      </div>
    ))}
  </dl>
);

/** Such as "99.8 %"; rounded down, so that 100 % means all. */
const presentShare = (share: number | null): string =>
  share === null ? "–" : `${Math.floor(share * 1000) / 10} %`;

const presentMs = (ms: number | null): string =>
  ms === null ? "–" : ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`;

const REFRESH_MS = 10_000;

interface DeliveryStatsProps {
  readonly of: { readonly kind: "webhooks" | "workflows"; readonly id: string };
  /** The counted unit, such as "Attempts". */
  readonly counted: string;
}

export function DeliveryStats({ of: { kind, id }, counted }: DeliveryStatsProps) {
  const filters = useFilters();
  const range = rangeOf(filters);
  const { data, error, refetch } = useApiQuery(
    [kind === "webhooks" ? "webhook" : "workflow", id, "stats", range],
    (atrium): Promise<Figures> => atrium[kind].stats(id, range),
    { refetchInterval: REFRESH_MS },
  );
  return (
    <Section id="figures" title="Figures" beside={<RangeSelect filters={filters} />}>
      <ErrorMessage error={error} onRetry={refetch} />
      {data && (
        <Stats
          stats={[
            { label: counted, value: data.succeeded + data.failed },
            { label: "Succeeded", value: presentShare(data.success_rate) },
            { label: "Median", value: presentMs(data.latency_ms.p50) },
            { label: "95th percentile", value: presentMs(data.latency_ms.p95) },
            { label: "Waiting", value: data.waiting },
          ]}
        />
      )}
    </Section>
  );
}
