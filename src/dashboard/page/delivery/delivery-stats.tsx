/** The figures of a webhook or a workflow over a time that the person chooses. */
import { useFilters } from "../data/use-filters.ts";
import { Stats } from "../overview/stats.tsx";
import { ErrorMessage } from "../ui/feedback.tsx";
import { RangeSelect, rangeOf } from "../ui/fields.tsx";
import { type Subject, useDeliveryStats } from "./use-delivery-stats.ts";

/** Such as "99.8 %"; rounded down, so that 100 % means all. */
const presentShare = (share: number | null): string =>
  share === null ? "–" : `${Math.floor(share * 1000) / 10} %`;

const presentMs = (ms: number | null): string =>
  ms === null ? "–" : ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`;

export interface DeliveryStatsProps {
  readonly of: Subject;
  /** What is counted, such as "Attempts". */
  readonly counted: string;
}

export function DeliveryStats({ of, counted }: DeliveryStatsProps) {
  const filters = useFilters();
  const range = rangeOf(filters);
  const { data, error, refetch } = useDeliveryStats(of, range);
  return (
    <section aria-labelledby="figures">
      <div className="title-row">
        <h2 id="figures">Figures</h2>
        <RangeSelect filters={filters} />
      </div>
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
    </section>
  );
}
