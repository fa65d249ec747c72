/** The past of a board: its content after each of the changes that the room keeps. Pure. */

/** A change as the service lists it; `value` is null for a deletion, and `by` for the service itself. */
export interface Change {
  readonly seq: number;
  /** ISO 8601. */
  readonly at: string;
  /** Null for a comment, whose id is the key. */
  readonly store: string | null;
  readonly key: string;
  readonly value: unknown;
  readonly by: string | null;
}

/** An entry or a comment as it is now. */
interface Entry extends Pick<Change, "store" | "key" | "value"> {
  /** The seq of its latest change. */
  readonly version: number;
}

export interface Past {
  /** The entries that have not changed since the oldest kept change. */
  readonly start: readonly Entry[];
  /** Oldest first. */
  readonly changes: readonly Change[];
  /** False when the changes before the oldest one are no longer kept. */
  readonly isWhole: boolean;
}

/** The past that leads to the `present`; changes up to `droppedSeq` are no longer kept. */
export function readPast(changes: readonly Change[], droppedSeq: number, present: readonly Entry[]): Past {
  return {
    start: present.filter(({ version }) => version <= droppedSeq),
    changes: changes.filter(({ seq }) => seq > droppedSeq),
    isWhole: droppedSeq === 0,
  };
}

type Entries = Readonly<Record<string, unknown>>;

/** The entries of a store after the first `count` changes, in the order of their keys. */
export function entriesAt({ start, changes }: Past, count: number, store: string | null): Entries {
  const entries = new Map<string, unknown>();
  for (const { key, value, store: its } of [...start, ...changes.slice(0, count)]) {
    if (its !== store) continue;
    if (value === null) entries.delete(key);
    else entries.set(key, value);
  }
  return Object.fromEntries([...entries].sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** The board after the first `count` changes. */
export const boardAt = (past: Past, count: number) => ({
  notes: entriesAt(past, count, "notes"),
  shapes: entriesAt(past, count, "shapes"),
  comments: entriesAt(past, count, null),
});

/** Changes that people see as one. */
export interface Moment extends Pick<Change, "at" | "by"> {
  /** The number of changes up to its last one. */
  readonly count: number;
  /** A verb with its object: “drew an oval”. */
  readonly deed: string;
}

/** A pause between two changes of one entry that ends a moment, and one between changes of several. */
const PAUSE_MS = 2_000;
const BATCH_MS = 50;

/** The changes of the past, taken together as far as one user made them without a pause. */
export function momentsOf({ start, changes }: Past): readonly Moment[] {
  const entries = new Map(start.map((entry) => [nameOf(entry), entry.value]));
  const moments: Moment[] = [];
  let open: Change[] = [];
  let before: unknown;
  for (const [index, change] of changes.entries()) {
    const last = open.at(-1);
    if (last === undefined || !continues(change, last)) {
      open = [];
      before = entries.get(nameOf(change)) ?? null;
    } else moments.pop();
    open.push(change);
    entries.set(nameOf(change), change.value);
    const { at, by } = change;
    moments.push({ at, by, count: index + 1, deed: deedOf(open, before) });
  }
  return moments;
}

const nameOf = ({ store, key }: Pick<Change, "store" | "key">): string => JSON.stringify([store, key]);

function continues(change: Change, last: Change): boolean {
  const pause = nameOf(change) === nameOf(last) ? PAUSE_MS : BATCH_MS;
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
  if (store === null) return deedOfComment(value, before);
  if (store === "notes") return deedOfNote(value, before);
  const name = NAMES.get(fieldsOf(value ?? before).kind) ?? "a line";
  if (before === null) return `drew ${name}`;
  return value === null ? `erased ${name}` : `changed ${name}`;
}

const MAX_QUOTED = 40;

function quoted(value: unknown): string {
  const text = String(fieldsOf(value).text ?? "").trim();
  if (text === "") return "a note";
  return text.length > MAX_QUOTED ? `“${text.slice(0, MAX_QUOTED)}…”` : `“${text}”`;
}

function deedOfComment(value: unknown, before: unknown): string {
  if (value === null) return `deleted the comment ${quoted(before)}`;
  const [now, then] = [fieldsOf(value), fieldsOf(before)];
  if (before === null || now.text !== then.text) return `commented ${quoted(value)}`;
  if (now.resolved !== then.resolved) return `${now.resolved ? "resolved" : "reopened"} ${quoted(value)}`;
  return `reacted to ${quoted(value)}`;
}

function deedOfNote(value: unknown, before: unknown): string {
  if (value === null) return `deleted ${quoted(before)}`;
  const [now, then] = [fieldsOf(value), fieldsOf(before)];
  if (before === null) return now.text ? `wrote ${quoted(value)}` : "added a note";
  if (now.text !== then.text) return `wrote ${quoted(value)}`;
  return now.x === then.x && now.y === then.y ? `changed ${quoted(value)}` : `moved ${quoted(value)}`;
}
