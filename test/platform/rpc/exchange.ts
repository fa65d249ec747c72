/** Calls of objects as fixtures store them: what differs from run to run by a name, and the comparison with what is now. */

/** One call of an object's method. */
export interface Exchange {
  /** The name of the object. */
  readonly object: string;
  readonly method: string;
  readonly sent: readonly unknown[];
  readonly answer: unknown;
}

/** By the name of the call of the gateway, the calls of objects that it makes. */
export type Recording = Readonly<Record<string, readonly Exchange[]>>;

const TIME = "<time>";
const DATE = "<date>";
const NAMED = /^<[a-z]+(?: \d+)?>$/;
const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const ISO = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;
/** No number but an epoch time in milliseconds is as large. */
const FIRST_TIME = 1e12;
/** Words for people: they may change. */
const PROSE = new Set(["message", "description", "error"]);

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function parseText(text: string): unknown {
  if (!/^[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What a value consists of, as JSON can hold it: bytes, and JSON as text, become objects of their own. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return { bytes: btoa(String.fromCharCode(...value)) };
  if (typeof value === "string") {
    const parsed = parseText(value);
    return parsed === undefined ? value : { json: plain(parsed) };
  }
  if (Array.isArray(value)) return value.map(plain);
  if (!isObject(value)) return value ?? null;
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(fields.map(([name, field]) => [name, plain(field)]));
}

/** The texts that differ from run to run, by their names in fixtures. */
export class Names {
  readonly #values: Map<string, string>;
  /** What stands for every time of a fixture, in epoch milliseconds. */
  readonly #now: number;

  constructor(values: Readonly<Record<string, string>>, now: number) {
    this.#values = new Map(Object.entries(values).map(([name, value]) => [`<${name}>`, value]));
    this.#now = now;
  }

  /** As a fixture stores it; an ID that has no name yet receives one. */
  encode(value: unknown): unknown {
    return this.#map(plain(value), (leaf) => {
      if (typeof leaf === "number") return leaf >= FIRST_TIME ? TIME : leaf;
      if (typeof leaf !== "string") return leaf;
      if (ISO.test(leaf)) return DATE;
      for (const [id] of leaf.matchAll(UUID))
        if (![...this.#values.values()].includes(id)) this.#values.set(this.#nextId(), id);
      return [...this.#values].reduce((text, [name, known]) => text.replaceAll(known, name), leaf);
    });
  }

  /** What a fixture stores, as it was passed. An ID that was not bound by an answer becomes one of its own. */
  decode(value: unknown): unknown {
    const [bytes, json] = isObject(value) ? [value.bytes, value.json] : [];
    if (typeof bytes === "string") return Uint8Array.from(atob(bytes), (char) => char.charCodeAt(0));
    if (json !== undefined) return JSON.stringify(this.decode(json));
    if (Array.isArray(value)) return value.map((each) => this.decode(each));
    if (isObject(value))
      return Object.fromEntries(
        Object.entries(value).map(([name, field]) => [this.#decodeText(name), this.decode(field)]),
      );
    if (value === TIME) return this.#now;
    if (value === DATE) return new Date(this.#now).toISOString();
    return typeof value === "string" ? this.#decodeText(value) : value;
  }

  #decodeText(text: string): string {
    if (NAMED.test(text) && !this.#values.has(text)) this.#values.set(text, crypto.randomUUID());
    return [...this.#values].reduce((decoded, [name, known]) => decoded.replaceAll(name, known), text);
  }

  /**
   * Where a value is not what one who knows only the recorded one understands: a field is missing, of another type or of
   * another meaning. And where it has more than was recorded. IDs that the fixture names are bound to what they are now.
   */
  compare(recorded: unknown, value: unknown): Comparison {
    const [broken, more]: [string[], string[]] = [[], []];
    const visit = (then: unknown, now: unknown, path: string): void => {
      if (Array.isArray(then) && Array.isArray(now) && then.length === now.length)
        for (const [index, each] of then.entries()) visit(each, now[index], `${path}[${index}]`);
      else if (isObject(then) && isObject(now)) {
        const nameOf = (name: string) => (name in now ? name : this.#decodeText(name));
        const names = Object.keys(then).map(nameOf);
        for (const name of Object.keys(then)) visit(then[name], now[nameOf(name)], `${path}.${name}`);
        more.push(...Object.keys(now).flatMap((name) => (names.includes(name) ? [] : `${path}.${name}`)));
      } else if (!this.#isAlike(then, now, path.split(".").at(-1) ?? ""))
        broken.push(`${path}: ${JSON.stringify(now)} instead of ${JSON.stringify(then)}`);
    };
    visit(recorded, plain(value), "");
    return { broken, more };
  }

  #isAlike(then: unknown, now: unknown, field: string): boolean {
    if (then === now) return true;
    if (then === TIME) return typeof now === "number" && now >= FIRST_TIME;
    if (typeof then === "number") return typeof now === "number" && (then === 0) === (now === 0);
    if (typeof then !== "string" || typeof now !== "string") return then === now;
    if (then === DATE) return ISO.test(now);
    if (PROSE.has(field) || field === "bytes") return true;
    if (NAMED.test(then) && !this.#values.has(then)) this.#values.set(then, now);
    return this.#decodeText(then) === now;
  }

  #nextId(): string {
    return `<id ${[...this.#values.keys()].filter((name) => name.startsWith("<id ")).length + 1}>`;
  }

  #map(value: unknown, change: (leaf: unknown) => unknown): unknown {
    if (Array.isArray(value)) return value.map((each) => this.#map(each, change));
    if (!isObject(value)) return change(value);
    return Object.fromEntries(
      Object.entries(value).map(([name, field]) => [String(change(name)), this.#map(field, change)]),
    );
  }
}

export interface Comparison {
  readonly broken: readonly string[];
  readonly more: readonly string[];
}

/** The same with a field in every object that no version knows. */
export function withMore(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withMore);
  if (!isObject(value) || typeof value.bytes === "string") return value;
  const fields = Object.entries(value).map(([name, field]) => [name, withMore(field)]);
  return Object.fromEntries(value.json === undefined ? [...fields, ["ofALaterVersion", "more"]] : fields);
}
