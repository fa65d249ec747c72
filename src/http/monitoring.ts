/** `GET /health`: whether the service's dependencies respond, for load balancers and monitoring. */

import { AppError } from "@atrium/contract/errors.ts";
import type { Env } from "../env.ts";
import { TIMED_OUT, withTimeLimit } from "../platform/flow/concurrency.ts";
import { logError } from "../platform/log.ts";
import { passingReason } from "../platform/objects/rpc.ts";
import { readSetting } from "../platform/settings.ts";
import { readMetrics } from "../platform/telemetry/telemetry.ts";
import { bearerOf, limitAuthFailures } from "./authenticate.ts";
import { failure, toAppError } from "./envelope.ts";
import { equalInConstantTime, withoutCors } from "./security.ts";

/** Checks by name. A check fails if it rejects or takes more than 5 seconds. */
type HealthChecks = Readonly<Record<string, () => Promise<unknown>>>;

const TIMEOUT_MS = 5_000;

/**
 * 200 if all checks pass, else 503 with the names of those that failed. The reasons go to the log; those that pass are
 * warnings as well. Warnings change no status: a service that works is not taken out of rotation.
 */
export async function healthResponse(
  checks: HealthChecks,
  findWarnings: () => Promise<readonly string[]>,
  requestId: string,
): Promise<Response> {
  const found = withTimeLimit(findWarnings(), TIMEOUT_MS);
  const warning = found
    .then((all) => (all === TIMED_OUT ? [] : all))
    .catch((error: unknown) => {
      logError("The warnings of the health check could not be read", { request: requestId }, error);
      return [];
    });
  const results = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => ({
      name,
      failure: await failureOf(name, check, requestId),
    })),
  );
  const failures = results.filter((result) => result.failure !== null);
  const failed = failures.map(({ name }) => name);
  const reasons = failures.map((result) => passingReason(result.failure)).filter((reason) => reason !== null);
  const warnings = [...reasons, ...(await warning)];
  const body = failed.length === 0 ? { status: "ok" } : { status: "unavailable", failed };
  return Response.json(warnings.length === 0 ? body : { ...body, warnings }, {
    status: failed.length === 0 ? 200 : 503,
    headers: {
      "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
      "X-Request-Id": requestId,
    },
  });
}

/** The error of a check that fails, which is logged; null for one that passes. */
async function failureOf(name: string, check: () => Promise<unknown>, requestId: string): Promise<unknown> {
  try {
    if ((await withTimeLimit(check(), TIMEOUT_MS)) !== TIMED_OUT) return null;
    throw new Error(`No response within ${TIMEOUT_MS} ms`);
  } catch (error) {
    logError(`The health check of ${name} failed`, { request: requestId }, error);
    return error;
  }
}

const CLOSED = new AppError(
  "Server",
  "NOT_FOUND",
  "There are no metrics here; set METRICS_TOKEN to open them, as the guide on monitoring says",
);
const REFUSED = new AppError("Server", "UNAUTHORIZED", "Send Authorization: Bearer <METRICS_TOKEN>");

const PROMETHEUS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** 404 unless a token is set, 401 without it, 429 for repeated guesses. */
export async function metricsResponse(request: Request, env: Env): Promise<Response> {
  try {
    await requireToken(request, env);
    return new Response(readMetrics(env), {
      headers: {
        "Cache-Control": "no-store",
        "Content-Type": PROMETHEUS_TYPE,
        "X-Content-Type-Options": "nosniff",
      },
    });
  } catch (error) {
    return withoutCors(failure(toAppError(error, "Server"), crypto.randomUUID()));
  }
}

async function requireToken(request: Request, env: Env): Promise<void> {
  const token = readSetting(env, "METRICS_TOKEN");
  if (token === undefined) throw CLOSED;
  if (equalInConstantTime(bearerOf(request) ?? "", token)) return;
  await limitAuthFailures(env, request);
  throw REFUSED;
}
