/** Shared by the tests of runs: rooms, kits for them, and programs that are run. */
import { env } from "cloudflare:workers";
import { relayEvents } from "../../src/delivery/outbox-relay.ts";
import { openDelivery } from "../../src/delivery/subscribers.ts";
import { openBlobs } from "../../src/features/files/storage/blobs.ts";
import { RunBindings, type RunPorts } from "../../src/features/workflows/run-bindings.ts";
import { quotaDefaults, runLimits } from "../../src/platform/config.ts";
import { openDatabase } from "../../src/platform/d1/d1.ts";
import { roomGateway } from "../../src/room/host/gateway.ts";
import { compile } from "../../src/sandbox/compile/compile.ts";
import type { RunInput, RunLimits, Runner, RunReport, Script } from "../../src/sandbox/runners/runner.ts";
import { type Api, account, ORIGIN } from "../support/api.ts";

export interface Stage {
  readonly accountId: string;
  readonly roomId: string;
  readonly api: Api;
}

export async function stage(name = "A room"): Promise<Stage> {
  const { id, api } = await account();
  const { id: roomId } = await api.createRoom({ name });
  return { accountId: id, roomId, api };
}

export const LIMITS = runLimits({});

const ports: RunPorts = {
  db: openDatabase(env.DB),
  rooms: roomGateway(env),
  relayEvents: (context, rows) =>
    relayEvents({ ...context, rooms: roomGateway(env), ...openDelivery(env) }, rows),
  blobs: openBlobs(env.FILES),
  quotaDefaults: quotaDefaults({}),
  fetch: (...args: Parameters<typeof fetch>) => fetch(...args),
  devTargets: ["127.0.0.1"],
  ownHosts: [],
  now: Date.now,
  log: (message, error) => console.error(message, error),
};

export interface BindingOptions extends Partial<RunPorts> {
  readonly workflowId?: string;
  readonly calls?: number;
  readonly eventId?: string;
  readonly depth?: number;
}

export function bindingsFor(
  { accountId, roomId }: Omit<Stage, "api">,
  options: BindingOptions = {},
): RunBindings {
  const { workflowId = crypto.randomUUID(), calls = LIMITS.calls } = options;
  const { eventId = crypto.randomUUID(), depth = 0 } = options;
  return new RunBindings(
    { accountId, roomId, workflowId, eventId, depth, origin: ORIGIN, calls, trace: null },
    { ...ports, ...options },
  );
}

export const eventIn = (roomId: string): object => ({
  id: crypto.randomUUID(),
  event: "participant.joined",
  timestamp: "2026-01-31T09:30:00.000Z",
  data: { roomId, userId: "ada" },
});

/** Input of the first run for an event. */
export const inputOf = (event: object, given: Partial<RunInput> = {}): RunInput => ({
  event: JSON.stringify(event),
  attempt: 1,
  secrets: [],
  ...given,
});

export function compiled(source: string): string {
  const compilation = compile(source);
  if (!compilation.ok) throw new Error(compilation.problem.message);
  return compilation.module;
}

export interface RunOptions extends BindingOptions {
  readonly limits?: Partial<RunLimits>;
  /** Runs with the same ID share the state that the program leaves in its isolate. */
  readonly scriptId?: string;
  readonly event?: object;
  readonly given?: Partial<RunInput>;
}

/** A program, compiled, as the script of a workflow with this id. */
export const scriptOf = (
  { accountId }: Pick<Stage, "accountId">,
  source: string,
  scriptId: string,
): Script => ({
  accountId,
  workflowId: scriptId,
  module: compiled(source),
  hash: scriptId,
});

export function runProgram(
  runner: Runner,
  at: Omit<Stage, "api">,
  source: string,
  options: RunOptions = {},
): Promise<RunReport> {
  const limits = { ...LIMITS, ...options.limits };
  const scriptId = options.scriptId ?? crypto.randomUUID();
  const script = scriptOf(at, source, scriptId);
  const bindings = bindingsFor(at, {
    calls: limits.calls,
    workflowId: scriptId,
    ...options,
  });
  const input = inputOf(options.event ?? eventIn(at.roomId), options.given);
  return runner.run(script, input, bindings, limits);
}
