/** The composition root: opens the ports of endpoints and the authentication schemes. Features never import it. */

import { connectInbox, openInbox } from "./delivery/inboxes.ts";
import { relayEvents } from "./delivery/outbox-relay.ts";
import { signingSealer } from "./delivery/signing-secret-store.ts";
import { openDelivery } from "./delivery/subscribers.ts";
import type { AppContext } from "./endpoints.ts";
import type { Env } from "./env.ts";
import { apiKeyScheme, keyInRoom } from "./features/accounts/verify-key.ts";
import { findCopyProblem } from "./features/copies/queries.ts";
import { NO_STORAGE, openBlobs } from "./features/files/storage/blobs.ts";
import { findPushKey, findPushProblem } from "./features/inbox/channels/push.ts";
import type { InboxObjectBase } from "./features/inbox/shard/inbox-object.ts";
import { mailOutbox } from "./features/mail/outbox.ts";
import { cookieSecretOf } from "./features/people/cookies.ts";
import { authenticateMember } from "./features/people/sessions.ts";
import { openRequestRates, RequestCounters } from "./features/quotas/request-counters.ts";
import { type RecorderPorts, RequestRecorder } from "./features/request-log/recorder.ts";
import { openRequestLogs, type RequestLogs } from "./features/request-log/request-log-object.ts";
import { isTokenCurrent } from "./features/users/bearers.ts";
import { actorInRoom, authenticateUser } from "./features/users/token-scheme.ts";
import { tokensFor } from "./features/users/tokens.ts";
import { secretSealer } from "./features/workflows/sealed-secrets.ts";
import { limitGuesses, limitNewGuests, limitTrigger } from "./http/authenticate.ts";
import type { Authentication, Composition, ServedRequest } from "./http/pipeline.ts";
import { originOf } from "./http/security.ts";
import {
  hasPasswords,
  hasRequestLog,
  hasRequestQuota,
  jwtSecrets,
  oidcSettings,
  ownHosts,
  quotaDefaults,
} from "./platform/config.ts";
import type { RequestContext } from "./platform/d1/context.ts";
import { PING } from "./platform/d1/d1.ts";
import { openAll, openDirectory, openTenant } from "./platform/d1/databases.ts";
import { sleep } from "./platform/flow/concurrency.ts";
import { readSetting } from "./platform/settings.ts";
import { RequestMetrics } from "./platform/telemetry/metrics.ts";
import { hasMetrics, metrics, writeMetrics } from "./platform/telemetry/telemetry.ts";
import { roomGateway } from "./room/host/gateway.ts";
import { selectCompiler, selectRunner } from "./sandbox/runners/select-runner.ts";

/** Reading a room that does not exist creates nothing. */
export const healthChecks = (env: Env) => ({
  database: () => Promise.all([...openAll(env).values()].map((db) => db.run([PING]))),
  rooms: async () => roomGateway(env).read("health", "health", []),
});

/** Warnings: the disk of `npm start` runs low, copies of the databases are overdue, or nothing stores files. */
export async function healthWarnings(env: Env): Promise<readonly string[]> {
  const problems = await Promise.all([
    env.DISK?.fetch("http://disk/").then((response) => response.text()),
    env.COPY_TO ? findCopyProblem(openDirectory(env), Date.now()) : null,
    env.FILES === undefined ? NO_STORAGE : null,
  ]);
  return problems.flatMap((problem) => problem || []);
}

/** Empty where the settings turn the quota off. */
function counterOf(env: Env): Pick<Authentication, "countRequest"> {
  if (!hasRequestQuota(env)) return {};
  const counters = new RequestCounters({ rates: openRequestRates(env), now: Date.now, wait: sleep });
  return { countRequest: counters.count.bind(counters) };
}

/** Logs and counts answered requests, as far as the settings say. */
function observerOf(
  env: Env,
  logs: RequestLogs,
): Pick<Composition<Omit<AppContext, keyof RequestContext>>, "observe"> {
  const append: RecorderPorts["append"] = (accountId, requests) => logs(accountId).append(requests);
  const recorders = [
    ...(hasRequestLog(env) ? [new RequestRecorder({ append, wait: sleep, random: Math.random })] : []),
    ...(hasMetrics(env)
      ? [new RequestMetrics({ metrics, wait: sleep, write: () => writeMetrics(env) })]
      : []),
  ];
  if (recorders.length === 0) return {};
  return {
    observe(request: ServedRequest, defer: (work: Promise<unknown>) => void) {
      for (const recorder of recorders) recorder.record(request, defer);
    },
  };
}

/** Everything that depends only on bindings and settings, once per isolate. */
export function compose(env: Env): Composition<Omit<AppContext, keyof RequestContext>> {
  const secrets = jwtSecrets(env);
  const [tokens, cookieSecret] = [tokensFor(secrets), cookieSecretOf(secrets[0])];
  const [rooms, delivery] = [roomGateway(env), openDelivery(env)];
  const tenantOf = (accountId: string) => openTenant(env, accountId);
  const requestLogs = openRequestLogs(env);
  const counter = counterOf(env);
  return {
    schemes: [
      apiKeyScheme,
      (request, ports) => authenticateUser(request, ports, tokens),
      (request, ports) =>
        authenticateMember(request, ports, { cookieSecret, origin: originOf(request, env) }),
    ],
    ...counter,
    ...observerOf(env, requestLogs),
    ports: {
      rooms,
      ...delivery,
      inboxes: openInbox<InboxObjectBase>(env),
      connectInbox: connectInbox(env),
      requestLogs,
      databases: openAll(env),
      openTenant: tenantOf,
      tokens,
      actorIn: (outsider, roomId) => {
        const { db } = tenantOf(outsider.accountId);
        return outsider.type === "key" ? keyInRoom(db, outsider, roomId) : actorInRoom(db, outsider, roomId);
      },
      isTokenCurrent: (claims) => isTokenCurrent(tenantOf(claims.accountId), claims),
      blobs: openBlobs(env.FILES),
      quotaDefaults: quotaDefaults(env),
      mail: () => mailOutbox(env),
      oidc: () => oidcSettings(env),
      hasPasswords: hasPasswords(env),
      webhookDevTargets: readSetting(env, "WEBHOOK_DEV_TARGETS"),
      ownHosts: ownHosts(env),
      findPushKey: () => findPushKey(env),
      findPushProblem: (target) => findPushProblem(env, target),
      // Selected when it is used: only requests that deploy code fail if its settings are missing.
      deploy: async (script) => selectRunner(env).deploy?.(script),
      compile: selectCompiler(env),
      secretSealer: secretSealer(secrets),
      signingSealer: signingSealer(secrets),
      limitTrigger: async ({ accountId, defer }, workflowId) => {
        await limitTrigger(env, accountId, workflowId);
        counter.countRequest?.(accountId, false, defer);
      },
      limitGuesses: (address) => limitGuesses(env, address),
      limitNewGuests: (address) => limitNewGuests(env, address),
      relayEvents: ({ db, log, defer }, rows) => relayEvents({ db, log, defer, rooms, ...delivery }, rows),
    },
  };
}
