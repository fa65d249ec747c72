/** Events of the organization over a chosen time, and the use of its quotas. */

import type { Usage as Figures } from "atrium/server";
import { useMemo } from "react";
import { Link } from "wouter";
import { useFilters } from "../data/filters.ts";
import { useApiQuery } from "../data/organization.tsx";
import { QuotaMeters, useQuotas } from "../settings/quota-meters.tsx";
import { Chart } from "../ui/chart.tsx";
import { Loaded } from "../ui/feedback.tsx";
import { RangeSelect, rangeOf } from "../ui/fields.tsx";
import { Section } from "../ui/page.tsx";

const REFRESH_MS = 10_000;

export function Usage() {
  const filters = useFilters();
  const range = rangeOf(filters);
  const usage = useApiQuery(["usage", range], ({ organization }) => organization.usage(range), {
    refetchInterval: REFRESH_MS,
  });
  const quotas = useQuotas();
  return (
    <Section id="usage" title="Usage" beside={<RangeSelect filters={filters} />}>
      <Loaded query={usage}>{(data) => <Charts usage={data} />}</Loaded>
      {quotas.data && (
        <>
          <QuotaMeters quotas={quotas.data.quotas} />
          <p>
            <Link className="button plain" href="/settings/quotas">
              About these quotas
            </Link>
          </p>
        </>
      )}
    </Section>
  );
}

function Charts({ usage }: { readonly usage: Figures }) {
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
      <Chart title={`${count(usage.events)} events`} {...{ starts, width }} series={events} />
      <Chart title={`${count(usage.runs)} workflow runs`} {...{ starts, width }} series={runs} />
    </div>
  );
}
