/** How a chart looks: its axes, columns and colors, for uPlot. */
import uPlot from "uplot";

export const HEIGHT_PX = 160;
const COLUMN_SHARE = 0.7;
const MAX_COLUMN_PX = 24;

export interface Series {
  readonly label: string;
  /** A CSS custom property, such as `--chart-1`. */
  readonly color: string;
  readonly values: readonly number[];
}

const HOUR_S = 60 * 60;
const timeOfDay = new Intl.DateTimeFormat("en", { hour: "2-digit", minute: "2-digit", hour12: false });
const day = new Intl.DateTimeFormat("en", { day: "numeric", month: "short" });
export const dayAndTime = new Intl.DateTimeFormat("en", {
  ...{ day: "numeric", month: "short" },
  ...{ hour: "2-digit", minute: "2-digit", hour12: false },
});

export function paint(
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
  const bars = uPlot.paths.bars?.({ size: [COLUMN_SHARE, MAX_COLUMN_PX] });
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
        values: (_, ticks) => ticks.map((at) => (width > HOUR_S ? day : timeOfDay).format(at * 1000)),
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
  return new uPlot(options, [[...starts], ...series.map(({ values }) => [...values])], element);
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
