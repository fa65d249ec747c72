/** The composition root: which ports a request gets, and how callers authenticate. Features never import it. */
import { apiKeyScheme } from "./accounts/verify-key.ts";
import { type Env, jwtSecrets, webhookDevTargets } from "./config.ts";
import { relayUserEvents } from "./delivery/outbox-relay.ts";
import { subscriberGateway } from "./delivery/subscriber-gateway.ts";
import type { FileContext } from "./files/context.ts";
import { openBlobs } from "./files/storage/blobs.ts";
import type { HealthChecks } from "./http/health.ts";
import type { Composition } from "./http/pipeline.ts";
import { cookieSecretOf } from "./people/sign-in-cookie.ts";
import { authenticateMember } from "./people/sign-in-scheme.ts";
import { openDatabase, PING } from "./platform/d1.ts";
import { roomGateway } from "./realtime/gateway.ts";
import type { RoomContext } from "./rooms/context.ts";
import { selectRunner } from "./sandbox/runners/select-runner.ts";
import type { UserContext } from "./users/context.ts";
import { authenticateUser } from "./users/token-scheme.ts";
import { tokensFor } from "./users/tokens.ts";
import type { WebhookContext } from "./webhooks/context.ts";
import type { WorkflowContext } from "./workflows/context.ts";

/** All that any endpoint needs of a request. */
export interface AppContext extends RoomContext, UserContext, FileContext, WebhookContext, WorkflowContext {}

/** What `GET /health` checks. Reading from a room's object that never was creates nothing. */
export const healthChecks = (env: Env): HealthChecks => ({
  database: () => openDatabase(env.DB).run([PING]),
  rooms: async () => roomGateway(env).read("health", "health", []),
});

export const composition: Composition<AppContext> = {
  schemesOf(env) {
    const secrets = jwtSecrets(env);
    return [
      apiKeyScheme,
      (request, ports) => authenticateUser(request, ports, tokensFor(secrets)),
      (request, ports) => authenticateMember(request, ports, cookieSecretOf(secrets[0])),
    ];
  },

  // Getters: a request opens the ports that it uses.
  contextOf: (base, env) => ({
    ...base,
    get rooms() {
      return roomGateway(env);
    },
    get subscribers() {
      return subscriberGateway(env);
    },
    get tokens() {
      return tokensFor(jwtSecrets(env));
    },
    get blobs() {
      return openBlobs(env.FILES);
    },
    get webhookDevTargets() {
      return webhookDevTargets(env);
    },
    runner: { deploy: async (script) => selectRunner(env).deploy(script) },
    relayUserEvents(rows) {
      return relayUserEvents(this, rows);
    },
  }),
};
