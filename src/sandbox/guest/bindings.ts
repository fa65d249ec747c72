/** The bindings as a program sees them: each call goes to the service over RPC. */

import type { Comment } from "../../wire/comment.ts";
import type { StorageFile, UploadResult } from "../../wire/file.ts";
import type { Room } from "../../wire/room.ts";
import type { User } from "../../wire/user.ts";
import type { BindingAnswer, FetchedResponse, HostBindings, RunInput } from "../runners/runner.ts";
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
  stringify,
  utf8,
} from "./intrinsics.ts";
import { type Run, stopRun } from "./run.ts";
import type {
  ActionsBinding,
  Bindings,
  BroadcastAction,
  CommentAction,
  FileContent,
  RoomDocument,
} from "./types.ts";

/** The service's side of the bindings, with the types of the resources that it returns. */
export interface TypedHostBindings extends HostBindings {
  roomGet(): Promise<BindingAnswer<Room | null>>;
  roomGetUsers(): Promise<BindingAnswer<User[]>>;
  documentsList(): Promise<BindingAnswer<RoomDocument[]>>;
  filesList(filter: unknown): Promise<BindingAnswer<StorageFile[]>>;
  filesGet(key: unknown): Promise<BindingAnswer<(StorageFile & { readonly data: ArrayBuffer }) | null>>;
  filesPut(name: unknown, bytes: unknown, type: unknown): Promise<BindingAnswer<UploadResult>>;
}

/** The port does not know the resources, so that the sandbox's runners depend on no feature. */
const withTypes = (host: HostBindings): TypedHostBindings => host as TypedHostBindings;

/** Stops a run that makes too many calls. The service counts them too: this gives the reason. */
class Calls {
  readonly #run: Run;
  #count = 0;

  constructor(run: Run) {
    this.#run = run;
  }

  async make<T>(call: () => PromiseLike<BindingAnswer<T>>): Promise<T> {
    const { limits, stop } = this.#run;
    if (stop !== null) throw new NativeError(stop);
    this.#count += 1;
    if (this.#count > limits.calls) {
      throw stopRun(this.#run, `The workflow made more than ${limits.calls} calls of its bindings`);
    }
    const answer = await call();
    if ("problem" in answer) throw new NativeError(answer.problem);
    return answer.value;
  }
}

/** `fetch` through the service, with the platform's own requests and responses. */
function fetchBy(calls: Calls, host: HostBindings): typeof fetch {
  return async (input: RequestInfo | URL, init: RequestInit = {}) => {
    const redirect = init.redirect ?? (input instanceof NativeRequest ? input.redirect : "follow");
    const { signal = input instanceof NativeRequest ? input.signal : null, ...rest } = init;
    const request = new NativeRequest(input instanceof URL ? input.href : input, {
      ...rest,
      redirect: "manual",
    });
    signal?.throwIfAborted();
    const answered = calls.make(() => host.fetch(request, redirect));
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

export interface ProgramSide {
  /** The second argument of the program's function. */
  readonly bindings: Bindings;
  readonly fetch: typeof fetch;
}

export function openBindings(
  run: Run,
  untyped: HostBindings,
  { event, attempt, secrets }: RunInput,
): ProgramSide {
  const host = withTypes(untyped);
  const calls = new Calls(run);
  const bindings: Bindings = {
    event: parse(event),
    attempt,
    env: freeze(ownFields(secrets)),
    store: freeze({
      get: (store: string, key: string) => calls.make(() => host.storeGet(store, key)),
      getAll: async (store: string) => ownFields(await calls.make(() => host.storeGetAll(store))),
    }),
    room: freeze({
      get: () => calls.make(() => host.roomGet()),
      getUsers: () => calls.make(() => host.roomGetUsers()),
    }),
    documents: freeze({
      list: () => calls.make(() => host.documentsList()),
      get: (name: string, options = {}) => calls.make(() => host.documentsGet(name, options)),
    }),
    files: freeze({
      list: (filter = {}) => calls.make(() => host.filesList(filter)),
      get: async (key: string) => {
        const file = await calls.make(() => host.filesGet(key));
        return file === null ? null : { ...file, ...readersOf(file.data) };
      },
      put: async (name: string, data: FileContent, type?: string) => {
        const { bytes, mimeType } = await contentOf(data);
        return calls.make(() => host.filesPut(name, bytes, type ?? mimeType));
      },
      delete: (key: string) => calls.make(() => host.filesDelete(key)),
    }),
    actions: openActions(calls, host),
  };
  return { bindings, fetch: fetchBy(calls, host) };
}

/** An object without a prototype, in which any key is safe, even `__proto__`. */
function ownFields<T>(pairs: readonly (readonly [string, T])[]): Record<string, T> {
  const fields: Record<string, T> = create(null);
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

/** The actions as a program sees them: each goes to the service with its arguments as JSON. */
function openActions(calls: Calls, host: HostBindings): ActionsBinding {
  // The service answers each action with what its type says.
  const act = async <Answer>(action: string, args: object): Promise<Answer> => {
    const json = stringify(args);
    return (await calls.make(() => host.act(action, json))) as Answer;
  };
  return freeze({
    stores: freeze({
      set: (store: string, key: string, value: unknown) =>
        act<{ version: number; seq: number }>("stores.set", { store, key, value }),
      delete: async (store: string, key: string) => {
        await act("stores.delete", { store, key });
      },
    }),
    comments: freeze({
      create: async (comment: CommentAction) =>
        (await act<{ comment: Comment }>("comments.create", comment)).comment,
      resolve: async (commentId: string, resolved = true) =>
        (await act<{ comment: Comment }>("comments.resolve", { commentId, resolved })).comment,
    }),
    broadcasts: freeze({
      send: (message: BroadcastAction) => act<{ delivered: number }>("broadcasts.send", message),
    }),
  });
}
