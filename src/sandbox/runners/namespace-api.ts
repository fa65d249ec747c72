/** Calls Cloudflare's API for the scripts of a dispatch namespace. No other file knows its URLs, forms and errors. */

import { parseRetryAfter } from "@atrium/contract/pacing/backoff.ts";
import type { NamespaceSettings } from "../../platform/config.ts";

interface ScriptUpload {
  readonly mainModule: string;
  readonly modules: Readonly<Record<string, string>>;
  readonly compatibilityDate: string;
  readonly compatibilityFlags: readonly string[];
  readonly limits: { readonly cpuMs: number; readonly subRequests: number };
  /** Up to eight tags, none with a `,` or a `&`. */
  readonly tags: readonly string[];
}

const MODULE_TYPE = "application/javascript+module";

function formOf(upload: ScriptUpload): FormData {
  const metadata = {
    main_module: upload.mainModule,
    bindings: [],
    compatibility_date: upload.compatibilityDate,
    compatibility_flags: upload.compatibilityFlags,
    limits: { cpu_ms: upload.limits.cpuMs, subrequests: upload.limits.subRequests },
    tags: upload.tags,
    observability: { enabled: false },
  };
  const form = new FormData();
  form.append("metadata", JSON.stringify(metadata));
  for (const [name, text] of Object.entries(upload.modules)) {
    form.append(name, new File([text], name, { type: MODULE_TYPE }));
  }
  return form;
}

/** The calls' ports to the runtime. */
export interface ApiPorts {
  readonly fetch: typeof fetch;
  now(): number;
  random(): number;
  pause(ms: number): Promise<void>;
}

/** Milliseconds for a call with all its retries. */
const CALL_LIMIT_MS = 20_000;
/** Milliseconds before each retry, unless the API asks for more; the spread separates callers that failed together. */
const PAUSES_MS = [500, 1_500, 4_500];
const SPREAD = 0.5;
const MAX_REASON_LENGTH = 500;
/** The API's error codes for an unknown script, and for an unknown namespace. */
const NO_SCRIPT_CODES = [10007, 10092];
const NO_NAMESPACE_CODE = 100119;

export class NamespaceApi {
  readonly #settings: NamespaceSettings;
  readonly #ports: ApiPorts;

  constructor(settings: NamespaceSettings, ports: ApiPorts) {
    this.#settings = settings;
    this.#ports = ports;
  }

  /** Uploads a script, replacing one of the same name. Throws a NamespaceError when that fails. */
  async put(name: string, upload: ScriptUpload): Promise<void> {
    await this.#call("PUT", `${name}?excludeScript=true`, () => formOf(upload));
  }

  /** Deletes a script, if it exists. Throws a NamespaceError when it may still exist. */
  async delete(name: string): Promise<void> {
    try {
      await this.#call("DELETE", `${name}?force=true`);
    } catch (error) {
      const isGone =
        error instanceof NamespaceError && error.codes.some((code) => NO_SCRIPT_CODES.includes(code));
      if (!isGone) throw error;
    }
  }

  /** One call, retried after transient failures: both methods are idempotent. */
  async #call(method: "PUT" | "DELETE", path: string, makeBody?: () => FormData): Promise<void> {
    const deadline = this.#ports.now() + CALL_LIMIT_MS;
    for (let attempt = 0; ; attempt += 1) {
      const failure = await this.#attempt(method, path, makeBody?.(), deadline);
      if (failure === null) return;
      const pauseMs = this.#pauseAfter(failure, attempt);
      if (pauseMs === null || this.#ports.now() + pauseMs >= deadline) throw failure.error;
      await this.#ports.pause(pauseMs);
    }
  }

  #pauseAfter({ isTransient, retryAfterMs }: Failure, attempt: number): number | null {
    const pauseMs = PAUSES_MS[attempt];
    if (!isTransient || pauseMs === undefined) return null;
    return Math.max(pauseMs * (1 + SPREAD * this.#ports.random()), retryAfterMs ?? 0);
  }

  async #attempt(
    method: string,
    path: string,
    body: FormData | undefined,
    deadline: number,
  ): Promise<Failure | null> {
    const { apiUrl, accountId, namespace, token } = this.#settings;
    const { fetch, now } = this.#ports;
    const url = `${apiUrl}/accounts/${accountId}/workers/dispatch/namespaces/${namespace}/scripts/${path}`;
    try {
      const response = await fetch(url, {
        method,
        headers: { Authorization: `Bearer ${token}` },
        redirect: "manual",
        signal: AbortSignal.timeout(Math.max(0, deadline - now())),
        ...(body && { body }),
      });
      const answer = parseAnswer(await response.text());
      if (response.ok && answer.success) return null;
      const { status } = response;
      return {
        error: new NamespaceError(
          this.#sentenceFor(status, answer),
          answer.errors.map(({ code }) => code),
        ),
        isTransient: status === 429 || status >= 500,
        retryAfterMs: parseRetryAfter(response.headers.get("Retry-After"), now()),
      };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const message = `Cloudflare's API did not answer: ${reason}`;
      return { error: new NamespaceError(message), isTransient: true, retryAfterMs: null };
    }
  }

  #sentenceFor(status: number, { errors }: Answer): string {
    const reasons = errors.map(({ code, message }) => `${message} [code: ${code}]`).join("; ");
    const refusal = `Cloudflare's API answered ${status}: ${reasons.slice(0, MAX_REASON_LENGTH) || "no reason given"}`;
    const remedy = this.#remedyFor(status, errors);
    return remedy === null ? refusal : `${refusal}. ${remedy}`;
  }

  #remedyFor(status: number, errors: Answer["errors"]): string | null {
    if (status === 401 || status === 403) {
      return 'WORKFLOWS_API_TOKEN must have the permission "Workers Scripts Write" for the account WORKFLOWS_CF_ACCOUNT_ID: `npx wrangler secret put WORKFLOWS_API_TOKEN` stores another one';
    }
    if (errors.some(({ code }) => code === NO_NAMESPACE_CODE)) {
      return `\`npx wrangler dispatch-namespace create ${this.#settings.namespace}\` makes the namespace`;
    }
    return null;
  }
}

interface Failure {
  readonly error: NamespaceError;
  /** Whether a retry may succeed. */
  readonly isTransient: boolean;
  readonly retryAfterMs: number | null;
}

interface Answer {
  readonly success: boolean;
  readonly errors: readonly { readonly code: number; readonly message: string }[];
}

/** Reads an envelope. Anything else, such as a gateway's error page, is a failure without reasons. */
function parseAnswer(text: string): Answer {
  try {
    const { success, errors } = JSON.parse(text) as { success?: unknown; errors?: unknown };
    const listed = Array.isArray(errors) ? (errors as { code?: unknown; message?: unknown }[]) : [];
    return {
      success: success === true,
      errors: listed.map(({ code, message }) => ({ code: Number(code), message: String(message) })),
    };
  } catch {
    return { success: false, errors: [] };
  }
}

/** The API refused a call or did not answer it. The message is for the operator and contains no secret. */
export class NamespaceError extends Error {
  readonly codes: readonly number[];

  constructor(message: string, codes: readonly number[] = []) {
    super(message);
    this.name = "NamespaceError";
    this.codes = codes;
  }
}
