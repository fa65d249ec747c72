/** What the Worker is given from outside (wrangler.toml and secrets), checked in one place. */

import type { SubscriberRpc } from "./delivery/port/subscriber-port.ts";
import { AppError } from "./platform/errors.ts";
import { parseHosts } from "./platform/host.ts";
import type { RoomRpc } from "./realtime/port/room-gateway.ts";

/** Bindings as wrangler.toml names them, and secrets as `npm start` or `wrangler secret put` sets them. */
export interface Env {
  readonly DB: D1Database;
  readonly ROOMS: DurableObjectNamespace<RoomRpc>;
  readonly SUBSCRIBERS: DurableObjectNamespace<SubscriberRpc>;
  readonly FILES: R2Bucket;
  readonly ACCOUNT_RATE_LIMIT: RateLimit;
  readonly CREDENTIAL_RATE_LIMIT: RateLimit;
  readonly AUTH_FAILURE_RATE_LIMIT: RateLimit;
  readonly DEMO_RATE_LIMIT: RateLimit;
  /** Isolates for the code of workflows. */
  readonly LOADER?: WorkerLoader;
  /** Scripts with the code of workflows, where Workers for Platforms keeps it; instead of LOADER. */
  readonly DISPATCHER?: DispatchNamespace;
  readonly SIGN_IN_RATE_LIMIT: RateLimit;
  readonly SIGN_IN_ADDRESS_RATE_LIMIT: RateLimit;
  /** The files of `.wrangler/public`. */
  readonly ASSETS: Fetcher;
  /** The bounds of a workflow's run; see sandbox/runners/run-limits.ts. */
  readonly WORKFLOW_WALL_MS?: string;
  readonly WORKFLOW_CPU_MS?: string;
  readonly WORKFLOW_TURN_MS?: string;
  readonly WORKFLOW_CALLS?: string;
  readonly WORKFLOW_RESULT_BYTES?: string;
  readonly WORKFLOW_LOG_BYTES?: string;
  readonly WORKFLOW_MEMORY_MB?: string;
  /** The namespace for the code of workflows; see sandbox/runners/namespace-settings.ts. */
  readonly WORKFLOWS_CF_ACCOUNT_ID?: string;
  readonly WORKFLOWS_NAMESPACE?: string;
  readonly WORKFLOWS_API_TOKEN?: string;
  readonly WORKFLOWS_API_URL?: string;
  readonly JWT_SECRET?: string;
  readonly JWT_SECRET_PREVIOUS?: string;
  /** The organization that /demo belongs to; without it there is no demo. */
  readonly DEMO_ACCOUNT_ID?: string;
  /** Hosts, comma-separated, that webhooks may reach over http and on this machine; for development only. */
  readonly WEBHOOK_DEV_TARGETS?: string;
  /** The same for what workflows fetch; none, in development too, unless somebody names some. */
  readonly WORKFLOW_DEV_TARGETS?: string;
}

/** The hosts that development adds to those that webhooks may be sent to; none unless the setting names some. */
export const webhookDevTargets = (env: Pick<Env, "WEBHOOK_DEV_TARGETS">): readonly string[] =>
  parseHosts(env.WEBHOOK_DEV_TARGETS ?? "");

/** The hosts that development adds to those that workflows may fetch; none unless the setting names some. */
export const workflowDevTargets = (env: Pick<Env, "WORKFLOW_DEV_TARGETS">): readonly string[] =>
  parseHosts(env.WORKFLOW_DEV_TARGETS ?? "");

/** The secrets that sign users' tokens: the first one signs, all of them verify. */
export type JwtSecrets = readonly [current: string, ...previous: string[]];

const MIN_SECRET_LENGTH = 32;

/**
 * The signing secrets of this deployment.
 * Throws an INTERNAL_ERROR that names the command to run when the secret is missing or too short.
 */
export function jwtSecrets(env: Env): JwtSecrets {
  const current = env.JWT_SECRET;
  if (current === undefined || current.length < MIN_SECRET_LENGTH) {
    throw new AppError(
      "Server",
      "INTERNAL_ERROR",
      `The secret JWT_SECRET is missing or shorter than ${MIN_SECRET_LENGTH} characters. Locally, \`npm start\` makes one in .dev.vars, which \`wrangler dev\` reads when it starts; ` +
        "in production, run `npx wrangler secret put JWT_SECRET --env production`",
    );
  }
  return env.JWT_SECRET_PREVIOUS ? [current, env.JWT_SECRET_PREVIOUS] : [current];
}
