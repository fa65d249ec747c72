/** A sample of the requests of one organization in one isolate, until they are appended to its log. Pure. */
import type { ServedRequest } from "../../http/served-request.ts";

/** Successes beyond this number are sampled, each equally likely: those that are kept stand for the others. */
const MAX_SUCCESSES = 20;
/** All failures are kept up to this number, as someone will search for them. */
const MAX_FAILURES = 50;
/** Of those without a valid credential fewer: anyone can cause them. */
const MAX_REFUSED_STRANGERS = 5;

/** A request that is kept, and how many it stands for, itself included. */
export interface SampledRequest {
  readonly request: ServedRequest;
  readonly weight: number;
}

/** As many requests as fit, each of those that were added with the same probability (Vitter's algorithm R). */
class Reservoir {
  readonly #max: number;
  readonly #items: ServedRequest[] = [];
  #added = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** `random` is in [0, 1). */
  add(item: ServedRequest, random: number): void {
    this.#added += 1;
    if (this.#items.length < this.#max) {
      this.#items.push(item);
      return;
    }
    const place = Math.floor(random * this.#added);
    if (place < this.#max) this.#items[place] = item;
  }

  get weighed(): SampledRequest[] {
    const weight = this.#added / Math.max(1, this.#items.length);
    return this.#items.map((request) => ({ request, weight }));
  }
}

export class RequestSample {
  readonly #successes = new Reservoir(MAX_SUCCESSES);
  readonly #failures = new Reservoir(MAX_FAILURES);
  readonly #strangers = new Reservoir(MAX_REFUSED_STRANGERS);

  add(request: ServedRequest, random: number): void {
    if (request.actor === null || request.actor.type === "anyone") this.#strangers.add(request, random);
    else (request.status >= 400 ? this.#failures : this.#successes).add(request, random);
  }

  /** In the order of time. */
  take(): SampledRequest[] {
    const kept = [this.#successes, this.#failures, this.#strangers].flatMap(({ weighed }) => weighed);
    return kept.sort((a, b) => a.request.at - b.request.at);
  }
}
