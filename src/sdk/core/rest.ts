/** The REST interface: the one file of the SDK that sends requests with `fetch`, retries them, and reads responses. */
import { backoffMs } from "../../platform/flow/backoff.ts";
import type { UploadResult } from "../wire/resources.ts";
import { AtriumError, clientFault, type Fault, invalid, isRetryable } from "./error.ts";
import { toJson } from "./json.ts";
import { newId } from "./runtime.ts";

export interface RestOptions {
  /** The address of the service, such as `https://atrium.example`. */
  readonly serverUrl: string;
  readonly accountId: string;
  /** The number of retries after temporary failures; 3 by default. */
  readonly maxRetries?: number;
  /** The longest time of one attempt, in milliseconds; 30 s by default. Uploads have no limit. */
  readonly timeoutMs?: number;
  /** Used instead of the global `fetch`. */
  readonly fetch?: typeof fetch;
}

type Path = readonly string[];

interface FormUpload {
  readonly form: FormData;
  /** Called with the bytes sent so far, in browsers; each attempt starts from 0. */
  readonly onSent?: ((bytes: number) => void) | undefined;
  /** Aborts the request, which rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

interface RestRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: Path;
  /** Undefined values are left out, and a list repeats its parameter. */
  readonly query?: object | undefined;
  readonly body?: object | undefined;
  readonly upload?: FormUpload;
  /** The request depends on a version that it changes, so it is not retried if it may have taken effect. */
  readonly isConditional?: boolean;
  /** The request outlives the page that sends it. */
  readonly keepalive?: boolean;
  /** The shortest time that one attempt must be given, in milliseconds, whatever `timeoutMs` says. */
  readonly minTimeoutMs?: number;
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

/** The data of a response, or an error with the wait that the service asks for. */
type Attempt =
  | { readonly data: unknown; readonly error: null }
  | { readonly error: AtriumError; readonly retryAfterMs: number | null };

export class Rest {
  readonly #base: string;
  readonly #authorization: Authorization;
  readonly #maxRetries: number;
  readonly #timeoutMs: number;
  readonly #fetch: typeof fetch;

  constructor(options: RestOptions & { readonly authorization: Authorization }) {
    const { serverUrl, accountId } = options;
    this.#base = `${serverUrl.replace(/\/+$/, "")}/v1/accounts/${encodeURIComponent(accountId)}`;
    this.#authorization = options.authorization;
    this.#maxRetries = options.maxRetries ?? DEFAULT_RETRIES;
    this.#timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    this.#fetch = options.fetch ?? fetch;
  }

  get<Data>(path: Path, query?: object): Promise<Data> {
    return this.request({ method: "GET", path, query });
  }

  post<Data>(path: Path, body?: object, query?: object): Promise<Data> {
    return this.request({ method: "POST", path, body, query });
  }

  put<Data>(path: Path, body?: object, query?: object): Promise<Data> {
    return this.request({ method: "PUT", path, body, query });
  }

  patch<Data>(path: Path, body: object, query?: object): Promise<Data> {
    return this.request({ method: "PATCH", path, body, query });
  }

  async delete(path: Path, options: Pick<RestRequest, "body" | "query" | "keepalive"> = {}): Promise<void> {
    await this.request({ method: "DELETE", path, ...options });
  }

  /** Retries temporary failures after a delay; a POST takes effect once by its Idempotency-Key. Throws {@link AtriumError}. */
  async request<Data>(request: RestRequest): Promise<Data> {
    // Encoding does not keep these segments from pointing above the account.
    if (request.path.some((segment) => segment === "." || segment === ".."))
      throw invalid("Client", 'path must not contain the segments "." or "..": choose another id or key');
    const idempotencyKey = newId();
    for (let failures = 0; ; ) {
      request.upload?.signal?.throwIfAborted();
      const attempt = await this.#attempt(request, idempotencyKey);
      const { error } = attempt;
      if (error === null) return attempt.data as Data;
      // An earlier attempt has deleted it.
      if (request.method === "DELETE" && failures > 0 && error.code === "NOT_FOUND") return {} as Data;
      failures += 1;
      if (failures > this.#maxRetries || !canRetry(request, error)) throw error;
      const delayMs = attempt.retryAfterMs ?? backoffMs(failures, RETRY_BACKOFF, Math.random());
      await new Promise((resolve) => setTimeout(resolve, delayMs));
    }
  }

  async #attempt(request: RestRequest, idempotencyKey: string): Promise<Attempt> {
    const authorization =
      typeof this.#authorization === "function" ? await this.#authorization() : this.#authorization;
    const headers: Record<string, string> = {};
    if (authorization) headers.Authorization = authorization;
    if (request.method === "POST") headers["Idempotency-Key"] = idempotencyKey;
    if (request.body) headers["Content-Type"] = "application/json";
    try {
      const response = await this.#send(request, headers);
      const { data, error, requestId }: Envelope = await response.json();
      if (error === null) return { data, error };
      const retryAfter = response.headers.get("Retry-After");
      const retryAfterMs = retryAfter === null ? null : Number(retryAfter) * 1000;
      return { error: new AtriumError(error, requestId), retryAfterMs };
    } catch (error) {
      request.upload?.signal?.throwIfAborted();
      const message = `The service could not be reached, or its response is not Atrium's: ${String(error)}`;
      return { error: new AtriumError(clientFault("UNREACHABLE", message)), retryAfterMs: null };
    }
  }

