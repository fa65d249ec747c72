/**
 * Tasks of the cron trigger, every minute: relay outbox rows that a crash left, send mails, copy the databases, and delete
 * expired rows.
 */
import type { Inboxes } from "./delivery/inboxes.ts";
import { type RelayPorts, relayEvents, relayPending } from "./delivery/outbox-relay.ts";
import { resealSigningSecrets, signingSealer } from "./delivery/signing-secret-store.ts";
import { openDelivery, type Subscribers } from "./delivery/subscribers.ts";
import { expireBoards } from "./demo/expiry.ts";
import type { Env } from "./env.ts";
import { operatorTokens } from "./features/backup/table.ts";
import { openBucket } from "./features/copies/bucket.ts";
import { type CopyPorts, continueCopies } from "./features/copies/copying.ts";
import { openBlobs } from "./features/files/storage/blobs.ts";
import { collectGarbage } from "./features/files/storage/garbage-collection.ts";
import { removeEndedLinks } from "./features/identities/links.ts";
import { continueMails } from "./features/mail/outbox.ts";
import { invitations } from "./features/members/table.ts";
import { continueDeletions, type DeletionPorts } from "./features/organizations/deletion.ts";
import { continueMoves, type MovePorts } from "./features/organizations/move.ts";
import { passwordLinks, signInSessions } from "./features/people/table.ts";
import { openRequestLogs } from "./features/request-log/request-log-object.ts";
import { purgeDeletedRooms } from "./features/rooms/commands.ts";
import { expireRooms, type RemovalPorts } from "./features/rooms/expiry.ts";
import { continueIndexes } from "./features/search/index-builder.ts";
import { factorSealer, resealFactors } from "./features/second-factor/sealed-secret.ts";
import { sweepRetiredScripts } from "./features/workflows/commands.ts";
import { resealSecrets, secretSealer } from "./features/workflows/sealed-secrets.ts";
import { AUDIT_ENTRIES } from "./http/audit/store.ts";
import { RECEIPT_LIFETIME_MS } from "./http/idempotency/receipt.ts";
import { RECEIPTS } from "./http/idempotency/store.ts";
import { auditLogKeptMs, copiesKeptMs, copySettings, jwtSecrets } from "./platform/config.ts";
import type { Database } from "./platform/d1/d1.ts";
import { countingQueries, openAll, openDirectory, openTenant } from "./platform/d1/databases.ts";
import { type Expiring, expire } from "./platform/d1/expiry.ts";
import { runTasks, sleep } from "./platform/flow/concurrency.ts";
import { type CallBudget, newCallBudget } from "./platform/flow/work-budget.ts";
import { readSetting } from "./platform/settings.ts";
import { reportFailure, writeMetrics } from "./platform/telemetry/telemetry.ts";
import { roomGateway } from "./room/host/gateway.ts";
import { selectRunner } from "./sandbox/runners/select-runner.ts";

const movePorts = (env: Env): Omit<MovePorts, "log"> => ({
  directory: openDirectory(env),
  databases: openAll(env),
  now: Date.now,
  wait: sleep,
});

const copyPorts = (env: Env): Omit<CopyPorts, "log"> => ({
  directory: openDirectory(env),
  databases: openAll(env),
  openBucket: () => openBucket(copySettings(env)),
  keptMs: copiesKeptMs(env),
});

type Tasks = Readonly<Record<string, () => Promise<unknown>>>;

/** The next run continues with the rest. */
const TASK_LIMIT_MS = 50_000;
const CALL_MS = 5_000;
const MAX_INVOCATIONS = 30;

