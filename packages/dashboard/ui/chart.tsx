/** Charts, drawn by uPlot in the colors of the page. */

import { type ReactNode, useEffect, useRef } from "react";
import type uPlot from "uplot";
import { useIsDark } from "../data/theme.ts";

/** The look of a chart for uPlot: axes, columns and colors. */
const HEIGHT_PX = 160;
const COLUMN_SHARE = 0.7;
const MAX_COLUMN_PX = 24;

interface Series {
  readonly label: string;
  /** A CSS custom property, such as `--chart-1`. */
  readonly color: string;
  readonly values: readonly number[];
}

const HOUR_S = 60 * 60;
const timeOfDay = new Intl.DateTimeFormat("en", { hour: "2-digit", minute: "2-digit", hour12: false });
const day = new Intl.DateTimeFormat("en", { day: "numeric", month: "short" });
const dayAndTime = new Intl.DateTimeFormat("en", {
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
  hour12: false,
});

/** A start of columns as the axis has it: its time of day, or its day if the columns are wide. */
export const sayStart = (start: number, width: number): string =>
  (width > HOUR_S ? day : timeOfDay).format(start * 1000);

function paint(
  Plot: typeof uPlot,
  element: HTMLElement,
  starts: readonly number[],
  width: number,
  series: readonly Series[],
): uPlot {
  const style = getComputedStyle(element);
  const colorOf = (name: string) => resolveColor(element, name);
  const axis = {
    stroke: colorOf("--soft"),
    grid: { stroke: colorOf("--line"), width: 1 },
    ticks: { show: false },
    font: `11px ${style.fontFamily}`,
  };
  const bars = Plot.paths.bars?.({ size: [COLUMN_SHARE, MAX_COLUMN_PX] });
  const options: uPlot.Options = {
    width: element.clientWidth,
    height: HEIGHT_PX,
    legend: { show: false },
    cursor: { show: false },
    scales: {
      // Space for the whole of the first and the last column.
      x: { range: (_, first, last) => [first - width / 2, last + width / 2] },
      y: { range: (_, __, max) => [0, Math.max(4, max * 1.1)] },
    },
    axes: [
      {
        ...axis,
        size: 26,
        grid: { show: false },
        ...(width > HOUR_S && { incrs: [1, 2, 5, 10].map((days) => days * 24 * HOUR_S) }),
        ...(width === HOUR_S && { incrs: [1, 2, 3, 6].map((hours) => hours * HOUR_S) }),
        values: (_, ticks) => ticks.map((at) => sayStart(at, width)),
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
  return new Plot(options, [[...starts], ...series.map(({ values }) => [...values])], element);
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

/** Counts over time as a column chart, and as a table for screen readers. */
interface ChartProps {
  readonly title: string;
  /** Content beside the title, such as a comparison. */
  readonly beside?: ReactNode;
  /** A remark on the columns; empty for none. */
  readonly note: string;
  /** The start of each column, in epoch seconds. */
  readonly starts: readonly number[];
  /** The time that a column stands for, in seconds. */
  readonly width: number;
  readonly series: readonly Series[];
}

export function Chart({ title, beside, note, starts, width, series }: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const isDark = useIsDark();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the colors change with the theme
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    let stop = () => {};
    let isOver = false;
    // The library comes after the page, which keeps the chart's place.
    void import("uplot").then(({ default: Plot }) => {
      if (isOver) return;
      const plot = paint(Plot, element, starts, width, series);
      const watch = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT_PX }));
      watch.observe(element);
      stop = () => {
        watch.disconnect();
        plot.destroy();
      };
    });
    return () => {
      isOver = true;
      stop();
    };
  }, [starts, width, series, isDark]);
  return (
    <figure className="chart">
      <figcaption>
        {title} {beside}
        {series.length > 1 &&
          series.map(({ label, color }, index) => (
            <span key={label} className={`legend chart-${index + 1}`} data-color={color}>
              {label}
            </span>
          ))}
        {note && <small className="trend soft">{note}</small>}
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

/** The course of a number as a line, beside the number that says it. */
export function Sparkline({ values }: { readonly values: readonly number[] }) {
  const most = Math.max(1, ...values);
  const points = values.map((value, index) => `${index},${most - value}`).join(" ");
  return (
    <svg
      className="sparkline"
      viewBox={`0 0 ${Math.max(1, values.length - 1)} ${most}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <polyline points={points} />
    </svg>
  );
}
