/** The REST interface as a function: one envelope in, its data out, with retries that do nothing twice. */
import { AtriumError, invalid } from "./error.ts";
import { newId } from "./runtime.ts";
import { sendWithProgress } from "./upload-progress.ts";

export interface RestOptions {
  /** The service's address, such as `https://atrium.example`. */
  readonly serverUrl: string;
  readonly accountId: string;
  /** How often a request is tried again that came to nothing for a passing reason; 3 when left out. */
  readonly maxRetries?: number;
  /** How long one try may take, in milliseconds; 30 s when left out. Uploads take as long as they take. */
  readonly timeoutMs?: number;
  /** Stands in for the global `fetch`. */
  readonly fetch?: typeof fetch;
}

/** Values of a query: those that are undefined are left out, and a list is given one by one. */
export type Query = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** A form that may be large. */
export interface UploadBody {
  readonly form: FormData;
  /** Called with the bytes that have been sent, where that can be watched; anew with each try. */
  readonly onSent?: ((bytes: number) => void) | undefined;
  /** Ends the request, which is rejected with its reason. */
  readonly signal?: AbortSignal | undefined;
}

/** How much of a file has been sent, in bytes. */
export interface Progress {
  readonly loaded: number;
  readonly total: number;
}

export interface RestRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below the account, each part as it is: they are encoded here. */
  readonly path: readonly string[];
  readonly query?: Query;
  readonly body?: object;
  /** Instead of a `body`. */
  readonly upload?: UploadBody;
  /** Only fits a state that the request itself ends: once it may have been done, trying again would mislead. */
  readonly isConditional?: boolean;
  /** One try may take so long, in milliseconds, even where others may not. */
  readonly minTimeoutMs?: number;
}

const DEFAULT_RETRIES = 3;
const DEFAULT_TIMEOUT_MS = 30_000;
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 10_000;
/** The codes that pass by themselves; of these, after RATE_LIMITED alone it is sure that nothing was done. */
const PASSING = new Set(["RATE_LIMITED", "INTERNAL_ERROR", "UNREACHABLE"]);

const isWorthAnotherTry = ({ isConditional = false }: RestRequest, { code }: AtriumError): boolean =>
  isConditional ? code === "RATE_LIMITED" : PASSING.has(code);

interface Envelope {
  readonly data: unknown;
  readonly error: { readonly code: string; readonly module: string; readonly message: string } | null;
  readonly requestId: string;
}

interface Attempt {
  /** The answer's data, or why there is none. */
  readonly outcome: { readonly data: unknown } | { readonly error: AtriumError };
  /** How long the service asks to wait, where it does. */
  readonly retryAfterMs: number | null;
}

export class Rest {
  readonly #base: string;
  readonly #authorization: string | null;
  readonly #maxRetries: number;
  readonly #timeoutMs: number;
  readonly #fetch: typeof fetch;

  /** `authorization` is null where the browser says who asks, by a cookie. */
  constructor(options: RestOptions & { readonly authorization: string | null }) {
    const { serverUrl, accountId } = options;
    this.#base = `${serverUrl.replace(/\/+$/, "")}/v1/accounts/${encodeURIComponent(accountId)}`;
    this.#authorization = options.authorization;
    this.#maxRetries = options.maxRetries ?? DEFAULT_RETRIES;
    this.#timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    this.#fetch = options.fetch ?? fetch;
  }

  /**
   * Makes a request, again after a pause where the network or the service fails for now: a POST under one
   * Idempotency-Key, so that it is done once. Throws {@link AtriumError}.
   */
  async ask<Data>(request: RestRequest): Promise<Data> {
    // No encoding keeps these from naming something above.
    if (request.path.some((part) => part === "." || part === ".."))
      throw invalid("Client", 'An address cannot hold "." or ".." as a part of its path');
    const idempotencyKey = newId();
    for (let retries = 0; ; retries += 1) {
      request.upload?.signal?.throwIfAborted();
      const { outcome, retryAfterMs } = await this.#attempt(request, idempotencyKey);
      if ("data" in outcome) return outcome.data as Data;
      // What an earlier try has deleted is gone as it was to be.
      if (request.method === "DELETE" && retries > 0 && outcome.error.code === "NOT_FOUND") return {} as Data;
      if (retries >= this.#maxRetries || !isWorthAnotherTry(request, outcome.error)) throw outcome.error;
      await pause(retryAfterMs ?? Math.random() * Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** retries));
    }
  }

  async #attempt(request: RestRequest, idempotencyKey: string): Promise<Attempt> {
    try {
      const response = await this.#send(request, {
        ...(this.#authorization && { Authorization: this.#authorization }),
        ...(request.method === "POST" && { "Idempotency-Key": idempotencyKey }),
        ...(request.body && { "Content-Type": "application/json" }),
      });
      return read(response.headers.get("Retry-After"), (await response.json()) as Envelope);
    } catch (error) {
      request.upload?.signal?.throwIfAborted();
      const message = `The service could not be reached, or did not answer as itself: ${String(error)}`;
      const unreachable = new AtriumError({ code: "UNREACHABLE", module: "Client", message });
      return { outcome: { error: unreachable }, retryAfterMs: null };
    }
  }

  #send(request: RestRequest, headers: Record<string, string>): Promise<Response> {
    const { method, path, query, body, upload, minTimeoutMs = 0 } = request;
    const url = this.urlOf(path, query);
    if (upload === undefined) {
      const init = { method, headers, signal: AbortSignal.timeout(Math.max(this.#timeoutMs, minTimeoutMs)) };
      return this.#fetch.call(undefined, url, body ? { ...init, body: JSON.stringify(body) } : init);
    }
    const { form, onSent, signal = null } = upload;
    const init = { method, headers, body: form, signal };
    if (onSent !== undefined && "XMLHttpRequest" in globalThis) return sendWithProgress(url, init, onSent);
    return this.#fetch.call(undefined, url, init);
  }

  /** The address of what stands at a path below the account. */
  urlOf(path: readonly string[], query: Query = {}): string {
    const url = new URL([this.#base, ...path.map(encodeURIComponent)].join("/"));
    for (const [name, values] of Object.entries(query)) {
      for (const value of Array.isArray(values) ? values : [values]) {
        if (value !== undefined) url.searchParams.append(name, String(value));
      }
    }
    return url.href;
  }
}

function read(retryAfter: string | null, { data, error, requestId }: Envelope): Attempt {
  if (error === null) return { outcome: { data }, retryAfterMs: null };
  const retryAfterMs = retryAfter === null ? null : Number(retryAfter) * 1000;
  return { outcome: { error: new AtriumError(error, requestId) }, retryAfterMs };
}

const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
