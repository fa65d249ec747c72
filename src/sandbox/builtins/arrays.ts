/** Arrays: functions that walk them are limited by length, and those that create them are counted. */
import { allocate, tick } from "../guard/guard.ts";
import { apply, isArray } from "../guard/intrinsics.ts";
import { allocateForSource, lengthOf, MAX_ITEMS, numberAt, tooLong, walk } from "./sizes.ts";
import { checkConstruction, checkEach, functionsOf, method, type Native, replace } from "./wrap.ts";

/** Functions whose time does not depend on the length. */
const CONSTANT = ["push", "pop", "at"];
const COPYING = ["slice", "splice", "toSpliced", "with", "toReversed", "map", "filter", "fill", "flatMap"];
const UNBOUNDED = Number.POSITIVE_INFINITY;
const JOINING = ["join", "toString", "toLocaleString"];
/** Arrays up to this length are allocated at once; longer ones are empty at first. */
const MAX_PREALLOCATED = 2 ** 25 + 2 ** 20;

export function boundArrays(): void {
  const { prototype } = Array;
  const special = [...CONSTANT, ...JOINING, "sort", "toSorted", "flat", "concat"];
  checkEach(prototype, functionsOf(prototype, special), walk);
  checkEach(prototype, COPYING, (self) => allocate(8 * lengthOf(self)));
  checkEach(prototype, ["concat"], (self, args) => {
    let items = walk(self);
    for (let index = 0; index < args.length; index += 1) {
      items += typeof args[index] === "object" ? walk(args[index]) : 1;
    }
    if (items > 2 * MAX_ITEMS) throw tooLong();
    allocate(8 * items);
  });
  checkEach(prototype, ["flat"], (self, args) =>
    countNested(self, args[0] === undefined ? 1 : numberAt(args, 0)),
  );
  checkEach(prototype, JOINING, (self, args) => {
    const separator = args[0] === undefined ? "," : `${args[0]}`;
    if (args.length > 0) args[0] = separator;
    const items = countNested(self, UNBOUNDED) * (1 + separator.length);
    if (items > 4 * MAX_ITEMS) throw tooLong();
    allocate(2 * items);
  });
  for (const name of ["sort", "toSorted"]) replace(prototype, name, sorting);
  checkEach(Array, ["from", "fromAsync"], (_, args) => allocateForSource(args[0]));
  checkEach(Array, ["of"], (_, args) => allocate(8 * args.length));
  checkConstruction(globalThis, "Array", (args) => {
    const length = args[0];
    if (args.length === 1 && typeof length === "number" && length < MAX_PREALLOCATED) allocate(8 * length);
  });
}

/** Passes a comparison of ours, because a tick needs code of ours to stand in. */
const sorting = (native: Native): Native =>
  method((self, args) => {
    walk(self);
    const compare = args[0];
    if (compare !== undefined && typeof compare !== "function") return apply(native, self, args);
    return apply(native, self, [compare === undefined ? compareTexts : ticking(compare as Native)]);
  });

function compareTexts(a: unknown, b: unknown): number {
  tick();
  const left = `${a}`;
  const right = `${b}`;
  return left < right ? -1 : left > right ? 1 : 0;
}

const ticking =
  (compare: Native): Native =>
  (a, b) => {
    tick();
    return apply(compare, undefined, [a, b]);
  };

/** Counts the items of nested arrays, each time they occur, and the characters of the strings among them. */
function countNested(list: unknown, depth: number): number {
  let count = walk(list);
  if (!isArray(list) || depth < 1) return count;
  for (let index = 0; index < list.length; index += 1) {
    tick();
    const item: unknown = list[index];
    if (isArray(item)) count += countNested(item, depth - 1);
    else if (typeof item === "string") count += item.length;
    if (count > MAX_ITEMS) throw tooLong();
  }
  return count;
}
