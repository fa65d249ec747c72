/** Runs a trivial function many times in one request: as a workflow, or by the Worker Loader alone. */
/// <reference types="@cloudflare/workers-types" />
import { DurableObject } from "cloudflare:workers";
import type { Env } from "../../../../src/env.ts";
import { openBlobs } from "../../../../src/features/files/storage/blobs.ts";
import { RunBindings, type RunPorts } from "../../../../src/features/workflows/run-bindings.ts";
import { quotaDefaults, runLimits } from "../../../../src/platform/config.ts";
import { openDatabase } from "../../../../src/platform/d1/d1.ts";
import { roomGateway } from "../../../../src/room/host/gateway.ts";
import { compile } from "../../../../src/sandbox/compile/compile.ts";
import { GUEST_COMPATIBILITY } from "../../../../src/sandbox/runners/guest-modules.ts";
import { selectRunner } from "../../../../src/sandbox/runners/select-runner.ts";

export { RoomObject } from "../../../../src/objects.ts";
export { Isolates } from "../../../../src/sandbox/runners/loader-runner.ts";
// Not used here: wrangler requires the objects of wrangler.toml to be exported.
export {
  EventLogObject,
  GuessLimitObject,
  InboxObject,
  RequestLogObject,
  RequestRateObject,
} from "./unused-objects.ts";

const ID = "3f0c8a52-6a0e-4f6b-9a53-0d1f6a4f2b11";
const HANDLER = "async (event) => ({ heard: event.event })";
const EVENT = JSON.stringify({
  id: ID,
  event: "user.created",
  timestamp: "2026-01-31T09:30:00.000Z",
  data: { roomId: ID, userId: ID },
});
const RESULT = '{"heard":"user.created"}';

const BARE = `
  import { WorkerEntrypoint } from "cloudflare:workers";
  const handler = ${HANDLER};
  export default class extends WorkerEntrypoint {
    async run(event) { return JSON.stringify(await handler(JSON.parse(event))); }
  }`;

/** Runs the function once; returns its result as JSON. */
type RunOnce = () => Promise<string>;

/** Runs take place in an object, as in Atrium. The name is that in wrangler.toml. */
export class SubscriberObject extends DurableObject<Env> {
  readonly #runner = selectRunner(this.env);
  readonly #limits = runLimits(this.env);
  /** Opened once, as for all runs of a workflow. */
  readonly #ports: Omit<RunPorts, "log"> = {
    db: openDatabase(this.env.DB),
    rooms: roomGateway(this.env),
    relayEvents: async () => {},
    blobs: openBlobs(this.env.FILES),
    quotaDefaults: quotaDefaults(this.env),
    fetch: (...args: Parameters<typeof fetch>) => fetch(...args),
    devTargets: [],
    ownHosts: [],
    now: Date.now,
  };
  readonly #module = compiled(`export default ${HANDLER};`);

  async run(subject: string, times: number, inFlight: number): Promise<void> {
    const runOnce = this.#subject(subject);
    let left = times;
    const work = async () => {
      for (; left > 0; ) {
        left -= 1;
        const result = await runOnce();
        if (result !== RESULT) throw new Error(`A run returned a wrong result: ${result}`);
      }
    };
    await Promise.all(Array.from({ length: inFlight }, work));
  }

  #subject(name: string): RunOnce {
    if (name === "warm") return () => this.#runOurs("warm");
    if (name === "cold") return () => this.#runOurs(crypto.randomUUID());
    return () => this.#runBare(name === "bare-warm" ? "warm" : null);
  }

  async #runOurs(hash: string): Promise<string> {
    const script = { accountId: ID, workflowId: ID, module: this.#module, hash };
    const input = { event: EVENT, attempt: 1, secrets: [] };
    const { result } = await this.#runner.run(script, input, this.#kit(), this.#limits);
    return result;
  }

  #kit(): RunBindings {
    const where = { accountId: ID, workflowId: ID, roomId: ID, origin: "https://atrium.test" };
    return new RunBindings(
      { ...where, eventId: ID, depth: 0, trace: null, calls: this.#limits.calls },
      { ...this.#ports, log: console.error },
    );
  }

  #runBare(isolate: string | null): Promise<string> {
    const { LOADER } = this.env;
    if (LOADER === undefined) throw new Error("The binding LOADER is missing");
    const worker = LOADER.get(isolate, () => ({
      compatibilityDate: GUEST_COMPATIBILITY.date,
      compatibilityFlags: [...GUEST_COMPATIBILITY.flags],
      mainModule: "main.js",
      modules: { "main.js": BARE },
      globalOutbound: null,
    }));
    return (worker.getEntrypoint() as unknown as { run(event: string): Promise<string> }).run(EVENT);
  }
}

function compiled(source: string): string {
  const compilation = compile(source);
  if (!compilation.ok) throw new Error(compilation.problem.message);
  return compilation.module;
}

/** The only object; in the service's types, its name belongs to another class. */
const objectOf = ({ SUBSCRIBERS }: Env): Pick<SubscriberObject, "run"> =>
  SUBSCRIBERS.getByName("runs") as unknown as SubscriberObject;

export default {
  /** `/SUBJECT/TIMES/IN_FLIGHT` */
  async fetch(request: Request, env: Env) {
    const [, subject = "", times, inFlight] = new URL(request.url).pathname.split("/");
    await objectOf(env).run(subject, Number(times), Number(inFlight));
    return new Response("ok");
  },
};
