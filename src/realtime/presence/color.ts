/** The color by which a user is told from the others: always the same one, without anything being kept. */

/** Sixteen hues that stay apart on white and on black. */
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

/** FNV-1a: spreads ids that differ in one character. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193) >>> 0;
  return value;
}

export const colorOf = (userId: string): string => COLORS[hash(userId) % COLORS.length] ?? COLORS[0];
