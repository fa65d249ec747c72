/** Requests to Cloudflare's API, with the credentials that wrangler has. */
import * as http from "node:http";
import * as z from "zod";
import { CommandError } from "./command.ts";
import { describeNetworkError, isTransientRefusal, type Retry } from "./retry.ts";
import type { Wrangler } from "./wrangler.ts";

const BASE_URL = "https://api.cloudflare.com/client/v4";

/** A request that Cloudflare's API answers with an error. */
export class Refusal extends Error {
  readonly status: number;
  /** Cloudflare's own code, such as 10042; 0 for an answer without one. */
  readonly code: number;

  constructor(status: number, code: number, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }

  /** It passes by itself, later than the further tries. */
  get isOutage(): boolean {
    return this.status === 429 || this.status >= FIRST_SERVER_ERROR;
  }

  /** The token is invalid, or lacks the permission for this request. */
  get isForbidden(): boolean {
    return (this.status === 401 || this.status === 403) && [1_000, 7_403, 9_109, 10_000].includes(this.code);
  }
}

const credentials = z.union([
  z.object({ type: z.enum(["oauth", "api_token"]), token: z.string() }),
  z.object({ type: z.literal("api_key"), key: z.string(), email: z.string() }),
]);

const FIRST_SERVER_ERROR = 500;

const envelope = z.object({
  success: z.boolean(),
  result: z.unknown(),
  errors: z.array(z.object({ code: z.number(), message: z.string() })).optional(),
});

/**
 * Resolves to the result of a request. Throws a Refusal, or a CommandError while Cloudflare does not answer; transient
 * errors are tried again first.
 */
export type Ask = (
  path: string,
  options?: { readonly body?: object; readonly headers?: Readonly<Record<string, string>> },
) => Promise<unknown>;

function readCredentials(output: string): z.infer<typeof credentials> {
  const found = credentials.safeParse(parseIfJson(output));
  if (found.success) return found.data;
  const why = "is not JSON alone: take WRANGLER_LOG out of the environment and of .env";
  throw new CommandError(`The output of npx wrangler auth token --json ${why}.`);
}

function parseIfJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** A request without an answer after this time, in milliseconds, has failed. */
const TIMEOUT_MS = 20_000;

const hasNoAnswer = (error: unknown): boolean =>
  error instanceof TypeError || (error instanceof Error && error.name === "TimeoutError");

/** Requests with wrangler's credentials. Throws a CommandError with wrangler's reason where there are none. */
export async function connect(wrangler: Wrangler, retry: Retry, stop: AbortSignal): Promise<Ask> {
  // Wrangler takes the variables HTTPS_PROXY and NO_PROXY, too. Older versions of Node.js cannot.
  (http as { setGlobalProxyFromEnv?: () => unknown }).setGlobalProxyFromEnv?.();
  const found = readCredentials(await wrangler(["auth", "token", "--json"]));
  const authorization: Record<string, string> =
    found.type === "api_key"
      ? { "X-Auth-Key": found.key, "X-Auth-Email": found.email }
      : { Authorization: `Bearer ${found.token}` };
  const baseUrl = process.env.CLOUDFLARE_API_BASE_URL ?? BASE_URL;
  const send: Ask = async (path, { body, headers } = {}) => {
    const response = await fetch(`${baseUrl}${path}`, {
      headers: { ...authorization, ...headers, ...(body && { "Content-Type": "application/json" }) },
      ...(body && { method: "POST", body: JSON.stringify(body) }),
      signal: AbortSignal.any([stop, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    const answer = envelope.safeParse(parseIfJson(await response.text()));
    if (answer.data?.success === true) return answer.data.result;
    if (!answer.success && response.status < FIRST_SERVER_ERROR)
      throw new CommandError(
        `Something else than Cloudflare's API answers at ${baseUrl} (HTTP ${response.status}): does this network need a sign-in or a proxy?`,
      );
    const [error] = answer.data?.errors ?? [];
    throw new Refusal(response.status, error?.code ?? 0, error?.message ?? `HTTP ${response.status}`);
  };
  return async (path, options) => {
    const isTransient = (error: unknown) =>
      error instanceof Refusal ? isTransientRefusal(path, error) : hasNoAnswer(error);
    try {
      return await retry(() => send(path, options), isTransient);
    } catch (error) {
      if (!hasNoAnswer(error)) throw error;
      throw new CommandError(`Cloudflare's API does not answer: ${describeNetworkError(error)}.`);
    }
  };
}
