/** `GET /health`: whether the service's dependencies respond, for load balancers and monitoring. */
import { logError } from "../platform/log.ts";

/** Checks by name. A check fails if it rejects or takes more than 5 seconds. */
export type HealthChecks = Readonly<Record<string, () => Promise<unknown>>>;

const TIMEOUT_MS = 5_000;

/** 200 if all checks pass, else 503 with the names of those that failed. The reasons go to the log only. */
export async function healthResponse(checks: HealthChecks, requestId: string): Promise<Response> {
  const results = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => ({
      name,
      passes: await passes(name, check, requestId),
    })),
  );
  const failed = results.filter((result) => !result.passes).map(({ name }) => name);
  const body = failed.length === 0 ? { status: "ok" } : { status: "unavailable", failed };
  return Response.json(body, {
    status: failed.length === 0 ? 200 : 503,
    headers: {
      "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
      "X-Request-Id": requestId,
    },
  });
}

async function passes(name: string, check: () => Promise<unknown>, requestId: string): Promise<boolean> {
  const timeout = new Promise<never>((_, reject) => {
    AbortSignal.timeout(TIMEOUT_MS).onabort = () => reject(new Error(`No response within ${TIMEOUT_MS} ms`));
  });
  try {
    await Promise.race([check(), timeout]);
    return true;
  } catch (error) {
    logError(`The health check of ${name} failed`, { request: requestId }, error);
    return false;
  }
}
