/** The REST interface as one function: sends a request, retries it safely, and returns the data of the response. */
import { backoffMs } from "../../platform/flow/backoff.ts";
import { AtriumError, type Fault, invalid, isRetryable } from "./error.ts";
import type { RestRequest } from "./rest-request.ts";
import { accountUrl, urlBelow } from "./rest-url.ts";
import { newId } from "./runtime.ts";
import { sendWithProgress } from "./upload-progress.ts";

export interface RestOptions {
  /** The address of the service, such as `https://atrium.example`. */
  readonly serverUrl: string;
  readonly accountId: string;
  /** How often to retry a request that failed for a temporary reason; 3 by default. */
  readonly maxRetries?: number;
  /** How long one attempt can take, in milliseconds; 30 s by default. Uploads have no limit. */
  readonly timeoutMs?: number;
  /** Used instead of the global `fetch`. */
  readonly fetch?: typeof fetch;
}

const DEFAULT_RETRIES = 3;
const DEFAULT_TIMEOUT_MS = 30_000;
const RETRY_BACKOFF = { firstMs: 250, maxMs: 10_000 };

/** RATE_LIMITED is the only temporary error after which the request certainly did not take effect. */
const canRetry = ({ isConditional = false }: RestRequest, { code }: AtriumError): boolean =>
  isConditional ? code === "RATE_LIMITED" : isRetryable(code);

/** The header of each request, or a function that returns it; null where the browser sends a cookie instead. */
type Authorization = string | null | (() => Promise<string>);

interface Envelope {
  readonly data: unknown;
  readonly error: Fault | null;
  readonly requestId: string;
}

interface Attempt {
  /** The data of the response, or the error. */
  readonly outcome: { readonly data: unknown } | { readonly error: AtriumError };
  /** How long the service asks the client to wait; null if it does not say. */
  readonly retryAfterMs: number | null;
}

export class Rest {
  readonly #base: string;
  readonly #authorization: Authorization;
  readonly #maxRetries: number;
  readonly #timeoutMs: number;
  readonly #fetch: typeof fetch;

  constructor(options: RestOptions & { readonly authorization: Authorization }) {
    const { serverUrl, accountId } = options;
    this.#base = accountUrl(serverUrl, accountId);
    this.#authorization = options.authorization;
    this.#maxRetries = options.maxRetries ?? DEFAULT_RETRIES;
    this.#timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    this.#fetch = options.fetch ?? fetch;
  }

  /**
   * Sends a request, and retries it after a delay if the network or the service fails temporarily. The attempts of a
   * POST share an Idempotency-Key, so it takes effect once. Throws {@link AtriumError}.
   */
  async request<Data>(request: RestRequest): Promise<Data> {
    // Encoding does not keep these segments from pointing above the account.
    if (request.path.some((segment) => segment === "." || segment === ".."))
      throw invalid("Client", 'path must not contain the segments "." or "..": choose another id or key');
    const idempotencyKey = newId();
    for (let failures = 0; ; ) {
      request.upload?.signal?.throwIfAborted();
      const { outcome, retryAfterMs } = await this.#attempt(request, idempotencyKey);
      if ("data" in outcome) return outcome.data as Data;
      // An earlier attempt has deleted it.
      if (request.method === "DELETE" && failures > 0 && outcome.error.code === "NOT_FOUND")
        return {} as Data;
      failures += 1;
      if (failures > this.#maxRetries || !canRetry(request, outcome.error)) throw outcome.error;
      await delay(retryAfterMs ?? backoffMs(failures, RETRY_BACKOFF, Math.random()));
    }
  }

  async #attempt(request: RestRequest, idempotencyKey: string): Promise<Attempt> {
    const authorization =
      typeof this.#authorization === "function" ? await this.#authorization() : this.#authorization;
    try {
      const response = await this.#send(request, {
        ...(authorization && { Authorization: authorization }),
        ...(request.method === "POST" && { "Idempotency-Key": idempotencyKey }),
        ...(request.body && { "Content-Type": "application/json" }),
      });
      return read(response.headers.get("Retry-After"), (await response.json()) as Envelope);
    } catch (error) {
      request.upload?.signal?.throwIfAborted();
      const message = `The service could not be reached, or its response is not Atrium's: ${String(error)}`;
      const unreachable = new AtriumError({ code: "UNREACHABLE", module: "Client", message });
      return { outcome: { error: unreachable }, retryAfterMs: null };
    }
  }

  #send(request: RestRequest, headers: Record<string, string>): Promise<Response> {
    const { method, path, query, body, upload, minTimeoutMs = 0 } = request;
    const url = urlBelow(this.#base, path, query);
    if (upload === undefined) {
      const init = { method, headers, signal: AbortSignal.timeout(Math.max(this.#timeoutMs, minTimeoutMs)) };
      return this.#fetch.call(undefined, url, body ? { ...init, body: JSON.stringify(body) } : init);
    }
    const { form, onSent, signal = null } = upload;
    const init = { method, headers, body: form, signal };
    if (onSent !== undefined && "XMLHttpRequest" in globalThis) return sendWithProgress(url, init, onSent);
    return this.#fetch.call(undefined, url, init);
  }
}

function read(retryAfter: string | null, { data, error, requestId }: Envelope): Attempt {
  if (error === null) return { outcome: { data }, retryAfterMs: null };
  const retryAfterMs = retryAfter === null ? null : Number(retryAfter) * 1000;
  return { outcome: { error: new AtriumError(error, requestId) }, retryAfterMs };
}

const delay = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
