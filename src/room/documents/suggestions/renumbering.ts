/** Gives the operations of a fork other client IDs: its author may have used those of people who write in the document. */

import * as encoding from "lib0/encoding";
import * as Y from "yjs";
import { isServerClient } from "../updates/built-document.ts";
import { encodeDeletions } from "../updates/compact-update.ts";
import { IdSet } from "../updates/ranges.ts";

type Id = Pick<Y.ID, "client" | "clock">;

/**
 * The update with all operations beyond `state` under clients that are none of `taken`; their clocks begin with 0. Among
 * each other and those of `state`, the new IDs have the order of the old ones, by which Yjs orders what was written at one
 * place at once.
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
  const clients = freshClients([...written].sort(ascending), [...state.keys()].sort(ascending), taken);
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
/** IDs for each client of a gap, below which a random one may be hard to find. */
const MIN_SPACE = 1_000;

const ascending = (one: number, other: number): number => one - other;

/** Gives each client a random ID that no one has, between the same two of the `known` ones if there is space. */
function freshClients(
  clients: readonly number[],
  known: readonly number[],
  taken: { has(client: number): boolean },
): Map<number, number> {
  const fresh = new Map<number, number>();
  for (const [index, together] of Map.groupBy(clients, (client) => countUpTo(known, client))) {
    const [above, below] = [known[index - 1] ?? -1, known[index] ?? CLIENTS];
    const isWide = below - above > together.length * MIN_SPACE;
    const [from, to] = isWide ? [above + 1, below] : [0, CLIENTS];
    const names = new Set<number>();
    while (names.size < together.length) {
      const [random = 0] = crypto.getRandomValues(new Uint32Array(1));
      const name = from + Math.floor((random / CLIENTS) * (to - from));
      if (!isServerClient(name) && !taken.has(name)) names.add(name);
    }
    const inOrder = [...names].sort(ascending);
    for (const [at, client] of together.entries()) fresh.set(client, inOrder[at] ?? client);
  }
  return fresh;
}

const countUpTo = (known: readonly number[], client: number): number => {
  const at = known.findIndex((each) => each > client);
  return at === -1 ? known.length : at;
};

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