/** The tasks by their names, each of which is unique in the deployment. */
function tasksOf(env: Env, now: number, budget: CallBudget): Tasks {
  const directory = openDirectory(env);
  const blobs = openBlobs(env.FILES);
  const ports: Omit<RelayPorts, "db"> & DeletionPorts = {
    directory,
    databases: openAll(env),
    openTenant: (accountId) => openTenant(env, accountId),
    rooms: roomGateway(env),
    ...openDelivery(env),
    requestLogs: openRequestLogs(env),
    log: (message: string, error: unknown) =>
      reportFailure("schedule", message, { task: "scheduled" }, error),
  };
  // Sweeps over organizations begin elsewhere each time, so that all get their turn.
  const firstId = crypto.randomUUID();
  const removalPorts: RemovalPorts = {
    ...ports,
    blobs,
    newId: () => crypto.randomUUID(),
    relayEvents: (request, rows) => relayEvents({ ...ports, ...request }, rows, budget),
  };
  const tasksIn = (db: Database): Tasks => ({
    outbox: () => relayPending({ ...ports, db }, now, firstId, budget),
    receipts: () => expire(db, RECEIPTS, now - RECEIPT_LIFETIME_MS - 1, budget.queries),
    auditLog: () => expire(db, AUDIT_ENTRIES, now - auditLogKeptMs(env) - 1, budget.queries),
    rooms: () => purgeDeletedRooms(db, budget.queries),
    expiry: () => expireRooms(db, removalPorts, now, budget),
    links: () => removeEndedLinks(db, { now: () => now, newId: () => crypto.randomUUID() }, budget.queries),
    files: () => collectGarbage(db, blobs, now, budget),
    searches: () => continueIndexes(db, firstId, ports.log, undefined, budget.queries),
    secrets: () => resealSecrets(db, secretSealer(jwtSecrets(env)), ports.log, budget.queries),
    signingSecrets: () => resealSigningSecrets(db, signingSealer(jwtSecrets(env)), ports.log, budget.queries),
    scripts: () => sweepRetiredScripts(db, () => selectRunner(env), now, ports.log),
  });
  const named = [...openAll(env)].flatMap(([name, db]) =>
    Object.entries(tasksIn(db)).map(([task, run]) => [`${task} in ${name}`, run] as const),
  );
  const expireOf = (table: Expiring["table"] & { readonly expiresAt: Expiring["column"] }) =>
    expire(directory, { table, column: table.expiresAt }, now, budget.queries);
  return {
    ...Object.fromEntries(named),
    secondFactors: () => resealFactors(directory, factorSealer(jwtSecrets(env)), ports.log, budget.queries),
    operatorTokens: () => expireOf(operatorTokens),
    signIns: () => expireOf(signInSessions),
    invitations: () => expireOf(invitations),
    passwordLinks: () => expireOf(passwordLinks),
    mails: () => continueMails(env, now, budget.queries),
    deletions: () => {
      const subscribers: Subscribers = (key) => {
        budget.calls.spend();
        return ports.subscribers(key);
      };
      const inboxes: Inboxes = (...key) => {
        budget.calls.spend();
        return ports.inboxes(...key);
      };
      return continueDeletions({ ...ports, subscribers, inboxes }, now, firstId, budget);
    },
    boards: () => expireBoards(env, removalPorts, now, budget),
    moves: () => continueMoves({ ...movePorts(env), log: ports.log }, budget.queries),
    ...(env.COPY_TO && {
      copies: () => continueCopies({ ...copyPorts(env), log: ports.log }, now, budget),
    }),
  };
}

/** Runs tasks in this invocation, each within its share of the call budget. */
export async function runHere(env: Env, names: readonly string[], now: number): Promise<void> {
  const run = async (name: string): Promise<void> => {
    const budget = newCallBudget(readSetting(env, "PLAN"), names.length);
    await tasksOf(countingQueries(env, budget.queries), now, budget)[name]?.();
  };
  await runTasks(Object.fromEntries(names.map((name) => [name, () => run(name)])), TASK_LIMIT_MS);
  writeMetrics(env);
}

/** Runs all tasks by `invoke`, one invocation each where it makes them. Rejects with the failures. */
export async function runScheduledTasks(
  env: Env,
  now: number,
  invoke = (names: readonly string[]): Promise<void> => runHere(env, names, now),
): Promise<void> {
  const names = Object.keys(tasksOf(env, now, newCallBudget(readSetting(env, "PLAN"))));
  const groups = Map.groupBy(names.entries(), ([index]) => index % MAX_INVOCATIONS).values();
  const runs = [...groups].map((group) => group.map(([, name]) => name));
  const invocations = runs.map((each) => [each.join(), () => invoke(each)]);
  await runTasks(Object.fromEntries(invocations), TASK_LIMIT_MS + CALL_MS);
}
