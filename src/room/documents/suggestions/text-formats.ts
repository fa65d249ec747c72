/** The formats of a text at both points of a fork, and the part to which each changed mark belongs. */
import type * as Y from "yjs";
import type { Piece, Point } from "../compare/compared-document.ts";
import { ShownFormats, type TagBudget } from "../compare/shown-text.ts";
import { jsonOf } from "../updates/built-document.ts";
import type { ClockRange } from "../updates/ranges.ts";

/** A mark that the fork inserted or deleted. */
export interface ChangedMark {
  readonly op: "insert" | "delete";
  readonly range: ClockRange;
}

interface Values {
  before: string;
  after: string;
}

/** The changed marks of one key between two unchanged units. */
interface KeyRun {
  /** Whether both points had the same value before them. */
  readonly startsEqual: boolean;
  readonly marks: ChangedMark[];
}

/** The text that is formatted otherwise, from its first to its last character, with its tags. */
interface Stretch {
  before: string;
  after: string;
  /** Lengths up to the last character that differs. */
  beforeEnd: number;
  afterEnd: number;
  readonly units: ClockRange[];
  readonly flowStart: number;
  flowEnd: number;
}

/** Longer texts are cut: tags of many formats around each character would take the square of the document. */
const MAX_LENGTH = 4096;

const NONE = "null";

export class TextFormats {
  /** Marks that change the format of unchanged text. */
  readonly marks: ChangedMark[] = [];
  stretch: Stretch | null = null;
  readonly #values = new Map<string, Values>();
  readonly #open = { before: new ShownFormats(), after: new ShownFormats() };
  readonly #budget: TagBudget;
  readonly #run = new Map<string, KeyRun>();
  #differing = 0;

  constructor(budget: TagBudget) {
    this.#budget = budget;
  }

  pass(item: Y.Item, mark: Y.ContentFormat, { op, start, end }: Piece): void {
    const { key } = mark;
    const value = jsonOf(mark.value) ?? NONE;
    const values = this.#values.get(key) ?? { before: NONE, after: NONE };
    const wasEqual = values.before === values.after;
    if (op !== "keep") {
      const run = this.#run.get(key) ?? { startsEqual: wasEqual, marks: [] };
      const { client, clock } = item.id;
      run.marks.push({ op, range: { client, start: clock + start, end: clock + end } });
      this.#run.set(key, run);
    }
    for (const [point, other] of [
      ["before", "insert"],
      ["after", "delete"],
    ] as const)
      if (op !== other) {
        values[point] = value;
        this.#open[point].pass(mark);
      }
    this.#values.set(key, values);
    this.#differing += Number(wasEqual) - Number(values.before === values.after);
  }

  /** Ends the changes before an unchanged unit, or the end. Returns the marks that format none but changed text. */
  endRun(isEnd: boolean): ChangedMark[] {
    if (this.#run.size === 0) return [];
    const within: ChangedMark[] = [];
    for (const [key, { startsEqual, marks }] of this.#run) {
      const values = this.#values.get(key);
      const isWithin = startsEqual && (isEnd || values?.before === values?.after);
      (isWithin ? within : this.marks).push(...marks);
    }
    this.#run.clear();
    return within;
  }

  /** Passes unchanged text, or an unchanged value without text, at an offset of the unchanged text. */
  keep(text: string, range: ClockRange, flow: number): void {
    const isDiffering = this.#differing > 0;
    if (isDiffering)
      this.stretch ??= {
        before: "",
        after: "",
        beforeEnd: 0,
        afterEnd: 0,
        units: [],
        flowStart: flow,
        flowEnd: flow,
      };
    const { stretch } = this;
    if (stretch === null) return;
    stretch.before = this.#appended("before", stretch.before, text);
    stretch.after = this.#appended("after", stretch.after, text);
    if (!isDiffering) return;
    stretch.units.push(range);
    stretch.beforeEnd = stretch.before.length;
    stretch.afterEnd = stretch.after.length;
    stretch.flowEnd = flow + text.length;
  }

  /** The tags of the formats here. CONFLICT when all are too long together. */
  tags(point: Point): ReturnType<ShownFormats["tags"]> {
    return this.#open[point].tags(this.#budget);
  }

  #appended(point: keyof Values, rendered: string, text: string): string {
    if (rendered.length >= MAX_LENGTH) return rendered;
    const { opening, closing } = this.tags(point);
    return `${rendered}${opening}${text}${closing}`;
  }
}
