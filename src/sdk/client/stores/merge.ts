/** Merges two writes of one key that both wait into one, because only the result matters. */
import { isRecord } from "../../core/json.ts";
import type { Operation } from "./entries.ts";

/** The one write that does what both do; null if the later one may be refused after the earlier one. */
export function mergeOperations(earlier: Operation, later: Operation): Operation | null {
  if (later.action !== "update") return later;
  if (earlier.action === "delete") return { ...later, action: "set" };
  if (!isRecord(earlier.value) || !isRecord(later.value)) return null;
  return { ...earlier, value: { ...earlier.value, ...later.value } };
}
