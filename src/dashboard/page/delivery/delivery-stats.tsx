/** The figures of a webhook or a workflow over a time that the person chooses. */
import type { DeliveryStats as Figures } from "atrium/server";
import { useState } from "react";
import { Stats } from "../overview/stats.tsx";
import { ErrorMessage } from "../ui/error-message.tsx";
import { SelectField } from "../ui/select-field.tsx";
import { type Subject, useDeliveryStats } from "./use-delivery-stats.ts";

const RANGES: Readonly<Record<Figures["range"], string>> = {
  "1h": "Last hour",
  "24h": "Last 24 hours",
  "7d": "Last 7 days",
  "30d": "Last 30 days",
};

const rangeOf = (value: string): Figures["range"] =>
  value === "1h" || value === "7d" || value === "30d" ? value : "24h";

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
  const [range, setRange] = useState<Figures["range"]>("24h");
  const { data, error, refetch } = useDeliveryStats(of, range);
  return (
    <section aria-labelledby="figures">
      <div className="title-row">
        <h2 id="figures">Figures</h2>
        <SelectField
          label="Time"
          isLabelHidden
          value={range}
          onChange={(event) => setRange(rangeOf(event.currentTarget.value))}
        >
          {Object.entries(RANGES).map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </SelectField>
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
