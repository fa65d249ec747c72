/** Writes to a store: their arguments, their messages and their responses. */
import { invalid } from "../../core/error.ts";
import { copyJson, isRecord } from "../../core/json.ts";
import { isCount } from "../connection/frames.ts";
import type { Operation } from "./entries.ts";
import { fitPatch, fitValue, type StoreShape } from "./shapes.ts";

export interface WriteOptions {
  /** Writes only if the entry has this version, 0 for no entry; otherwise CONFLICT. */
  readonly ifVersion?: number | undefined;
}

/** A write as one object: the same as its key, its value and its options as separate arguments. */
export interface KeyedWrite<Value> extends WriteOptions {
  readonly key: string;
  readonly value: Value;
}

/** A deletion as one object. */
export interface KeyedDeletion extends WriteOptions {
  readonly key: string;
}

export interface Written {
  /** The entry's new version; left out after a deletion. */
  readonly version?: number;
  /** The room's latest change. */
  readonly seq: number;
}

/** One of the writes of a `batch`. */
export type Write<Input, Patch> = WriteOptions & { readonly key: string } & (
    | { readonly action: "set"; readonly value: Input }
    | { readonly action: "update"; readonly value: Patch }
    | { readonly action: "delete" }
  );

/** Both forms of arguments as one. */
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

export const isWritten = (result: unknown): result is Written => isRecord(result) && isCount(result.seq);
