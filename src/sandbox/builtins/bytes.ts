/** Buffers and their holders: counted when they are created, and limited where the language walks them. */
import { allocate, tick } from "../guard/guard.ts";
import { apply, getPrototypeOf, isArray, isView, keys, max, toNumber } from "../guard/intrinsics.ts";
import {
  allocateFor,
  allocateForSource,
  lengthOf,
  MAX_ITEMS,
  numberAt,
  sizeOf,
  tooLong,
  walk,
} from "./sizes.ts";
import { checkConstruction, checkEach, functionsOf, globalHolders, method, replace } from "./wrap.ts";

const VIEWS = [
  ...["Int8Array", "Uint8Array", "Uint8ClampedArray", "Int16Array", "Uint16Array", "Int32Array"],
  ...["Uint32Array", "Float16Array", "Float32Array", "Float64Array", "BigInt64Array", "BigUint64Array"],
];
const COPYING = ["slice", "map", "filter", "toSorted", "toReversed", "with"];
const JOINING = ["join", "toString", "toLocaleString"];
const HOLDING = ["Request", "Response", "Headers", "URL", "URLSearchParams", "FormData"];
const READING = ["arrayBuffer", "bytes", "text", "json", "blob", "formData"];
const MAX_CLONE_DEPTH = 100;

export function boundBytes(): void {
  boundBuffers();
  boundViews();
  const classes = [FormData, Headers, URLSearchParams];
  const bodies = [Request, Response, Blob];
  for (const holder of globalHolders()) {
    for (const name of ["Blob", "File"]) checkConstruction(holder, name, allocateParts);
    for (const name of HOLDING) checkConstruction(holder, name, allocateFor);
    checkEach(holder, ["structuredClone"], (_, args) => allocate(measure(args[0], 0)));
  }
  for (const { prototype } of classes) {
    checkEach(prototype, ["append", "set"], (_, args) => allocateFor(args));
  }
  for (const { prototype } of bodies) for (const name of READING) boundReading(prototype, name);
}

function boundBuffers(): void {
  checkConstruction(globalThis, "ArrayBuffer", (args) => {
    const length = numberAt(args, 0);
    const options = args[1] as { readonly maxByteLength?: unknown } | undefined;
    if (options?.maxByteLength === undefined) return allocate(length);
    const maxByteLength = toNumber(options.maxByteLength);
    args[1] = { maxByteLength };
    return allocate(max(length, maxByteLength));
  });
  const copying = ["slice", "resize", "transfer", "transferToFixedLength"];
  checkEach(ArrayBuffer.prototype, copying, (self, args) => allocate(max(sizeOf(self), numberAt(args, 0))));
}

function boundViews(): void {
  for (const name of VIEWS) {
    checkConstruction(globalThis, name, (args) => {
      const source = args[0];
      if (typeof source === "number") allocate(8 * source);
      else if (isView(source) || isArray(source)) allocate(8 * lengthOf(source));
      else if (sizeOf(source) === 0) allocateForSource(source);
    });
  }
  const view = getPrototypeOf(Uint8Array) as { readonly prototype: object } | null;
  if (view === null) return;
  const { prototype } = view;
  // A view of a counted buffer may exceed the limit for walking, because walking it is fast.
  checkEach(prototype, functionsOf(prototype, ["at", ...JOINING]), (self) => allocate(lengthOf(self) / 8));
  checkEach(prototype, COPYING, (self) => allocate(lengthOf(self)));
  checkEach(prototype, ["set"], (_, args) => walk(args[0]));
  checkEach(prototype, JOINING, (self) => allocate(8 * walk(self)));
  checkEach(prototype, ["sort", "toSorted"], (self) => {
    if (lengthOf(self) > MAX_ITEMS) throw tooLong();
  });
  checkEach(view, ["from"], (_, args) => allocateForSource(args[0]));
}

function allocateParts(args: unknown[]): void {
  const parts = args[0];
  if (isArray(parts)) allocateFor(parts);
}

function boundReading(prototype: object, name: string): void {
  replace(prototype, name, (native) =>
    method(async (self, args) => {
      const read = await apply(native, self, args);
      allocateFor([read]);
      return read;
    }),
  );
}

/** The approximate size of a value's clone. A part that occurs twice is counted twice. */
function measure(value: unknown, depth: number): number {
  tick();
  if (typeof value === "string") return 2 * value.length;
  if (typeof value !== "object" || value === null || depth > MAX_CLONE_DEPTH) return 8;
  let size = 64 + sizeOf(value);
  if (isView(value)) return size;
  const names = keys(value);
  for (let index = 0; index < names.length; index += 1) {
    const name = names[index] ?? "";
    size += name.length + measure((value as Record<string, unknown>)[name], depth + 1);
  }
  return size;
}
