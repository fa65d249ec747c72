/** Hourly counts as a column chart, and as a table for screen readers. */
import { useEffect, useRef } from "react";
import uPlot from "uplot";
import { useIsDark } from "./theme.ts";

const HEIGHT_PX = 160;
/** Space for the whole of the first and the last column. */
const HALF_HOUR_S = 1800;
const COLUMN_SHARE = 0.7;
const MAX_COLUMN_PX = 24;

interface Series {
  readonly label: string;
  /** A CSS custom property, such as `--chart-1`. */
  readonly color: string;
  readonly values: readonly number[];
}

export interface ChartProps {
  readonly title: string;
  /** The start of each hour, in epoch seconds. */
  readonly hours: readonly number[];
  readonly series: readonly Series[];
}

const hourOf = new Intl.DateTimeFormat("en", { hour: "2-digit", minute: "2-digit", hour12: false });

export function Chart({ title, hours, series }: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const isDark = useIsDark();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the colors change with the theme
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const plot = paint(element, hours, series);
    const watch = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT_PX }));
    watch.observe(element);
    return () => {
      watch.disconnect();
      plot.destroy();
    };
  }, [hours, series, isDark]);
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
              <th scope="col">Hour</th>
              {series.map(({ label }) => (
                <th key={label} scope="col">
                  {label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {hours.map((hour, index) => (
              <tr key={hour}>
                <th scope="row">{hourOf.format(hour * 1000)}</th>
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

function paint(element: HTMLElement, hours: readonly number[], series: readonly Series[]): uPlot {
  const style = getComputedStyle(element);
  const colorOf = (name: string) => resolveColor(element, name);
  const axis = {
    stroke: colorOf("--soft"),
    grid: { stroke: colorOf("--line"), width: 1 },
    ticks: { show: false },
    font: `11px ${style.fontFamily}`,
  };
  const bars = uPlot.paths.bars?.({ size: [COLUMN_SHARE, MAX_COLUMN_PX] });
  const options: uPlot.Options = {
    width: element.clientWidth,
    height: HEIGHT_PX,
    legend: { show: false },
    cursor: { show: false },
    scales: {
      x: { range: (_, first, last) => [first - HALF_HOUR_S, last + HALF_HOUR_S] },
      y: { range: (_, __, max) => [0, Math.max(4, max * 1.1)] },
    },
    axes: [
      {
        ...axis,
        size: 26,
        grid: { show: false },
        values: (_, ticks) => ticks.map((at) => hourOf.format(at * 1000)),
      },
      {
        ...axis,
        size: 42,
        incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 100_000, 1_000_000],
      },
    ],
    series: [
      {},
      ...series.map(({ label, color }) => ({
        label,
        fill: colorOf(color),
        width: 0,
        points: { show: false },
        ...(bars && { paths: bars }),
      })),
    ],
  };
  return new uPlot(options, [[...hours], ...series.map(({ values }) => [...values])], element);
}

/** Resolves a CSS custom property, which a canvas cannot use. */
function resolveColor(element: HTMLElement, name: string): string {
  const probe = document.createElement("span");
  probe.style.color = `var(${name})`;
  element.appendChild(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
