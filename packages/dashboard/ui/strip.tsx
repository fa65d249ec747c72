/** The attempts of a time as a strip of bars, good below and bad above. */

import type { DeliveryStats } from "atrium/server";
import { formatMs } from "./duration.ts";
import { type Bar, barsOf, type Kind, sayBar, sayBars } from "./story.ts";

const LABELS = { webhooks: "arrived", workflows: "succeeded" } as const;

/** The height of the highest bar, and the least of one that is not empty. */
const HEIGHT = 48;
const LEAST_HEIGHT = 3;

const heightOf = (count: number, most: number): number =>
  count === 0 ? 0 : Math.max(LEAST_HEIGHT, (count / most) * HEIGHT);

interface StripProps {
  readonly kind: Kind;
  readonly stats: DeliveryStats;
}

export function Strip({ kind, stats }: StripProps) {
  const bars = barsOf(stats);
  const now = Date.now();
  const { succeeded, failed, latency_ms: latency } = stats;
  const most = Math.max(1, ...bars.map((bar) => bar.succeeded + bar.failed));
  const [first] = bars;
  return (
    <figure className="strip">
      <figcaption>
        {succeeded > 0 && (
          <span className="legend-good">
            {succeeded.toLocaleString("en")} {LABELS[kind]}
          </span>
        )}
        {failed > 0 && <span className="legend-bad">{failed.toLocaleString("en")} failed</span>}
        {succeeded + failed === 0 && <span className="soft">Nothing happened in this time.</span>}
        {latency.p50 !== null && latency.p95 !== null && (
          <span className="soft">
            p50 {formatMs(latency.p50)} · p95 {formatMs(latency.p95)}
          </span>
        )}
      </figcaption>
      <div className="strip-bars" role="img" aria-label={sayBars(kind, bars, now)}>
        {bars.map((bar) => (
          <Column key={bar.from} {...{ bar, most }} title={sayBar(kind, bar, now)} />
        ))}
      </div>
      <div className="strip-ends soft small" aria-hidden="true">
        <span>{first && sayBar(kind, first, now).split(/: | to /)[0]}</span>
        <span>now</span>
      </div>
    </figure>
  );
}

interface ColumnProps {
  readonly bar: Bar;
  readonly most: number;
  readonly title: string;
}

const Column = ({ bar: { succeeded, failed }, most, title }: ColumnProps) => (
  <span className="strip-bar" title={title}>
    <i className="bad" style={{ height: heightOf(failed, most) }} />
    <i className="good" style={{ height: heightOf(succeeded, most) }} />
  </span>
);
