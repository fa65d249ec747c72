/** Writes a run's result as JSON, strictly: a value that JSON cannot hold is refused with its path, and the size is limited. */
import {
  apply,
  byteLengthOf,
  isArray,
  isFiniteNumber,
  isView,
  join,
  keys,
  push,
  stringify,
  utf8,
} from "./intrinsics.ts";

const MAX_DEPTH = 100;

export class ResultProblem {
  readonly message: string;
  constructor(message: string) {
    this.message = message;
  }
}

/** The result as JSON of at most `maxBytes`; undefined becomes null. Throws a {@link ResultProblem}. */
export function writeResult(result: unknown, maxBytes: number): string {
  const writer = new ResultWriter(maxBytes);
  writer.write(result === undefined ? null : result, "", "result");
  const json = join(writer.parts, "");
  if (byteLengthOf(utf8(json)) > maxBytes) throw writer.tooLong();
  return json;
}

class ResultWriter {
  readonly parts: string[] = [];
  readonly #maxBytes: number;
  readonly #open: object[] = [];
  #length = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  tooLong(): ResultProblem {
    return new ResultProblem(`The result has more than ${this.#maxBytes} bytes of JSON`);
  }

  write(given: unknown, key: string, path: string): void {
    const value = replaced(given, key);
    if (typeof value === "object" && value !== null) this.#writeObject(value, path);
    else this.#add(this.#scalar(value, path));
  }

  #scalar(value: unknown, path: string): string {
    if (value === null || typeof value === "boolean") return `${value}`;
    if (typeof value === "string") {
      if (value.length > this.#maxBytes) throw this.tooLong();
      return stringify(value);
    }
    if (typeof value === "number" && isFiniteNumber(value)) return `${value}`;
    throw unfit(path, `is ${NAMES[typeof value] ?? `${value as number | undefined}`}`);
  }

  #writeObject(value: object, path: string): void {
    if (this.#open.length === MAX_DEPTH) throw unfit(path, "is nested too deeply");
    for (let index = 0; index < this.#open.length; index += 1) {
      if (this.#open[index] === value) throw unfit(path, "contains itself");
    }
    const builtIn = builtInName(value);
    if (builtIn !== null) throw unfit(path, `is a ${builtIn}`);
    push(this.#open, value);
    if (isArray(value)) this.#writeItems(value, path);
    else this.#writeFields(value as Record<string, unknown>, path);
    this.#open.length -= 1;
  }

  #writeItems(items: readonly unknown[], path: string): void {
    this.#add("[");
    for (let index = 0; index < items.length; index += 1) {
      if (index > 0) this.#add(",");
      const item = items[index];
      this.write(item === undefined ? null : item, `${index}`, `${path}[${index}]`);
    }
    this.#add("]");
  }

  /** Fields that are undefined are left out, as `JSON.stringify` does. */
  #writeFields(fields: Record<string, unknown>, path: string): void {
    this.#add("{");
    const names = keys(fields);
    let isFirst = true;
    for (let index = 0; index < names.length; index += 1) {
      const name = names[index] ?? "";
      const value = fields[name];
      if (value === undefined) continue;
      if (name.length > this.#maxBytes) throw this.tooLong();
      this.#add(`${isFirst ? "" : ","}${stringify(name)}:`);
      isFirst = false;
      this.write(value, name, `${path}.${name}`);
    }
    this.#add("}");
  }

  #add(text: string): void {
    this.#length += text.length;
    if (this.#length > this.#maxBytes) throw this.tooLong();
    push(this.parts, text);
  }
}

const NAMES: Readonly<Record<string, string>> = {
  function: "a function",
  symbol: "a symbol",
  bigint: "a BigInt: make it a number or a string",
};

const MAX_PATH_LENGTH = 200;

const unfit = (path: string, what: string): ResultProblem =>
  new ResultProblem(
    `${path.length > MAX_PATH_LENGTH ? "A part of the result" : path} ${what}; a workflow returns plain JSON`,
  );

/** The result of an object's `toJSON`. */
function replaced(value: unknown, key: string): unknown {
  if (typeof value !== "object" || value === null) return value;
  const toJSON = (value as { toJSON?: unknown }).toJSON;
  return typeof toJSON === "function" ? apply(toJSON, value, [key]) : value;
}

const BUILT_IN = [
  ...[Map, Set, WeakMap, WeakSet, Promise, RegExp, Error, ArrayBuffer, Function],
  ...[Request, Response, Headers, Blob, FormData, ReadableStream, WritableStream, TransformStream],
];

/** The class name of a built-in object whose contents JSON would not show; null for any other object. */
function builtInName(value: object): string | null {
  for (let index = 0; index < BUILT_IN.length; index += 1) {
    const type = BUILT_IN[index];
    if (type !== undefined && value instanceof type) return type.name;
  }
  return isView(value) ? "typed array" : null;
}
