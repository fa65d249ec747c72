/** The REST interface: the one file of the SDK that sends requests with `fetch`, retries them, and reads responses. */
import { backoffMs } from "@atrium/contract/pacing/backoff.ts";
import type { UploadResult } from "../wire/resources.ts";
import { pause, type Signals, untilAborted } from "./aborting.ts";
import { segmentOf, serviceAddress } from "./address.ts";
import { AtriumError, clientFault, type Fault, invalid, isRetryable, wellFormed } from "./error.ts";
import { toJson } from "./json.ts";
import { newId } from "./runtime.ts";

export interface RestOptions {
  /** The address of the service, such as `https://atrium.example`. */
  readonly serverUrl: string;
  readonly accountId: string;
  /** The number of retries after temporary failures; 3 by default. */
  readonly maxRetries?: number | undefined;
  /** The longest time of one attempt, in milliseconds; 30 s by default. Uploads have no limit. */
  readonly timeoutMs?: number | undefined;
  /** Used instead of the global `fetch`. */
  readonly fetch?: typeof fetch | undefined;
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
type Authorization = string | null | ((signal: AbortSignal) => Promise<string>);

/** A credential without the line end that files add. Throws VALIDATION_ERROR with its name, and without its text. */
export function credential(name: string, value: unknown): string {
  const text = typeof value === "string" ? value.trim() : null;
  if (text !== null && /^[!-~]+$/.test(text)) return text;
  const flaw = text === null ? `is ${value === null ? value : typeof value}` : text && "has other characters";
  throw invalid(
    "Client",
    `${name} must be the text that the service has given you: it ${flaw || "is empty"}`,
  );
}

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
  readonly #signals: Signals;

  /** Each request ends when one of the signals is aborted. */
  constructor(options: RestOptions & { readonly authorization: Authorization }, signals: Signals = []) {
    const account = encodeURIComponent(credential("accountId", options.accountId));
    this.#base = `http${serviceAddress(options.serverUrl)}/v1/accounts/${account}`;
    this.#authorization = options.authorization;
    this.#signals = signals;
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

  /**
   * Retries temporary failures after a delay; a POST takes effect once by its Idempotency-Key. Throws {@link AtriumError}, and
   * at once the reason of an aborted signal.
   */
  async request<Data>(request: RestRequest): Promise<Data> {
    const call = {
      request,
      url: urlBelow(this.#base, request.path, request.query),
      body: request.body ? toJson(request.body, "Client", "body") : null,
      idempotencyKey: newId(),
    };
    const signals = [...this.#signals, request.upload?.signal];
    return untilAborted(signals, (signal) => this.#retry<Data>(call, signal));
  }

  async #retry<Data>(call: Call, signal: AbortSignal): Promise<Data> {
    const { request } = call;
    for (let failures = 0; ; ) {
      const attempt = await this.#attempt(call, signal);
      const { error } = attempt;
      if (error === null) return attempt.data as Data;
      // An earlier attempt has deleted it.
      if (request.method === "DELETE" && failures > 0 && error.code === "NOT_FOUND") return {} as Data;
      failures += 1;
      if (failures > this.#maxRetries || !canRetry(request, error)) throw error;
      const delayMs = attempt.retryAfterMs ?? backoffMs(failures, RETRY_BACKOFF, Math.random());
      await pause(delayMs, signal);
    }
  }

  async #attempt(call: Call, signal: AbortSignal): Promise<Attempt> {
    const { method, body, upload, minTimeoutMs = 0 } = call.request;
    const authorization =
      typeof this.#authorization === "function" ? await this.#authorization(signal) : this.#authorization;
    const headers: Record<string, string> = {};
    if (authorization) headers.Authorization = authorization;
    if (method === "POST") headers["Idempotency-Key"] = call.idempotencyKey;
    if (body) headers["Content-Type"] = "application/json";
    const timeout = upload ? undefined : AbortSignal.timeout(Math.max(this.#timeoutMs, minTimeoutMs));
    try {
      return await untilAborted([signal, timeout], async (ends) => {
        const response = await this.#send(call, { method, headers, signal: ends });
        const { data, error, requestId }: Envelope = await response.json();
        if (error === null) return { data, error };
        const retryAfter = response.headers.get("Retry-After");
        const retryAfterMs = retryAfter === null ? null : Number(retryAfter) * 1000;
        return { error: new AtriumError(error, requestId), retryAfterMs };
      });
    } catch (cause) {
      signal.throwIfAborted();
      const message = `The service could not be reached, or its response is not Atrium's: ${String(cause)}`;
      const error = new AtriumError(clientFault("UNREACHABLE", message), undefined, { cause });
      return { error, retryAfterMs: null };
    }
  }

  #send({ request, url, body }: Call, init: Omit<ProgressRequest, "body">): Promise<Response> {
    const { form, onSent } = request.upload ?? {};
    const { keepalive } = request;
    if (form && onSent && "XMLHttpRequest" in globalThis)
      return sendWithProgress(url, { ...init, body: form }, onSent);
    return this.#fetch.call(undefined, url, { ...init, body: form ?? body, ...(keepalive && { keepalive }) });
  }
}

/** A request with all that its attempts share. */
interface Call {
  readonly request: RestRequest;
  readonly url: string;
  readonly body: string | null;
  readonly idempotencyKey: string;
}

function urlBelow(base: string, path: Path, query: object = {}): string {
  const url = new URL([base, ...path.map(segmentOf)].join("/"));
  for (const [name, values] of Object.entries(query)) {
    for (const value of Array.isArray(values) ? values : [values]) {
      if (value !== undefined) url.searchParams.append(name, wellFormed(String(value)));
    }
  }
  return url.href;
}

interface ProgressRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: FormData;
  readonly signal: AbortSignal;
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
    request.onabort = () => reject(signal.reason);
    request.onloadend = () => signal.removeEventListener("abort", abort);
    signal.addEventListener("abort", abort);
    request.send(body);
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

export interface FileUpload {
  readonly roomId: string;
  readonly userId: string;
  /** Up to 100 MiB. */
  readonly file: Blob;
  readonly filename: string;
  /** Called as the file is sent, in browsers only, and once when it is stored. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Aborts the upload, which rejects with the signal's reason and stores nothing. */
  readonly signal?: AbortSignal | undefined;
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
  const { file: stored } = await rest.request<{ file: UploadResult }>(request);
  onSent?.(total);
  return stored;
}
