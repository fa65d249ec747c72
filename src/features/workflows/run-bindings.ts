/** The bindings of a run: limited to one room, counted, and revoked when the run is over. */
import { RpcTarget } from "cloudflare:workers";
import { AppError } from "@atrium/contract/errors.ts";
import type { QuotaDefaults } from "@atrium/contract/resources/quota.ts";
import type { EventRelay } from "../../delivery/outbox/outbox.ts";
import { sha256 } from "../../platform/crypto/encoding.ts";
import type { Database } from "../../platform/d1/d1.ts";
import { findTargetProblem, type TargetPolicy } from "../../platform/network.ts";
import type { Trace } from "../../platform/trace.ts";
import type { RoomGateway } from "../../room/host/gateway.ts";
import type { BindingAnswer, FetchedResponse, HostBindings } from "../../sandbox/runners/runner.ts";
import type { Blobs } from "../files/storage/blobs.ts";
import { type CallingRun, METHODS, type RedirectMode, refusal } from "./run-methods.ts";

/** The run that the bindings belong to, and how many calls it may make. */
interface RunScope {
  readonly accountId: string;
  readonly workflowId: string;
  readonly roomId: string;
  readonly eventId: string;
  /** The event's depth; 0 unless an action of a workflow has caused it. */
  readonly depth: number;
  /** The event's trace: effects of the run follow from the same request. */
  readonly trace: Trace | null;
  /** The origin of this service: URLs of files begin with it, and `fetch` never goes there. */
  readonly origin: string;
  readonly calls: number;
}

export interface RunPorts extends EventRelay {
  readonly db: Database;
  readonly rooms: RoomGateway;
  readonly blobs: Blobs;
  readonly quotaDefaults: QuotaDefaults;
  readonly fetch: typeof fetch;
  /** Hosts that `fetch` may reach although they are not public; none in production. */
  readonly devTargets: readonly string[];
  /** Hosts that lead to this service, besides the origin's. */
  readonly ownHosts: readonly string[];
  now(): number;
  log(message: string, error?: unknown): void;
}

/** Calls of one run that are carried out at once, like the six connections of a Worker; others wait. */
const MAX_IN_FLIGHT = 6;

const NO_ROOM = "the run has no room, because its workflow is for all rooms; give the workflow a roomId";

/**
 * The service's side of a program's bindings. Bound to one room; no argument names another one. No method
 * rejects: problems say what to do. RPC exposes methods to the program, and no own properties.
 */
