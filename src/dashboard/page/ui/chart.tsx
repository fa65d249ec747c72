/** Counts over time as a column chart, and as a table for screen readers. */
import { useEffect, useRef } from "react";
import { dayAndTime, HEIGHT_PX, paint, type Series } from "./chart-paint.ts";
import { useIsDark } from "./theme.ts";

export interface ChartProps {
  readonly title: string;
  /** The start of each column, in epoch seconds. */
  readonly starts: readonly number[];
  /** The time that a column stands for, in seconds. */
  readonly width: number;
  readonly series: readonly Series[];
}

export function Chart({ title, starts, width, series }: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const isDark = useIsDark();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the colors change with the theme
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const plot = paint(element, starts, width, series);
    const watch = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT_PX }));
    watch.observe(element);
    return () => {
      watch.disconnect();
      plot.destroy();
    };
  }, [starts, width, series, isDark]);
  return (
    <figure className="chart">
      <figcaption>
        {title}
        {series.map(({ label, color }, index) => (
          <span key={label} className={`legend chart-${index + 1}`} data-color={color}>
            {label}
          </span>
        ))}
      </figcaption>
      <div ref={box} className="chart-box" aria-hidden="true" />
      <div className="hidden">
        <table>
          <caption>{title}</caption>
          <thead>
            <tr>
              <th scope="col">From</th>
              {series.map(({ label }) => (
                <th key={label} scope="col">
                  {label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {starts.map((start, index) => (
              <tr key={start}>
                <th scope="row">{dayAndTime.format(start * 1000)}</th>
                {series.map(({ label, values }) => (
                  <td key={label}>{values[index]}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  );
}
