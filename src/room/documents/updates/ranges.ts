/** A set of operations: intervals of clocks by client. */
import * as decoding from "lib0/decoding";
import * as encoding from "lib0/encoding";

/** Consecutive operations of one client; `end` is exclusive. */
export interface ClockRange {
  readonly client: number;
  readonly start: number;
  readonly end: number;
}

export class IdSet {
  /** Start and end of each interval in turn: sorted, disjoint, not adjacent. */
  readonly #byClient = new Map<number, number[]>();
  #intervals = 0;

  /** The number of intervals: the memory of the set. */
  get size(): number {
    return this.#intervals;
  }

  add({ client, start, end }: ClockRange): void {
    const bounds = this.#byClient.get(client);
    if (bounds === undefined) {
      this.#byClient.set(client, [start, end]);
      this.#intervals += 1;
      return;
    }
    // Overlapping and touching intervals, which the new one replaces.
    let first = firstEndingFrom(bounds, start);
    const at = first;
    let [from, to] = [start, end];
    for (; first < bounds.length && (bounds[first] ?? 0) <= end; first += 2) {
      from = Math.min(from, bounds[first] ?? from);
      to = Math.max(to, bounds[first + 1] ?? to);
    }
    bounds.splice(at, first - at, from, to);
    this.#intervals += 1 - (first - at) / 2;
  }

  addAll(ranges: Iterable<ClockRange>): void {
    for (const range of ranges) this.add(range);
  }

  covers({ client, start, end }: ClockRange): boolean {
    const bounds = this.#byClient.get(client);
    if (bounds === undefined) return false;
    const at = firstEndingFrom(bounds, end);
    return at < bounds.length && (bounds[at] ?? 0) <= start;
  }

  /** Tells whether the set has an operation, and up to which clock (exclusive) that holds. */
  at(client: number, clock: number): { readonly value: true | undefined; readonly end: number } {
    const bounds = this.#byClient.get(client) ?? [];
    const at = firstEndingFrom(bounds, clock + 1);
    const [start, end] = [bounds[at] ?? Number.POSITIVE_INFINITY, bounds[at + 1] ?? 0];
    return start > clock ? { value: undefined, end: start } : { value: true, end };
  }

  /** Whether the set has any of these operations. */
  meets({ client, start, end }: ClockRange): boolean {
    const at = this.at(client, start);
    return at.value === true || at.end < end;
  }

  clients(): Iterable<number> {
    return this.#byClient.keys();
  }

  *ranges(): Generator<ClockRange> {
    for (const [client, bounds] of this.#byClient) {
      for (let at = 0; at < bounds.length; at += 2)
        yield { client, start: bounds[at] ?? 0, end: bounds[at + 1] ?? 0 };
    }
  }

  /** Reduces a state vector to the clients of the set. */
  narrow(stateVector: Uint8Array): Uint8Array {
    const decoder = decoding.createDecoder(stateVector);
    const clocks = new Map<number, number>();
    for (let left = decoding.readVarUint(decoder); left > 0; left -= 1) {
      const [client, clock] = [decoding.readVarUint(decoder), decoding.readVarUint(decoder)];
      if (this.#byClient.has(client)) clocks.set(client, clock);
    }
    return encodeClocks(clocks);
  }

  /** The state vector, encoded: operations of each client up to the first gap. */
  encodeStateVector(): Uint8Array {
    const contiguous = [...this.#byClient].filter(([, bounds]) => bounds[0] === 0);
    return encodeClocks(new Map(contiguous.map(([client, bounds]) => [client, bounds[1] ?? 0])));
  }

  write(encoder: encoding.Encoder): void {
    encoding.writeVarUint(encoder, this.#byClient.size);
    for (const [client, bounds] of this.#byClient) {
      encoding.writeVarUint(encoder, client);
      encoding.writeVarUint(encoder, bounds.length);
      let last = 0;
      for (const bound of bounds) {
        encoding.writeVarUint(encoder, bound - last);
        last = bound;
      }
    }
  }

  static read(decoder: decoding.Decoder): IdSet {
    const set = new IdSet();
    for (let clients = decoding.readVarUint(decoder); clients > 0; clients -= 1) {
      const client = decoding.readVarUint(decoder);
      const length = decoding.readVarUint(decoder);
      const bounds: number[] = [];
      for (let last = 0; bounds.length < length; bounds.push(last)) last += decoding.readVarUint(decoder);
      set.#byClient.set(client, bounds);
      set.#intervals += length / 2;
    }
    return set;
  }
}

const encodeClocks = (clocks: ReadonlyMap<number, number>): Uint8Array =>
  encoding.encode((encoder) => {
    encoding.writeVarUint(encoder, clocks.size);
    for (const [client, clock] of clocks) {
      encoding.writeVarUint(encoder, client);
      encoding.writeVarUint(encoder, clock);
    }
  });

/** The position of the first interval that ends at `clock` or later; the length for none. */
function firstEndingFrom(bounds: readonly number[], clock: number): number {
  if ((bounds.at(-1) ?? 0) < clock) return bounds.length;
  let [low, high] = [0, bounds.length / 2 - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((bounds[2 * middle + 1] ?? 0) >= clock) high = middle;
    else low = middle + 1;
  }
  return 2 * low;
}

interface Span<Value> {
  readonly start: number;
  readonly end: number;
  readonly value: Value;
}

/** Values of operations: intervals of clocks by client, each with a value. */
export class RangeMap<Value> {
  /** Sorted and disjoint. */
  readonly #byClient = new Map<number, Span<Value>[]>();

  /** Sets the value of those operations of the range that have none. */
  fill({ client, start, end }: ClockRange, value: Value): void {
    const spans = this.#byClient.get(client) ?? [];
    const first = firstEndingAfter(spans, start);
    const filled: Span<Value>[] = [];
    let [next, from] = [first, start];
    for (let span = spans[next]; span !== undefined && span.start < end; span = spans[next]) {
      if (from < span.start) filled.push({ start: from, end: span.start, value });
      filled.push(span);
      from = span.end;
      next += 1;
    }
    if (from < end) filled.push({ start: from, end, value });
    // All of it has values: clients repeat all deletions with each connection.
    if (filled.length === next - first) return;
    const isAtEnd = first === spans.length;
    if (isAtEnd) spans.push(...filled);
    this.#byClient.set(client, isAtEnd ? spans : [...spans.slice(0, first), ...filled, ...spans.slice(next)]);
  }

  /** The value of an operation, and up to which clock (exclusive) it is the same. */
  at(client: number, clock: number): { readonly value: Value | undefined; readonly end: number } {
    const spans = this.#byClient.get(client) ?? [];
    const span = spans[firstEndingAfter(spans, clock)];
    if (span === undefined) return { value: undefined, end: Number.POSITIVE_INFINITY };
    return span.start > clock ? { value: undefined, end: span.start } : { value: span.value, end: span.end };
  }

  *entries(): Generator<readonly [ClockRange, Value]> {
    for (const [client, spans] of this.#byClient)
      for (const { start, end, value } of spans) yield [{ client, start, end }, value];
  }
}

/** The position of the first span that ends after `clock`; the length for none. */
function firstEndingAfter(spans: readonly Span<unknown>[], clock: number): number {
  if ((spans.at(-1)?.end ?? 0) <= clock) return spans.length;
  let [low, high] = [0, spans.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((spans[middle]?.end ?? 0) > clock) high = middle;
    else low = middle + 1;
  }
  return low;
}
