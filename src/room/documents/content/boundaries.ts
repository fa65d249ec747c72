/** Finds where the pieces of a document begin: between them, something was inserted later, or only one of two was deleted. */
import { AppError } from "../../../platform/errors.ts";
import { MAX_SHOWN_PIECES } from "../updates/limits.ts";
import { readUpdate } from "../updates/update-reader.ts";

/** By client, in ascending order of their numbers, the clocks at which pieces begin, and where the last one ends. */
export type Boundaries = readonly (readonly [client: number, clocks: readonly number[]])[];

export function findBoundaries(update: Uint8Array): Boundaries {
  const collector = new Collector();
  let [client, end] = [0, 0];
  readUpdate(update, {
    block() {
      collector.add(client, end);
    },
    struct({ origin, rightOrigin, ...struct }) {
      const continues = origin?.client === struct.client && origin.clock + 1 === struct.clock;
      collector.add(struct.client, struct.clock);
      if (origin !== null && !continues) collector.add(origin.client, origin.clock + 1);
      if (rightOrigin !== null) collector.add(rightOrigin.client, rightOrigin.clock);
      [client, end] = [struct.client, struct.clock + struct.length];
    },
    deleted(range) {
      collector.add(range.client, range.start);
      collector.add(range.client, range.end);
    },
  });
  collector.add(client, end);
  return collector.finish();
}

class Collector {
  readonly #byClient = new Map<number, number[]>();
  #count = 0;

  add(client: number, clock: number): void {
    const clocks = this.#byClient.get(client);
    // What is missing before the first operation that is there is a piece as well.
    if (clocks === undefined) this.#byClient.set(client, clock === 0 ? [0] : [0, clock]);
    else if (clocks.at(-1) !== clock) clocks.push(clock);
    else return;
    // Most are found more than once.
    this.#count += 1;
    this.#require(this.#count <= 3 * MAX_SHOWN_PIECES);
  }

  finish(): Boundaries {
    const boundaries = [...this.#byClient]
      .sort(([one], [other]) => one - other)
      .map(([client, clocks]) => [client, distinct(clocks)] as const);
    this.#require(boundaries.reduce((sum, [, clocks]) => sum + clocks.length, 0) <= MAX_SHOWN_PIECES);
    return boundaries;
  }

  #require(isWithin: boolean): void {
    if (!isWithin)
      throw new AppError(
        "Rooms",
        "CONFLICT",
        `The document was written in more than ${MAX_SHOWN_PIECES} separate pieces, which cannot be shown; read its update`,
      );
  }
}

/** Sorted. In its place: there may be a million. */
function distinct(clocks: number[]): number[] {
  clocks.sort((one, other) => one - other);
  let count = 0;
  for (const clock of clocks)
    if (count === 0 || clocks[count - 1] !== clock) {
      clocks[count] = clock;
      count += 1;
    }
  clocks.length = count;
  return clocks;
}
