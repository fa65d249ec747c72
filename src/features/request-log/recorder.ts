/** Collects the requests of an isolate, and appends those of each organization to its log about once a second. */
import type { ServedRequest } from "../../http/pipeline.ts";
import { TtlCache } from "../../platform/cache.ts";
import { shortAddress } from "../../platform/network.ts";
import { traceIdOf } from "../../platform/trace.ts";
import type { LoggedRequest } from "./schema.ts";

/** Requests of this time are appended together. */
const COLLECT_MS = 1_000;
/** An organization is known to exist until this time after a request with a valid credential. */
const KNOWN_MS = 10 * 60_000;
const MAX_KNOWN = 10_000;
const MAX_MESSAGE_CHARS = 500;
/** Reading the log would otherwise fill it. */
const READS_OF_LOG: readonly string[] = ["listRequests", "getRequest"];

export interface RecorderPorts {
  /** Appends requests to the log of an organization. */
  append(accountId: string, requests: readonly LoggedRequest[]): Promise<void>;
  /** Resolves after `ms` milliseconds. */
  wait(ms: number): Promise<unknown>;
  /** In [0, 1). */
  random(): number;
}

export class RequestRecorder {
  readonly #ports: RecorderPorts;
  readonly #samples = new Map<string, RequestSample>();
  /** An object is never made for an organization that only a path names. */
  readonly #known = new TtlCache<true>({ ttlMs: KNOWN_MS, maxEntries: MAX_KNOWN });

  constructor(ports: RecorderPorts) {
    this.#ports = ports;
  }

  /** Records a request. `defer` lets work finish after the response. */
  record(request: ServedRequest, defer: (work: Promise<unknown>) => void): void {
    const { accountId, actor, at, endpoint, status } = request;
    if (actor !== null && actor.type !== "anyone") this.#known.set(accountId, true, at);
    else if (this.#known.get(accountId, at) === undefined) return;
    if (status < 400 && READS_OF_LOG.includes(endpoint.operation)) return;
    const sample = this.#samples.get(accountId) ?? this.#begin(accountId, defer);
    sample.add(request, this.#ports.random());
  }

  #begin(accountId: string, defer: (work: Promise<unknown>) => void): RequestSample {
    const sample = new RequestSample();
    this.#samples.set(accountId, sample);
    defer(this.#appendLater(accountId, sample));
    return sample;
  }

  async #appendLater(accountId: string, sample: RequestSample): Promise<void> {
    await this.#ports.wait(COLLECT_MS);
    this.#samples.delete(accountId);
    await this.#ports.append(accountId, sample.take().map(presentSampled));
  }
}

/** The entry of a request. It has no path: a file's key gives access to the file, and names may be private. */
function presentSampled({ request, weight }: SampledRequest): LoggedRequest {
  const { actor, address, at, durationMs, endpoint, error, params, requestId, status } = request;
  const { clientRequestId, traceparent } = request;
  return {
    ...{ id: requestId, at, durationMs, status, weight, address: shortAddress(address) },
    ...{ method: endpoint.method, route: endpoint.path, operation: endpoint.operation },
    ...credentialOf(actor),
    clientRequestId,
    traceId: traceparent === null ? null : traceIdOf(traceparent),
    roomId: params.roomId ?? null,
    errorCode: error?.code ?? null,
    errorMessage: error?.message.slice(0, MAX_MESSAGE_CHARS) ?? null,
  };
}

function credentialOf(actor: ServedRequest["actor"]): Pick<LoggedRequest, "credential" | "credentialId"> {
  if (actor?.type === "key") return { credential: "key", credentialId: actor.keyId };
  if (actor?.type === "person") return { credential: "member", credentialId: actor.personId };
  if (actor?.type === "user") return { credential: "user", credentialId: actor.userId };
  return { credential: "none", credentialId: null };
}

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
