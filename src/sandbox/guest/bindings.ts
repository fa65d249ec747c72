/** The bindings as a program sees them: each call goes to the service over RPC. */

import type { Comment } from "@atrium/contract/resources/comment.ts";
import type { StorageFile, UploadResult } from "@atrium/contract/resources/file.ts";
import type { Room } from "@atrium/contract/resources/room.ts";
import type { User } from "@atrium/contract/resources/user.ts";
import type { EditedDocument, ReadBlocks } from "@atrium/contract/rest/document-edits.ts";
import type {
  ActionsBinding,
  Bindings,
  BroadcastAction,
  CommentAction,
  DocumentEditAction,
  FileContent,
  RoomDocument,
} from "@atrium/contract/workflow/bindings.ts";
import type { FetchedResponse, HostBindings, RunInput } from "../runners/runner.ts";
import {
  apply,
  create,
  defineProperty,
  freeze,
  isFiniteNumber,
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

/** Calls of the service. Stops a run that makes too many: the service counts them too, this gives the reason. */
class Calls {
  readonly #run: Run;
  readonly #host: HostBindings;
  #count = 0;

  constructor(run: Run, host: HostBindings) {
    this.#run = run;
    this.#host = host;
  }

  /** The service answers each method with the type that the program sees. */
  async make<T>(method: string, args: unknown = {}): Promise<T> {
    const { limits, stop } = this.#run;
    if (stop !== null) throw new NativeError(stop);
    this.#count += 1;
    if (this.#count > limits.calls) {
      throw stopRun(this.#run, `The workflow made more than ${limits.calls} calls of its bindings`);
    }
    const answer = await this.#host.call(method, args);
    if ("problem" in answer) throw new NativeError(answer.problem);
    return answer.value as T;
  }
}

/** `fetch` through the service, with the platform's own requests and responses. */
function fetchBy(calls: Calls): typeof fetch {
  return async (input: RequestInfo | URL, init: RequestInit = {}) => {
    const redirect = init.redirect ?? (input instanceof NativeRequest ? input.redirect : "follow");
    const { signal = input instanceof NativeRequest ? input.signal : null, ...rest } = init;
    const request = new NativeRequest(input instanceof URL ? input.href : input, {
      ...rest,
      redirect: "manual",
    });
    signal?.throwIfAborted();
    const answered = calls.make<FetchedResponse>("fetch", { request, redirect });
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
  readonly bindings: Bindings;
  readonly fetch: typeof fetch;
}

export function openBindings(
  run: Run,
  host: HostBindings,
  { event, attempt, secrets }: RunInput,
): ProgramSide {
  const calls = new Calls(run, host);
  const bindings: Bindings = {
    event: parse(event),
    attempt,
    env: freeze(ownFields(secrets)),
    store: freeze({
      get: (store: string, key: string) => calls.make("store.get", { store, key }),
      getAll: async (store: string) => ownFields<unknown>(await calls.make("store.getAll", { store })),
    }),
    room: freeze({
      get: () => calls.make<Room | null>("room.get"),
      getUsers: () => calls.make<User[]>("room.getUsers"),
    }),
    documents: freeze({
      list: () => calls.make<RoomDocument[]>("documents.list"),
      get: (name: string, content = {}) => calls.make("documents.get", { name, content }),
      blocks: (name: string, blocks = {}) =>
        calls.make<ReadBlocks | null>("documents.blocks", { name, blocks }),
    }),
    files: freeze({
      list: (filter = {}) => calls.make<StorageFile[]>("files.list", { filter }),
      get: async (key: string) => {
        const file = await calls.make<(StorageFile & { readonly data: ArrayBuffer }) | null>("files.get", {
          key,
        });
        return file === null ? null : { ...file, ...readersOf(file.data) };
      },
      put: async (name: string, data: FileContent, type?: string) => {
        const { bytes, mimeType } = await contentOf(data);
        return calls.make<UploadResult>("files.put", { name, bytes, type: type ?? mimeType });
      },
      delete: (key: string) => calls.make<boolean>("files.delete", { key }),
    }),
    actions: openActions(calls),
  };
  return { bindings, fetch: fetchBy(calls) };
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

/** Refuses NaN and infinite numbers, which `JSON.stringify` would turn into null. */
function requireFinite(name: string, value: unknown): unknown {
  if (typeof value === "number" && !isFiniteNumber(value))
    throw new NativeTypeError(`${name}: is ${value}, which JSON cannot hold; make it a string or null`);
  return value;
}

/** The actions as a program sees them: each goes to the service with its arguments as JSON. */
function openActions(calls: Calls): ActionsBinding {
  const act = async <Answer>(action: string, args: object): Promise<Answer> =>
    calls.make<Answer>(`actions.${action}`, stringify(args, requireFinite));
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
    documents: freeze({
      edit: (name: string, edits: DocumentEditAction) =>
        act<EditedDocument>("documents.edit", { name, edits }),
    }),
    broadcasts: freeze({
      send: (message: BroadcastAction) => act<{ delivered: number }>("broadcasts.send", message),
    }),
  });
}
