/** Collects the requests of an isolate, and appends those of each organization to its log about once a second. */

import type { LoggedRequest } from "@atrium/contract/rest/request-log.ts";
import { cut } from "@atrium/contract/text.ts";
import type { ServedRequest } from "../../http/pipeline.ts";
import { TtlCache } from "../../platform/cache.ts";
import { shortAddress } from "../../platform/network.ts";
import { traceIdOf } from "../../platform/trace.ts";

/** Requests of this time are appended together. */
const COLLECT_MS = 1_000;
/** An organization is known to exist until this time after a request with a valid credential. */
const KNOWN_MS = 10 * 60_000;
const MAX_KNOWN = 10_000;
const MAX_MESSAGE_CHARS = 500;
/** Reading the log would otherwise fill it. */
const READS_OF_LOG: readonly string[] = ["listRequests", "getRequest"];

export interface RecorderPorts {
  append(accountId: string, requests: readonly LoggedRequest[]): Promise<void>;
  wait(ms: number): Promise<unknown>;
  /** A random number in [0, 1). */
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
    await this.#ports.append(accountId, sample.take());
  }
}

/** The log entry of a request. Has no path: a file's key gives access to the file, and names may be private. */
function present(request: ServedRequest, weight: number): LoggedRequest {
  const { actor, address, at, durationMs, endpoint, error, params, requestId, status } = request;
  const { clientRequestId, traceparent } = request;
  return {
    id: requestId,
    at,
    durationMs,
    status,
    weight,
    address: shortAddress(address),
    method: endpoint.method,
    route: endpoint.path,
    operation: endpoint.operation,
    ...credentialOf(actor),
    clientRequestId,
    traceId: traceparent === null ? null : traceIdOf(traceparent),
    roomId: params.roomId ?? null,
    errorCode: error?.code ?? null,
    errorMessage: error ? cut(error.message, MAX_MESSAGE_CHARS) : null,
  };
}

function credentialOf(actor: ServedRequest["actor"]): Pick<LoggedRequest, "credential" | "credentialId"> {
  if (actor?.type === "key") return { credential: "key", credentialId: actor.keyId };
  if (actor?.type === "person") return { credential: "member", credentialId: actor.personId };
  if (actor?.type === "user") return { credential: "user", credentialId: actor.userId };
  if (actor?.type === "identity") return { credential: "user", credentialId: actor.identityId };
  return { credential: "none", credentialId: null };
}

/** Kept of each class: failures are searched for; anyone can cause requests without a valid credential. */
const MAX_KEPT = { successes: 20, failures: 50, strangers: 5 };

/** A uniform sample of the requests that were added (Vitter's algorithm R). */
class Reservoir {
  readonly #max: number;
  readonly #kept: ServedRequest[] = [];
  #added = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** `random` is in [0, 1). */
  add(request: ServedRequest, random: number): void {
    this.#added += 1;
    const isFull = this.#kept.length === this.#max;
    const place = isFull ? Math.floor(random * this.#added) : this.#kept.length;
    if (place < this.#max) this.#kept[place] = request;
  }

  /** Each kept request stands for `weight` ones. */
  take(): LoggedRequest[] {
    return this.#kept.map((request) => present(request, this.#added / this.#kept.length));
  }
}

/** A sample of the requests of one organization in one isolate, until they are appended to its log. */
class RequestSample {
  readonly #successes = new Reservoir(MAX_KEPT.successes);
  readonly #failures = new Reservoir(MAX_KEPT.failures);
  readonly #strangers = new Reservoir(MAX_KEPT.strangers);

  add(request: ServedRequest, random: number): void {
    const { actor, status } = request;
    const isStranger = actor === null || actor.type === "anyone";
    (isStranger ? this.#strangers : status >= 400 ? this.#failures : this.#successes).add(request, random);
  }

  /** The log's entries in the order of time. */
  take(): LoggedRequest[] {
    return [this.#successes, this.#failures, this.#strangers]
      .flatMap((reservoir) => reservoir.take())
      .sort((a, b) => a.at - b.at);
  }
}
