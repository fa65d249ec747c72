/** The bindings as a program sees them: each call goes to the service over RPC. */
import { endTurn, type Run, stopRun } from "../guard/guard.ts";
import {
  apply,
  create,
  defineProperty,
  freeze,
  isView,
  NativeArrayBuffer,
  NativeBlob,
  NativeError,
  NativePromise,
  NativeRequest,
  NativeTypeError,
  parse,
  push,
  utf8,
} from "../guard/intrinsics.ts";
import type { BindingAnswer, FetchedResponse, HostBindings } from "../runners/runner.ts";
import { withTypes } from "./host-bindings.ts";
import type { Bindings, FileContent } from "./types.ts";

/** Calls of one run that may be in flight at once, like the six connections of a Worker; others wait. */
const MAX_IN_FLIGHT = 6;

/** Limits the calls in flight, and begins a turn with each answer. */
class Lanes {
  readonly #run: Run;
  readonly #waiting: (() => void)[] = [];
  #next = 0;
  #calls = 0;
  #inFlight = 0;

  constructor(run: Run) {
    this.#run = run;
  }

  async call<T>(work: () => PromiseLike<BindingAnswer<T>>): Promise<T> {
    const { limits, stop } = this.#run;
    if (stop !== null) throw new NativeError(stop);
    const { calls } = limits;
    this.#calls += 1;
    if (this.#calls > calls) {
      throw stopRun(this.#run, `The workflow made more than ${calls} calls of its bindings`);
    }
    if (this.#inFlight === MAX_IN_FLIGHT) await new NativePromise<void>((go) => push(this.#waiting, go));
    else this.#inFlight += 1;
    try {
      const answer = await work();
      if ("problem" in answer) throw new NativeError(answer.problem);
      return answer.value;
    } finally {
      endTurn(this.#run);
      this.#leave();
    }
  }

  /** Passes the slot to the call that has waited longest. */
  #leave(): void {
    const go = this.#waiting[this.#next];
    this.#next += 1;
    if (go === undefined) {
      this.#next -= 1;
      this.#inFlight -= 1;
    } else go();
  }
}

export interface ProgramSide {
  /** The second argument of the program's function. */
  readonly bindings: Bindings;
  readonly fetch: typeof fetch;
}

/** `event` is the event's JSON. */
export function openBindings(run: Run, untyped: HostBindings, event: string): ProgramSide {
  const host = withTypes(untyped);
  const lanes = new Lanes(run);
  const bindings: Bindings = {
    event: parse(event),
    store: freeze({
      get: (store: string, key: string) => lanes.call(() => host.storeGet(store, key)),
      getAll: async (store: string) => ownFields(await lanes.call(() => host.storeGetAll(store))),
    }),
    room: freeze({
      get: () => lanes.call(() => host.roomGet()),
      getUsers: () => lanes.call(() => host.roomGetUsers()),
    }),
    files: freeze({
      list: (filter = {}) => lanes.call(() => host.filesList(filter)),
      get: async (key: string) => {
        const file = await lanes.call(() => host.filesGet(key));
        return file === null ? null : { ...file, ...readersOf(file.data) };
      },
      put: async (name: string, data: FileContent, type?: string) => {
        const { bytes, mimeType } = await contentOf(data);
        return lanes.call(() => host.filesPut(name, bytes, type ?? mimeType));
      },
      delete: (key: string) => lanes.call(() => host.filesDelete(key)),
    }),
  };
  return { bindings, fetch: fetchBy(lanes, host) };
}

/** An object without a prototype, in which any key is safe, even `__proto__`. */
function ownFields(pairs: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  const fields = create(null);
  for (let index = 0; index < pairs.length; index += 1) {
    const pair = pairs[index];
    if (pair !== undefined) fields[pair[0]] = pair[1];
  }
  return fields;
}

const decoder = new TextDecoder();
const decode = TextDecoder.prototype.decode;

function readersOf(data: ArrayBuffer) {
  const text = () => apply(decode, decoder, [data]) as string;
  return { text, json: () => parse(text()) as unknown };
}

async function contentOf(data: FileContent): Promise<{ bytes: Uint8Array | undefined; mimeType?: string }> {
  if (typeof data === "string") return { bytes: utf8(data), mimeType: "text/plain;charset=utf-8" };
  if (data instanceof NativeBlob)
    return { bytes: new Uint8Array(await data.arrayBuffer()), mimeType: data.type };
  if (isView(data)) return { bytes: new Uint8Array(data.buffer, data.byteOffset, data.byteLength) };
  if (data instanceof NativeArrayBuffer) return { bytes: new Uint8Array(data) };
  throw new NativeTypeError("files.put: data must be a string, an ArrayBuffer, a view of one, or a Blob");
}

/** `fetch` through the service, with the platform's own requests and responses. */
function fetchBy(lanes: Lanes, host: HostBindings): typeof fetch {
  return async (input: RequestInfo | URL, init: RequestInit = {}) => {
    const redirect = init.redirect ?? (input instanceof NativeRequest ? input.redirect : "follow");
    const { signal = input instanceof NativeRequest ? input.signal : null, ...rest } = init;
    const request = new NativeRequest(input instanceof URL ? input.href : input, {
      ...rest,
      redirect: "manual",
    });
    signal?.throwIfAborted();
    const answered = lanes.call(() => host.fetch(request, redirect));
    return present(await (signal ? NativePromise.race([answered, abortOf(signal)]) : answered));
  };
}

const abortOf = (signal: AbortSignal): Promise<never> =>
  new NativePromise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

/** The platform's own response, with the fields that it lost on its way here. */
function present({ response, url, redirected }: FetchedResponse): Response {
  defineProperty(response, "url", { value: url, enumerable: true });
  defineProperty(response, "redirected", { value: redirected, enumerable: true });
  return response;
}
