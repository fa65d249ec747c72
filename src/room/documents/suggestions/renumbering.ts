/** Gives the operations of a fork other client IDs: its author may have used those of people who write in the document. */

import * as encoding from "lib0/encoding";
import * as Y from "yjs";
import { isServerClient } from "../updates/built-document.ts";
import { encodeDeletions } from "../updates/compact-update.ts";
import { IdSet } from "../updates/ranges.ts";

type Id = Pick<Y.ID, "client" | "clock">;

/**
 * The update with all operations beyond `state` under clients that are none of `taken`; their clocks begin with 0. The new
 * IDs are in the order of the others, by which Yjs orders what was written at the same place at once.
 */
export function renumbered(
  update: Uint8Array,
  state: ReadonlyMap<number, number>,
  taken: { has(client: number): boolean },
): Uint8Array {
  const { structs, ds } = Y.decodeUpdate(update);
  const startOf = (client: number): number => state.get(client) ?? 0;
  const isNew = ({ client, clock }: Id) => clock >= startOf(client);
  const written = new Set(structs.filter(({ id }) => isNew(id)).map(({ id }) => id.client));
  const names = freshClients(written.size, taken);
  const clients = new Map([...written].sort(ascending).map((client, index) => [client, names[index] ?? 0]));
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

const ascending = (one: number, other: number): number => one - other;

/** Client IDs that no one has, in ascending order. */
function freshClients(count: number, taken: { has(client: number): boolean }): number[] {
  const fresh = new Set<number>();
  while (fresh.size < count) {
    const [client = 0] = crypto.getRandomValues(new Uint32Array(1));
    if (!isServerClient(client) && !taken.has(client)) fresh.add(client);
  }
  return [...fresh].sort(ascending);
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
