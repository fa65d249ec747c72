/** `GET /metrics`: what this process has counted, as Prometheus reads it, for the operator who has set a token for it. */

import type { Env } from "../env.ts";
import { metricsToken } from "../platform/config/secrets.ts";
import { equalInConstantTime } from "../platform/crypto/constant-time.ts";
import { AppError } from "../platform/errors.ts";
import { PROMETHEUS_TYPE } from "../platform/telemetry/prometheus.ts";
import { readMetrics } from "../platform/telemetry/telemetry.ts";
import { bearerOf } from "./authenticate.ts";
import { failure } from "./envelope.ts";
import { limitAuthFailures } from "./rate-limit.ts";
import { toAppError } from "./refusal.ts";
import { withoutCors } from "./security/cors.ts";

const CLOSED = new AppError(
  "Server",
  "NOT_FOUND",
  "There are no metrics here; set METRICS_TOKEN to open them, as the guide on monitoring says",
);
const REFUSED = new AppError("Server", "UNAUTHORIZED", "Send Authorization: Bearer <METRICS_TOKEN>");

/** 404 unless the setting opens it, 401 without its token, and 429 for who guesses too often. */
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
  const token = metricsToken(env);
  if (token === undefined) throw CLOSED;
  if (equalInConstantTime(bearerOf(request) ?? "", token)) return;
  await limitAuthFailures(env, request);
  throw REFUSED;
}
