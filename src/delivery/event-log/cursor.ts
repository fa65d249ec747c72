/** Cursors of the event log: opaque to clients, and checked when they come back. Pure. */
import { fnv1a } from "../../platform/crypto/hash.ts";

/** Grows when the shards of a log change, so that no cursor is read as one of another layout. */
const VERSION = "1";
const FORM = /^1\.([0-9a-z]{1,7})((?:\.[0-9a-z]{1,10})+)$/;
const BASE = 36;

/** The scope of a cursor, such as an organization or a room, in a few characters. */
const tagOf = (scope: string): string => fnv1a(scope).toString(BASE);

/** The cursor behind these positions, one for each shard that is read. */
export const encodeCursor = (scope: string, positions: readonly number[]): string =>
  btoa([VERSION, tagOf(scope), ...positions.map((position) => position.toString(BASE))].join("."))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace(/=+$/, "");

/** The positions of a cursor; null when it is none of this scope with this number of shards. */
export function decodeCursor(scope: string, cursor: string, shards: number): readonly number[] | null {
  const [, tag, positions = ""] = FORM.exec(fromBase64(cursor) ?? "") ?? [];
  if (tag !== tagOf(scope)) return null;
  const numbers = positions
    .slice(1)
    .split(".")
    .map((position) => Number.parseInt(position, BASE));
  return numbers.length === shards && numbers.every(Number.isSafeInteger) ? numbers : null;
}

function fromBase64(text: string): string | null {
  try {
    return atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  } catch {
    return null;
  }
}
