/** Shapes: the fields of a store's values, declared once, typed, and checked before sending. */
import { invalid } from "../../core/error.ts";
import { copyJson, isRecord } from "../../core/json.ts";

interface Types {
  string: string;
  number: number;
  boolean: boolean;
  object: Record<string, unknown>;
  array: unknown[];
}

/** One field of a store's values. */
type Field = {
  readonly [Type in keyof Types]: {
    readonly type: Type;
    /** Whether a value must have this field. */
    readonly required?: boolean;
    /** Used for values that are set without this field. */
    readonly default?: Types[Type] | (Type extends "array" ? readonly unknown[] : never);
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
/** The same type as one object, which editors show more readably. */
type Flat<Type> = { [Name in keyof Type]: Type[Name] };

/** The value of an entry in a store of this shape. */
export type ValueOf<Shape extends StoreShape> = Flat<Fields<Shape, Mandatory<Shape> | Filled<Shape>>>;
/** The argument of `set`: fields with a default can be left out. */
export type InputOf<Shape extends StoreShape> = Flat<Fields<Shape, Mandatory<Shape>>>;
/** The argument of `update`: any of the fields. */
export type PatchOf<Shape extends StoreShape> = Partial<ValueOf<Shape>>;

/** Declares the shapes of stores, to pass to {@link AtriumClient} as `stores`. */
export const defineStores = <const Shapes extends StoreShapes>(stores: Shapes): Shapes => stores;

/** A copy of the value with defaults filled in. Throws VALIDATION_ERROR with the field that does not fit. */
export function fitValue(shape: StoreShape, value: unknown): unknown {
  const copy = fitPatch(shape, value);
  for (const [name, field] of Object.entries(shape)) {
    if (Object.hasOwn(copy, name)) continue;
    if (field.default !== undefined) copy[name] = copyJson(field.default);
    else if (field.required) throw invalid("Stores", `${name} is required`);
  }
  return copy;
}

/** A copy of some fields of a value. Throws VALIDATION_ERROR as {@link fitValue} does. */
export function fitPatch(shape: StoreShape, patch: unknown): Record<string, unknown> {
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
