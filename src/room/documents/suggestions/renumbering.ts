/** Gives the operations of a fork other client IDs: its author may have used those of people who write in the document. */

import * as encoding from "lib0/encoding";
import * as Y from "yjs";
import { isServerClient } from "../updates/built-document.ts";
import { encodeDeletions } from "../updates/compact-update.ts";
import { IdSet } from "../updates/ranges.ts";

/** Gives client IDs that no one has, another one each time. */
export function newClients(known: Iterable<number>): () => number {
  const taken = new Set(known);
  return () => {
    for (;;) {
      const [client = 0] = crypto.getRandomValues(new Uint32Array(1));
      if (isServerClient(client) || taken.has(client)) continue;
      taken.add(client);
      return client;
    }
  };
}

type Id = Pick<Y.ID, "client" | "clock">;

/**
 * The update with all operations beyond `state` under new clients, whose clocks begin with 0. `newClient` is asked once
 * for each client, and must return another one each time.
 */
export function renumbered(
  update: Uint8Array,
  state: ReadonlyMap<number, number>,
  newClient: () => number,
): Uint8Array {
  const clients = new Map<number, number>();
  const startOf = (client: number): number => state.get(client) ?? 0;
  const idOf = ({ client, clock }: Id): Y.ID => {
    if (clock < startOf(client)) return Y.createID(client, clock);
    const named = clients.get(client) ?? newClient();
    clients.set(client, named);
    return Y.createID(named, clock - startOf(client));
  };
  const { structs, ds } = Y.decodeUpdate(update);
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
