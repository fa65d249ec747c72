/** The versions of a board: what each person did to it without a pause, and what the board was then. Pure. */
import { textOf } from "../room/text.ts";

/** A change as the service lists it; `value` is null for a deletion, and `by` for the service itself. */
export interface Change {
  readonly seq: number;
  /** ISO 8601. */
  readonly at: string;
  readonly store: string;
  readonly key: string;
  readonly value: unknown;
  readonly by: string | null;
}

export interface Past {
  /** The entries that have not changed since the oldest kept change. */
  readonly start: readonly Pick<Change, "store" | "key" | "value">[];
  /** Oldest first. */
  readonly changes: readonly Change[];
}

/** The entries of a store after the first `count` changes. */
export function entriesAt(
  { start, changes }: Past,
  count: number,
  store: string,
): ReadonlyMap<string, unknown> {
  const entries = new Map<string, unknown>();
  for (const { key, value, store: its } of [...start, ...changes.slice(0, count)]) {
    if (its !== store) continue;
    if (value === null) entries.delete(key);
    else entries.set(key, value);
  }
  return entries;
}

/** Changes that people see as one. */
export interface Version extends Pick<Change, "at" | "by"> {
  /** The number of changes up to its last one. */
  readonly count: number;
  /** A verb with its object: “drew an oval”. */
  readonly deed: string;
}

/** A pause that ends a version: between two changes of one entry or by the service, and between changes of several. */
const PAUSE_MS = 2_000;
const BATCH_MS = 200;

/** The versions, oldest first. */
export function versionsOf({ start, changes }: Past): readonly Version[] {
  const entries = new Map(start.map((entry) => [nameOf(entry), entry.value]));
  const versions: Version[] = [];
  let open: Change[] = [];
  let before: unknown;
  for (const [index, change] of changes.entries()) {
    const last = open.at(-1);
    if (last === undefined || !continues(change, last)) {
      open = [];
      before = entries.get(nameOf(change)) ?? null;
    } else versions.pop();
    open.push(change);
    entries.set(nameOf(change), change.value);
    const { at, by } = change;
    const isFirst = by === null && versions.length === 0 && start.length === 0;
    versions.push({ at, by, count: index + 1, deed: isFirst ? "opened the board" : deedOf(open, before) });
  }
  return versions;
}

const nameOf = ({ store, key }: Pick<Change, "store" | "key">): string => JSON.stringify([store, key]);

function continues(change: Change, last: Change): boolean {
  const pause = change.by === null || nameOf(change) === nameOf(last) ? PAUSE_MS : BATCH_MS;
  return change.by === last.by && Date.parse(change.at) - Date.parse(last.at) <= pause;
}

/** The fields of any value: clients can write anything. */
const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> => Object(value);

const NAMES = new Map<unknown, string>([
  ["box", "a box"],
  ["oval", "an oval"],
  ["arrow", "an arrow"],
]);

/** `before` is the value of the first change's entry before it. */
function deedOf(changes: readonly Change[], before: unknown): string {
  const entries = new Set(changes.map(nameOf)).size;
  const last = changes.at(-1);
  if (last === undefined || entries > 1) return `changed ${entries} things`;
  const { store, value } = last;
  if (store !== "notes") {
    const name = NAMES.get(fieldsOf(value ?? before).kind) ?? "a line";
    if (value === null) return `erased ${name}`;
    return before === null ? `drew ${name}` : `moved ${name}`;
  }
  if (value === null) return `deleted ${quoted(before)}`;
  const isMoved = before !== null && fieldsOf(value).text === fieldsOf(before).text;
  return isMoved ? `moved ${quoted(value)}` : `wrote ${quoted(value)}`;
}

const MAX_QUOTED = 40;

function quoted(value: unknown): string {
  const text = textOf(fieldsOf(value).text).trim();
  if (text === "") return "a note";
  return text.length > MAX_QUOTED ? `“${text.slice(0, MAX_QUOTED)}…”` : `“${text}”`;
}