  #send(request: RestRequest, headers: Record<string, string>): Promise<Response> {
    const { method, path, query, body, upload, keepalive, minTimeoutMs = 0 } = request;
    const url = urlBelow(this.#base, path, query);
    if (upload === undefined) {
      const signal = AbortSignal.timeout(Math.max(this.#timeoutMs, minTimeoutMs));
      const text = body ? toJson(body, "Client", "body") : null;
      const init = { method, headers, signal, body: text, ...(keepalive && { keepalive }) };
      return this.#fetch.call(undefined, url, init);
    }
    const { form, onSent, signal = null } = upload;
    const init = { method, headers, body: form, signal };
    if (onSent !== undefined && "XMLHttpRequest" in globalThis) return sendWithProgress(url, init, onSent);
    return this.#fetch.call(undefined, url, init);
  }
}

function urlBelow(base: string, path: Path, query: object = {}): string {
  const url = new URL([base, ...path.map(encodeURIComponent)].join("/"));
  for (const [name, values] of Object.entries(query)) {
    for (const value of Array.isArray(values) ? values : [values]) {
      if (value !== undefined) url.searchParams.append(name, String(value));
    }
  }
  return url.href;
}

interface ProgressRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: FormData;
  readonly signal: AbortSignal | null;
}

/** Like `fetch`, which cannot report progress: calls `onSent` with the number of bytes of the body sent so far. */
function sendWithProgress(
  url: string,
  { method, headers, body, signal }: ProgressRequest,
  onSent: (bytes: number) => void,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const abort = () => request.abort();
    request.open(method, url);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.onprogress = ({ loaded }) => onSent(loaded);
    request.onload = () => resolve(responseOf(request));
    request.onerror = () => reject(new TypeError("Network request failed"));
    request.onabort = () => reject(signal?.reason);
    request.onloadend = () => signal?.removeEventListener("abort", abort);
    signal?.addEventListener("abort", abort);
    if (signal?.aborted) reject(signal.reason);
    else request.send(body);
  });
}

function responseOf(request: XMLHttpRequest): Response {
  const retryAfter = request.getResponseHeader("Retry-After");
  const headers = retryAfter === null ? {} : { "Retry-After": retryAfter };
  return new Response(request.responseText, { status: request.status, headers });
}

const MAX_FILE_BYTES = 100 * 1024 * 1024;

/** The progress of an upload, in bytes. */
export interface Progress {
  readonly loaded: number;
  readonly total: number;
}

/** Filters a list of files; a file must match all fields. */
export interface FileFilter {
  /** A media type such as `image/png`, or a category such as `image/`; with several, any of them matches. */
  readonly mimeType?: string | readonly string[] | undefined;
  /** The id of the user who uploaded the file. */
  readonly userId?: string | undefined;
}

interface FileUpload {
  readonly roomId: string;
  readonly userId: string;
  readonly file: Blob;
  readonly filename: string;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Settles with `work`, or at once with the reason of an aborted signal: work can wait for a retry. */
function unlessAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort);
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

/** Stores a file in a room. Throws VALIDATION_ERROR for a file that is too large or has no name. */
export async function uploadFile(rest: Rest, upload: FileUpload): Promise<UploadResult> {
  const { roomId, userId, file, filename, onProgress, signal } = upload;
  const total = file.size;
  if (total > MAX_FILE_BYTES) throw invalid("Files", `file must have at most ${MAX_FILE_BYTES} bytes`);
  if (filename === "") throw invalid("Files", "filename is missing: pass one, as the file has no name");
  const form = new FormData();
  form.append("roomId", roomId);
  form.append("userId", userId);
  form.append("file", file, filename);
  // The sent bytes include the form around the file.
  const onSent = onProgress && ((bytes: number) => onProgress({ loaded: Math.min(bytes, total), total }));
  // The service finds an identity's user by the room in the address.
  const request = {
    method: "POST",
    path: ["upload"],
    query: { roomId },
    upload: { form, onSent, signal },
  } as const;
  const uploading = rest.request<{ file: UploadResult }>(request);
  const { file: stored } = await (signal ? unlessAborted(uploading, signal) : uploading);
  onSent?.(total);
  return stored;
}
