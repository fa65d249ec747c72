/** The color that identifies a user: always the same one, derived from the id instead of stored. */

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

/** FNV-1a: separates ids that differ in one character. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193) >>> 0;
  return value;
}

export const colorOf = (userId: string): string => COLORS[hash(userId) % COLORS.length] ?? COLORS[0];
