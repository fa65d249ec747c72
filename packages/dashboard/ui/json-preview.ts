/** JSON in one short line. Only the shown part of a large value is read. */

const MAX_CHARACTERS = 80;
const MAX_STRING = 40;

export const isContainer = (value: unknown): value is object => typeof value === "object" && value !== null;

/** Shortens JSON, such as `{"title":"Buy milk","for":[…]}`; `…` stands for the rest. */
export function previewOf(value: unknown, limit = MAX_CHARACTERS): string {
  if (!isContainer(value)) return scalar(value, limit);
  const isArray = Array.isArray(value);
  const [open, close] = isArray ? ["[", "]"] : ["{", "}"];
  const parts: string[] = [];
  let left = limit;
  for (const key in value) {
    if (!Object.hasOwn(value, key)) continue;
    if (left <= 0) {
      parts.push("…");
      break;
    }
    const name = isArray ? "" : `${scalar(key, MAX_STRING)}:`;
    const part = name + previewOf(Reflect.get(value, key), left - name.length);
    parts.push(part);
    left -= part.length + 1;
  }
  return open + parts.join(",") + close;
}

function scalar(value: unknown, limit: number): string {
  if (typeof value !== "string") return JSON.stringify(value) ?? "null";
  const shown = Math.max(1, Math.min(MAX_STRING, limit));
  return value.length <= shown
    ? JSON.stringify(value)
    : `${JSON.stringify(value.slice(0, shown)).slice(0, -1)}…"`;
}
