/** Movements and drawings of a hand: points over time. Pure; `random` returns numbers from 0 to 1. */
import type { Point } from "../room/shape.ts";

/** A step of a movement: presence is sent as often. */
export const STEP_MS = 50;
const PIXELS_PER_STEP = 26;
const FEWEST_STEPS = 6;

/** The way from one point to another: slow at both ends, and never quite straight. */
export function wayBetween(from: Point, to: Point, random: () => number): Point[] {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const steps = Math.max(Math.ceil(Math.hypot(dx, dy) / PIXELS_PER_STEP), FEWEST_STEPS);
  const bend = (random() - 0.5) * 0.3;
  return Array.from({ length: steps }, (_, index) => {
    const time = (index + 1) / steps;
    const eased = time * time * (3 - 2 * time);
    const aside = bend * Math.sin(Math.PI * eased);
    return {
      x: Math.round(from.x + dx * eased - dy * aside),
      y: Math.round(from.y + dy * eased + dx * aside),
    };
  });
}

type Curve = (time: number) => readonly [x: number, y: number];

/** Drawings of helpers, within 60 pixels of the middle. */
export const FIGURES: readonly { readonly tint: number; readonly curve: Curve; readonly points: number }[] = [
  {
    tint: 3, // a heart
    points: 36,
    curve: (time) => {
      const angle = 2 * Math.PI * time;
      const high =
        13 * Math.cos(angle) - 5 * Math.cos(2 * angle) - 2 * Math.cos(3 * angle) - Math.cos(4 * angle);
      return [2.6 * 16 * Math.sin(angle) ** 3, -2.6 * high];
    },
  },
  {
    tint: 5, // a sun
    points: 60,
    curve: (time) => {
      const radius = 34 + 14 * Math.abs(Math.sin(8 * Math.PI * time));
      return [radius * Math.cos(2 * Math.PI * time), radius * Math.sin(2 * Math.PI * time)];
    },
  },
];

/** The points of a figure around its middle, x and y in turn. */
export const pointsOf = ({ curve, points }: (typeof FIGURES)[number], middle: Point): number[] =>
  Array.from({ length: points }, (_, index) => curve(index / (points - 1))).flatMap(([x, y]) => [
    Math.round(middle.x + x),
    Math.round(middle.y + y),
  ]);
