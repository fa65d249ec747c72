/** The bindings as a program sees them: each call goes to the service over RPC. */

import type { HostBindings, RunInput } from "../runners/runner.ts";
import { openActions } from "./actions.ts";
import { Calls } from "./calls.ts";
import { fetchBy } from "./fetch.ts";
import { withTypes } from "./host-bindings.ts";
import {
  apply,
  create,
  freeze,
  isView,
  NativeArrayBuffer,
  NativeBlob,
  NativeTypeError,
  parse,
  utf8,
} from "./intrinsics.ts";
import type { Run } from "./run.ts";
import type { Bindings, FileContent } from "./types.ts";

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
