/** Gives the operations of a fork other client IDs: its author may have used those of people who write in the document. */

import { fnv1a } from "@atrium/contract/fnv1a.ts";
import * as encoding from "lib0/encoding";
import * as Y from "yjs";
import { bytesToBase64 } from "../../../platform/crypto/encoding.ts";
import { isServerClient } from "../updates/built-document.ts";
import { encodeDeletions } from "../updates/compact-update.ts";
import { IdSet } from "../updates/ranges.ts";

type Id = Pick<Y.ID, "client" | "clock">;

/**
 * The update with all operations beyond `state` under clients that are none of `taken` and did not write the update; their
 * clocks begin with 0. Among each other and those of `state`, the new IDs have the order of the old ones, by which Yjs
 * orders what was written at one place at once. They derive from the update and the `secret`: the same update has the same
 * ones while they are free, and its author cannot foresee them.
 */
export function renumbered(
  update: Uint8Array,
  state: ReadonlyMap<number, number>,
  taken: Iterable<number>,
  secret: string,
): Uint8Array {
  const { structs, ds } = Y.decodeUpdate(update);
  const startOf = (client: number): number => state.get(client) ?? 0;
  const isNew = ({ client, clock }: Id) => clock >= startOf(client);
  const written = new Set(structs.filter(({ id }) => isNew(id)).map(({ id }) => id.client));
  const clients = freshClients(
    [...written].sort(ascending),
    [...state.keys()].sort(ascending),
    new Set([...taken, ...state.keys(), ...written]),
    `${secret} ${fnv1a(bytesToBase64(update))}`,
  );
  const idOf = (id: Id): Y.ID =>
    isNew(id)
      ? Y.createID(clients.get(id.client) ?? id.client, id.clock - startOf(id.client))
      : Y.createID(id.client, id.clock);
  for (const struct of structs) {
    struct.id = idOf(struct.id);
    if (!(struct instanceof Y.Item)) continue;
    struct.origin = struct.origin && idOf(struct.origin);
    struct.rightOrigin = struct.rightOrigin && idOf(struct.rightOrigin);
    if (struct.parent instanceof Y.ID) struct.parent = idOf(struct.parent);
  }
  const deletions = new IdSet();
  for (const [client, ranges] of ds.clients)
    for (const { clock, len } of ranges) {
      const [start, end] = [startOf(client), clock + len];
      if (clock < start) deletions.add({ client, start: clock, end: Math.min(start, end) });
      if (end <= start) continue;
      const first = idOf({ client, clock: Math.max(clock, start) });
      deletions.add({ client: first.client, start: first.clock, end: end - start });
    }
  return encode(
    Map.groupBy(structs, ({ id }) => id.client),
    deletions,
  );
}

/** Clients choose among so many IDs. */
const CLIENTS = 2 ** 32;
/** IDs among which each client has its new one at least: of fewer, its author could foresee it. */
const MIN_SPACE = 1_000;
/** Far below the largest number that Yjs can encode. */
const MAX_START = 2 ** 52;

const ascending = (one: number, other: number): number => one - other;

/**
 * Gives each of the sorted clients an ID that no one has, in the same order: spread between the same two of the sorted
 * `known` ones, or above if there is no space.
 */
function freshClients(
  clients: readonly number[],
  known: readonly number[],
  taken: ReadonlySet<number>,
  seed: string,
): ReadonlyMap<number, number> {
  const fresh = new Map<number, number>();
  let next = 0;
  for (const [index, together] of Map.groupBy(clients, (client) => countUpTo(known, client))) {
    const from = Math.min((known[index - 1] ?? -1) + 1, MAX_START);
    const to = Math.min(known[index] ?? MAX_START, from < CLIENTS ? CLIENTS : from + CLIENTS);
    const space = Math.max((to - from) / together.length, MIN_SPACE);
    for (const [at, client] of together.entries()) {
      const wanted = from + Math.floor((at + fnv1a(`${seed} ${client}`) / CLIENTS) * space);
      next = Math.max(next, wanted);
      while (isServerClient(next) || taken.has(next)) next += 1;
      fresh.set(client, next);
      next += 1;
    }
  }
  return fresh;
}

/** The number of sorted numbers up to this one. */
function countUpTo(known: readonly number[], client: number): number {
  let [low, high] = [0, known.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((known[middle] ?? 0) > client) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Clients are in descending order, as Yjs expects it. */
function encode(
  clients: ReadonlyMap<number, readonly (Y.Item | Y.GC | Y.Skip)[]>,
  deletions: IdSet,
): Uint8Array {
  const encoder = new Y.UpdateEncoderV1();
  const { restEncoder } = encoder;
  encoding.writeVarUint(restEncoder, clients.size);
  for (const [client, structs] of [...clients].sort(([one], [other]) => other - one)) {
    encoding.writeVarUint(restEncoder, structs.length);
    encoder.writeClient(client);
    encoding.writeVarUint(restEncoder, structs[0]?.id.clock ?? 0);
    for (const struct of structs) struct.write(encoder, 0);
  }
  encoding.writeUint8Array(restEncoder, encodeDeletions(deletions));
  return encoder.toUint8Array();
}
