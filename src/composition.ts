/** The composition root: which ports a request gets, and how callers authenticate. Features never import it. */
import { apiKeyScheme } from "./accounts/api-key-scheme.ts";
import { jwtSecrets, webhookDevTargets } from "./config.ts";
import { relayUserEvents } from "./delivery/outbox-relay.ts";
import { subscriberGateway } from "./delivery/subscriber-gateway.ts";
import type { FileContext } from "./files/context.ts";
import { openBlobs } from "./files/storage/blobs.ts";
import type { Composition } from "./http/request-context.ts";
import { cookieSecretOf } from "./people/sign-in-cookie.ts";
import { signInScheme } from "./people/sign-in-scheme.ts";
import { roomGateway } from "./realtime/gateway.ts";
import type { RoomContext } from "./rooms/context.ts";
import { selectRunner } from "./sandbox/runners/select-runner.ts";
import type { UserContext } from "./users/context.ts";
import { userTokenScheme } from "./users/token-scheme.ts";
import { tokensFor } from "./users/tokens.ts";
import type { WebhookContext } from "./webhooks/context.ts";
import type { WorkflowContext } from "./workflows/context.ts";

/** All that any endpoint needs of a request. */
export interface AppContext extends RoomContext, UserContext, FileContext, WebhookContext, WorkflowContext {}

export const composition: Composition<AppContext> = {
  schemesOf(env) {
    const secrets = jwtSecrets(env);
    return [
      apiKeyScheme,
      userTokenScheme(tokensFor(secrets)),
      signInScheme(() => cookieSecretOf(secrets[0])),
    ];
  },

  contextOf(base, env) {
    const rooms = roomGateway(env);
    const subscribers = subscriberGateway(env);
    return {
      ...base,
      rooms,
      subscribers,
      tokens: tokensFor(jwtSecrets(env)),
      blobs: openBlobs(env.FILES),
      runner: { deploy: async (script) => selectRunner(env).deploy(script) },
      webhookDevTargets: webhookDevTargets(env),
      relayUserEvents: (rows) => relayUserEvents({ ...base, rooms, subscribers }, rows),
    };
  },
};
