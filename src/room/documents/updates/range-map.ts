/** A value for stretches of operations, by client. */
import type { ClockRange } from "./id-set.ts";

interface Span<Value> {
  readonly start: number;
  readonly end: number;
  readonly value: Value;
}

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

  /** Lists all stretches by client, in their order. */
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
