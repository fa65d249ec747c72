/** The colors of people, and which one an ID names. */
import { fnv1a } from "./fnv1a.ts";

/**
 * The ten colors of people, in the order in which they are given: neighbours differ most, and white text is legible on
 * each (4.5 to 1).
 */
export const PERSON_COLORS = [
  "#2563eb",
  "#c2410c",
  "#15803d",
  "#db2777",
  "#7c3aed",
  "#0f766e",
  "#dc2626",
  "#a16207",
  "#0369a1",
  "#a21caf",
] as const;

/** The position of the color that a person's ID names. */
export const colorIndexOf = (id: string): number => fnv1a(id) % PERSON_COLORS.length;

/** The color that a person's ID names, for where it is not known which one a room has given. */
export const colorOfId = (id: string): string => PERSON_COLORS[colorIndexOf(id)] ?? PERSON_COLORS[0];