export class RunBindings extends RpcTarget implements HostBindings {
  readonly #scope: RunScope;
  readonly #ports: RunPorts;
  /** Created for the first call, as many runs make none; likewise the controller, which aborts requests in flight. */
  #run: CallingRun | null = null;
  #requests: AbortController | null = null;
  /** The number of equal actions that this run has asked for, by their hash. */
  readonly #actions = new Map<string, number>();
  #isOver = false;
  #calls = 0;
  #inFlight = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(scope: RunScope, ports: RunPorts) {
    super();
    this.#scope = scope;
    this.#ports = ports;
  }

  readonly revoke = (): void => {
    this.#isOver = true;
    this.#requests?.abort(new Error("The run is over"));
  };

  readonly isOverdrawn = (): boolean => this.#calls > this.#scope.calls;

  /** Counts the call, lets it wait for its turn, and refuses it after the run. */
  async call(method: unknown, args: unknown): Promise<BindingAnswer<unknown>> {
    const name = typeof method === "string" && Object.hasOwn(METHODS, method) ? method : "bindings";
    try {
      this.#calls += 1;
      if (this.isOverdrawn())
        throw refusal(`a run may make at most ${this.#scope.calls} calls to its bindings`);
      if (this.#scope.roomId === "" && name !== "fetch") throw refusal(NO_ROOM);
      const work = METHODS[name];
      if (work === undefined) throw refusal("there is no such method");
      this.#run ??= this.#open();
      const run = this.#run;
      return { value: await this.#inTurn(() => work(run, args)) };
    } catch (error) {
      return { problem: `${name}: ${this.#problemOf(name, error)}` };
    }
  }

  #open(): CallingRun {
    const { accountId, workflowId, roomId, origin, depth, trace } = this.#scope;
    const { db, rooms, blobs, quotaDefaults, ...ports } = this.#ports;
    const context: CallingRun["context"] = {
      accountId,
      actor: { type: "workflow", accountId, workflowId, roomId, depth: depth + 1 },
      origin,
      trace,
      db,
      rooms,
      blobs,
      quotaDefaults,
      now: () => ports.now(),
      log: (message, error) => ports.log(message, error),
      commit: (statements) => db.run(statements),
      newId: () => crypto.randomUUID(),
      defer: (work) => {
        work.catch((error: unknown) => ports.log("Deferred work of a run failed", error));
      },
      relayEvents: (request, rows) => ports.relayEvents(request, rows),
    };
    return {
      context,
      roomId,
      workflowId,
      requestId: (action, args) => this.#requestId(action, args),
      fetch: (request, redirect) => {
        const { fetch, devTargets, ownHosts } = ports;
        const policy = { devTargets, ownHosts: [...ownHosts, URL.parse(origin)?.host ?? ""] };
        this.#requests ??= new AbortController();
        return fetchPublic(request, redirect, { fetch, policy, signal: this.#requests.signal });
      },
    };
  }

  /**
   * Names an action by its event and arguments, so that a run that is made again does nothing twice, in whichever
   * order it comes to its actions. Equal actions of one run are counted.
   */
  async #requestId(action: string, args: object): Promise<string> {
    const hash = await sha256(new TextEncoder().encode(JSON.stringify([this.#scope.eventId, action, args])));
    const count = (this.#actions.get(hash) ?? 0) + 1;
    this.#actions.set(hash, count);
    return `${hash} ${count}`;
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#inFlight === MAX_IN_FLIGHT) await new Promise<void>((go) => this.#waiting.push(go));
    else this.#inFlight += 1;
    try {
      if (this.#isOver) throw refusal("the run is over");
      return await work();
    } finally {
      const go = this.#waiting.shift();
      if (go === undefined) this.#inFlight -= 1;
      else go();
    }
  }

  #problemOf(method: string, error: unknown): string {
    if (this.#isOver) return "the run is over";
    if (error instanceof AppError && error.code !== "INTERNAL_ERROR") return error.message;
    this.#ports.log(`${method} of workflow ${this.#scope.workflowId} failed`, error);
    return "an internal error occurred; try again later";
  }
}

interface WebPorts {
  readonly fetch: typeof fetch;
  readonly policy: TargetPolicy;
  readonly signal: AbortSignal;
}

/** Bodies are kept in memory, because a redirect may require sending them again. */
const MAX_REQUEST_BYTES = 8 * 1024 * 1024;

const MAX_REDIRECTS = 20;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** Dropped together with the body they describe. */
const BODY_HEADERS = [
  "Content-Encoding",
  "Content-Language",
  "Content-Length",
  "Content-Location",
  "Content-Type",
];
/** Meant for one origin only. */
const SECRET_HEADERS = ["Authorization", "Cookie", "Proxy-Authorization"];

interface Hop {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly body: ArrayBuffer | null;
}

/** Sends the request with `mode` as its `redirect`. Rejects with a BAD_REQUEST for the program's author. */
async function fetchPublic(request: Request, mode: RedirectMode, ports: WebPorts): Promise<FetchedResponse> {
  let hop: Hop = {
    url: withoutFragment(request.url),
    method: request.method,
    headers: new Headers(request.headers),
    body: await bodyOf(request),
  };
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
    const problem = findTargetProblem(hop.url, ports.policy);
    if (problem !== null) throw refusal(`The URL ${problem}`);
    const { url, ...init } = hop;
    const response = await ports
      .fetch(url, { ...init, redirect: "manual", signal: ports.signal })
      .catch(() => {
        throw refusal("The server could not be reached, or ended the connection");
      });
    const location = REDIRECTS.has(response.status) ? response.headers.get("Location") : null;
    if (mode === "manual" || location === null) return { response, url, redirected: redirects > 0 };
    await response.body?.cancel();
    if (mode === "error") throw refusal("The server answered with a redirect");
    hop = redirected(hop, response.status, location);
  }
  throw refusal(`The request was redirected more than ${MAX_REDIRECTS} times`);
}

const withoutFragment = (url: string): string => url.replace(/#.*$/s, "");

async function bodyOf(request: Request): Promise<ArrayBuffer | null> {
  if (request.body === null) return null;
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for await (const chunk of request.body) {
    size += chunk.byteLength;
    if (size > MAX_REQUEST_BYTES) {
      throw refusal(`The request body may have at most ${MAX_REQUEST_BYTES} bytes`);
    }
    chunks.push(chunk);
  }
  return new Blob(chunks).arrayBuffer();
}

/** The next request after a redirect (Fetch standard, HTTP-redirect fetch). */
function redirected(hop: Hop, status: number, location: string): Hop {
  const next = URL.parse(location, hop.url);
  if (next === null) throw refusal("The server answered with a redirect to an invalid URL");
  const headers = new Headers(hop.headers);
  const becomesGet = status === 303 ? hop.method !== "HEAD" : status < 303 && hop.method === "POST";
  for (const name of becomesGet ? BODY_HEADERS : []) headers.delete(name);
  for (const name of next.origin === new URL(hop.url).origin ? [] : SECRET_HEADERS) headers.delete(name);
  const request = becomesGet ? { method: "GET", body: null } : { method: hop.method, body: hop.body };
  return { ...request, headers, url: withoutFragment(next.href) };
}
