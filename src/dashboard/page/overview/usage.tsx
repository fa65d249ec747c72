/** What happened in the organization over a time that the person chooses, and how much of its quotas it uses. */
import type { Usage as Figures } from "atrium/server";
import { useMemo } from "react";
import { Link } from "wouter";
import { useAddress } from "../data/use-address.ts";
import { useFilters } from "../data/use-filters.ts";
import { QuotaMeters } from "../settings/quota-meters.tsx";
import { useQuotas } from "../settings/use-quotas.ts";
import { Chart } from "../ui/chart.tsx";
import { ErrorMessage, Loading } from "../ui/feedback.tsx";
import { RangeSelect, rangeOf } from "../ui/fields.tsx";
import { useUsage } from "./use-usage.ts";

export function Usage() {
  const address = useAddress();
  const filters = useFilters();
  const { data, error, refetch } = useUsage(rangeOf(filters));
  const quotas = useQuotas();
  return (
    <section aria-labelledby="usage">
      <div className="title-row">
        <h2 id="usage">Usage</h2>
        <RangeSelect filters={filters} />
      </div>
      <ErrorMessage error={error} onRetry={refetch} />
      {data === undefined ? !error && <Loading /> : <Charts usage={data} />}
      {quotas.data && (
        <>
          <QuotaMeters quotas={quotas.data.quotas} />
          <p>
            <Link className="button plain" href={address("/settings/quotas")}>
              About these quotas
            </Link>
          </p>
        </>
      )}
    </section>
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
