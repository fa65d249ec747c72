/** The color that identifies a user: always the same one, derived from the id instead of stored. */
import { fnv1a } from "../../../platform/crypto/hash.ts";

/** Sixteen hues that are distinct on white and on black. */
const COLORS = [
  "#e11d48",
  "#ea580c",
  "#ca8a04",
  "#65a30d",
  "#16a34a",
  "#0d9488",
  "#0891b2",
  "#0284c7",
  "#2563eb",
  "#4f46e5",
  "#7c3aed",
  "#9333ea",
  "#c026d3",
  "#db2777",
  "#b45309",
  "#475569",
] as const;

export const colorOf = (userId: string): string => COLORS[fnv1a(userId) % COLORS.length] ?? COLORS[0];
