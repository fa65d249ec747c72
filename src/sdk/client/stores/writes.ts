/** Writes to a store: as they are asked for, as they go over the wire, and how they are answered. */

import { AtriumError, invalid } from "../../core/error.ts";
import { copyJson, isRecord } from "../../core/json.ts";
import { type Data, isCount, listOf } from "../connection/frames.ts";
import type { Action, Operation } from "./entries.ts";
import { fitPatch, fitValue, type StoreShape } from "./shapes.ts";

/** With `ifVersion`, a write answers CONFLICT unless the entry has that version; 0 stands for no entry. */
export interface WriteOptions {
  readonly ifVersion?: number | undefined;
}

/** `seq` is the room's latest change; `version` the entry's new one, left out after a deletion. */
export interface Written {
  readonly version?: number;
  readonly seq: number;
}

/** One of the writes that `batch` does together. */
export type Write<Input, Patch> = WriteOptions & { readonly key: string } & (
    | { readonly action: "set"; readonly value: Input }
    | { readonly action: "update"; readonly value: Patch }
    | { readonly action: "delete" }
  );

export const MESSAGES: Readonly<Record<Action, string>> = {
  set: "STORE_SET",
  update: "STORE_UPDATE",
  delete: "STORE_DELETE",
};

/** A write whose value is a copy that the others will see. */
export type FittedWrite = Operation & WriteOptions;

/** VALIDATION_ERROR for a write that does not fit the store; without a shape, any JSON does. */
export function fitWrite(shape: StoreShape | null, write: Write<unknown, unknown>): FittedWrite {
  if (typeof write.key !== "string") throw invalid("Stores", "A key is a string");
  return { ...write, value: write.action === "delete" ? null : fitted(shape, write.action, write.value) };
}

function fitted(shape: StoreShape | null, action: "set" | "update", value: unknown): unknown {
  if (shape === null) return copyJson(value, "Stores");
  return action === "set" ? fitValue(shape, value) : fitPatch(shape, value);
}

/** `data` of the message, or of its part in a batch. */
export const dataOf = (store: string, { action, key, value, ifVersion }: FittedWrite): object => ({
  store,
  key,
  ifVersion,
  ...(action === "delete" ? {} : { value }),
});

const isWritten = (written: unknown): written is Written => isRecord(written) && isCount(written.seq);

export function readWritten(answer: Data): Written {
  if (isWritten(answer)) return answer;
  throw new AtriumError({ code: "INTERNAL_ERROR", module: "Client", message: "The answer tells no change" });
}

export const readAllWritten = ({ results }: Data): Written[] => listOf(results, isWritten);
