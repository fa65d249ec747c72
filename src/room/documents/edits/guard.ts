/** Guards of edits: operations that an edit relies on, to detect that others changed them meanwhile. */
import * as Y from "yjs";
import type { EditGuard } from "../../types/documents.ts";
import { type ClockRange, IdSet } from "../updates/ranges.ts";
import { type OperationId, readUpdate } from "../updates/update-reader.ts";

/**
 * Whether updates that arrived later touch what the edits rely on: they delete guarded operations, or insert operations
 * that `state` does not cover inside of a guarded stretch, or into a type that must stay as it is, or those that the
 * edits insert under other IDs.
 */
export function isOvertaken(guard: EditGuard, later: readonly Uint8Array[]): boolean {
  const { state } = guard;
  const [guarded, inner] = [setOf(guard.ranges), setOf(guard.interiors)];
  const [begun, remains] = [setOf(guard.begun), setOf(guard.remains)];
  const [keyless, own] = [setOf(guard.keyless ?? []), setOf(guard.own ?? [])];
  const read = Y.decodeStateVector(state);
  return later.some((update) => {
    let isHit = false;
    readUpdate(update, {
      struct({ client, clock, length, origin, rightOrigin, parent, keyed }) {
        const isWithin =
          [origin, rightOrigin].some((id) => has(remains, id)) ||
          has(inner, rightOrigin) ||
          has(begun, parent) ||
          has(keyless, keyed) ||
          own.meets({ client, start: clock, end: clock + length });
        if (isWithin && clock + length > (read.get(client) ?? 0)) isHit = true;
      },
      deleted(range) {
        if (guarded.meets(range)) isHit = true;
      },
    });
    return isHit;
  });
}

const has = (set: IdSet, id: OperationId | null): boolean =>
  id !== null && set.at(id.client, id.clock).value === true;

/** Ranges in any order: a set takes long for many that are not sorted. */
function setOf(ranges: readonly ClockRange[]): IdSet {
  const set = new IdSet();
  set.addAll(ranges.toSorted((one, other) => one.client - other.client || one.start - other.start));
  return set;
}
