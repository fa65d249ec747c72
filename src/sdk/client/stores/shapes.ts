/** Stores that know what they hold: shapes are declared once, checked before sending, and known to TypeScript. */
import { invalid } from "../../core/error.ts";
import { copyJson, isRecord } from "../../core/json.ts";

interface Types {
  string: string;
  number: number;
  boolean: boolean;
  object: Record<string, unknown>;
  array: unknown[];
}

/** One field of a store's values: what it is, and what becomes of a value that lacks it. */
export type Field = {
  readonly [Type in keyof Types]: {
    readonly type: Type;
    readonly required?: boolean;
    /** Filled in where a value that is set has none. */
    readonly default?: Types[Type] | (Type extends "array" ? readonly unknown[] : never);
  };
}[keyof Types];

export type StoreShape = Readonly<Record<string, Field>>;
/** The shapes of stores by their names. */
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
/** The same type, spelt as one object. */
type Flat<Type> = { [Name in keyof Type]: Type[Name] };

/** What a store of this shape gives. */
export type ValueOf<Shape extends StoreShape> = Flat<Fields<Shape, Mandatory<Shape> | Filled<Shape>>>;
/** What it takes as a whole value: fields with a default may be left out. */
export type InputOf<Shape extends StoreShape> = Flat<Fields<Shape, Mandatory<Shape>>>;
/** What it takes as a change of a value: any of the fields. */
export type PatchOf<Shape extends StoreShape> = Partial<ValueOf<Shape>>;

/** Declares the stores that a client is made with; TypeScript then knows what each holds. */
export const defineStores = <const Shapes extends StoreShapes>(stores: Shapes): Shapes => stores;

/** The value to send: a copy with defaults filled in. VALIDATION_ERROR, naming the field, when it does not fit. */
export function fitValue(shape: StoreShape, value: unknown): unknown {
  const copy = fitPatch(shape, value);
  for (const [name, field] of Object.entries(shape)) {
    if (Object.hasOwn(copy, name)) continue;
    if (field.default !== undefined) copy[name] = copyJson(field.default, "Stores");
    else if (field.required) throw invalid("Stores", `${name}: is required`);
  }
  return copy;
}

/** A copy of some fields of a value. VALIDATION_ERROR as for {@link fitValue}. */
export function fitPatch(shape: StoreShape, patch: unknown): Record<string, unknown> {
  const copy = copyJson(patch, "Stores");
  if (!isRecord(copy)) throw invalid("Stores", "A value must be an object");
  for (const [name, value] of Object.entries(copy)) {
    const field = Object.hasOwn(shape, name) ? shape[name] : undefined;
    if (field === undefined) throw invalid("Stores", `${name}: is no field of this store`);
    if (typeName(value) !== field.type) throw invalid("Stores", `${name}: must be of type ${field.type}`);
  }
  return copy;
}

function typeName(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}
