/** Sizes of files in text. */

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

/** For example "1.5 MiB". */
export function formatSize(bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  return `${(bytes / 1024 ** power).toLocaleString("en", { maximumFractionDigits: 1 })} ${UNITS[power]}`;
}
