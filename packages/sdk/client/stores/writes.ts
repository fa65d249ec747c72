/** Writes to a store: their arguments, their messages and their responses. */
import { invalid } from "../../core/error.ts";
import { isRecord, type SomeOf, toJson } from "../../core/json.ts";
import type { Abortable } from "../../core/runtime.ts";
import type { Operation } from "./entries.ts";

export interface WriteOptions extends Abortable {
  /** Writes only if the entry has this version, 0 for no entry; otherwise CONFLICT. */
  readonly ifVersion?: number | undefined;
}

/** A write as one object: the same as its key, its value and its options as separate arguments. */
export interface KeyedWrite<Value> extends WriteOptions {
  readonly key: string;
  readonly value: Value;
}

export interface KeyedDeletion extends WriteOptions {
  readonly key: string;
}

export interface Written {
  /** The entry's new version; left out after a deletion. */
  readonly version?: number;
  /** The room's latest change. */
  readonly seq: number;
}

export type Write<Input, Patch> = WriteOptions & { readonly key: string } & (
    | { readonly action: "set"; readonly value: Input }
    | { readonly action: "update"; readonly value: Patch }
    | { readonly action: "delete" }
  );

export const keyedWrite = (
  target: string | KeyedDeletion,
  options: WriteOptions,
  value?: unknown,
): KeyedWrite<unknown> =>
  typeof target === "string" ? { ...options, key: target, value } : { value, ...target };

/** The value is a copy, as other clients receive it. */
export type FittedWrite = Operation & WriteOptions;

/** Checks a write against the shape; without a shape, any JSON fits. Throws VALIDATION_ERROR. */
export function fitWrite(shape: StoreShape | null, write: Write<unknown, unknown>): FittedWrite {
  if (typeof write.key !== "string") throw invalid("Stores", "key must be a string");
  return { ...write, value: write.action === "delete" ? null : fitted(shape, write.action, write.value) };
}

/** A copy as other clients will receive it. Throws VALIDATION_ERROR. */
const copyJson = (value: unknown): unknown => JSON.parse(toJson(value, "Stores"));

function fitted(shape: StoreShape | null, action: "set" | "update", value: unknown): unknown {
  if (shape === null) return copyJson(value);
  return action === "set" ? fitValue(shape, value) : fitPatch(shape, value);
}

export const operationOf = (store: string, { action, key, value, ifVersion }: FittedWrite): object => ({
  type: `STORE_${action.toUpperCase()}`,
  store,
  key,
  ifVersion,
  ...(action === "delete" ? {} : { value }),
});

interface Types {
  string: string;
  number: number;
  boolean: boolean;
  object: Record<string, unknown>;
  array: unknown[];
}

type Field = {
  readonly [Type in keyof Types]: {
    readonly type: Type;
    /** Whether a value must have this field. */
    readonly required?: boolean | undefined;
    /** Used for values that are set without this field. */
    readonly default?: Types[Type] | (Type extends "array" ? readonly unknown[] : never) | undefined;
  };
}[keyof Types];

export type StoreShape = Readonly<Record<string, Field>>;
/** Shapes by the names of their stores. */
export type StoreShapes = Readonly<Record<string, StoreShape>>;

type Mandatory<Shape extends StoreShape> = {
  [Name in keyof Shape]: Shape[Name] extends { readonly required: true } ? Name : never;
}[keyof Shape];
type Filled<Shape extends StoreShape> = {
  [Name in keyof Shape]: undefined extends Shape[Name]["default"] ? never : Name;
}[keyof Shape];
type Fields<Shape extends StoreShape, Present extends keyof Shape> = {
  [Name in Present]: Types[Shape[Name]["type"]];
} & { [Name in Exclude<keyof Shape, Present>]?: Types[Shape[Name]["type"]] };
type Flat<Type> = { [Name in keyof Type]: Type[Name] };

/** The value of an entry in a store of this shape. */
export type ValueOf<Shape extends StoreShape> = Flat<Fields<Shape, Mandatory<Shape> | Filled<Shape>>>;
/** The argument of `set`: fields with a default can be left out. */
export type InputOf<Shape extends StoreShape> = Flat<
  Pick<ValueOf<Shape>, Mandatory<Shape>> & SomeOf<Omit<ValueOf<Shape>, Mandatory<Shape>>>
>;
/** The argument of `update`: any of the fields. */
export type PatchOf<Shape extends StoreShape> = SomeOf<ValueOf<Shape>>;

/** Declares the shapes of stores, to pass to {@link AtriumClient} as `stores`. */
export const defineStores = <const Shapes extends StoreShapes>(stores: Shapes): Shapes => stores;

/** A copy of the value with defaults filled in. Throws VALIDATION_ERROR with the field that does not fit. */
function fitValue(shape: StoreShape, value: unknown): unknown {
  const copy = fitPatch(shape, value);
  for (const [name, field] of Object.entries(shape)) {
    if (Object.hasOwn(copy, name)) continue;
    if (field.default !== undefined) copy[name] = copyJson(field.default);
    else if (field.required) throw invalid("Stores", `${name} is required`);
  }
  return copy;
}

/** A copy of some fields of a value. Throws VALIDATION_ERROR as {@link fitValue} does. */
function fitPatch(shape: StoreShape, patch: unknown): Record<string, unknown> {
  const copy = copyJson(patch);
  if (!isRecord(copy)) throw invalid("Stores", "value must be an object");
  for (const [name, value] of Object.entries(copy)) {
    const field = Object.hasOwn(shape, name) ? shape[name] : undefined;
    if (field === undefined) throw invalid("Stores", `${name} is not a field of this store`);
    if (typeName(value) !== field.type) throw invalid("Stores", `${name} must be of type ${field.type}`);
  }
  return copy;
}

function typeName(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}
