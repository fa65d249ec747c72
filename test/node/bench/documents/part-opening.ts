/** Opening a document that was typed key by key: how long until a client has all of it. */
import * as Y from "yjs";
import { median } from "../load.ts";
import { inTurns, type Section } from "../room/turns.ts";
import type { BenchOptions } from "../run.ts";
import { count, ratio, table } from "../table.ts";
import { DocumentSocket } from "./document-socket.ts";
import type { DocumentServer } from "./subjects.ts";

/** About as many as the keys of an article of 17 pages. */
const KEYS = 260_000;
const KEYS_PER_UPDATE = 2_000;
/** How often a key deletes the one before it. */
const DELETING = 4;

/** Each run opens the document this often. */
const OPENINGS = 5;

interface Run {
  readonly ms: number;
  readonly bytes: number;
}

export async function measureOpening(
  servers: readonly DocumentServer[],
  options: BenchOptions,
): Promise<Section> {
  const updates = article();
  const stored = new Map<DocumentServer, StoredDocument>();
  for (const server of servers) stored.set(server, await store(server, updates));
  const measured = await inTurns(servers, options, (server) => open(server, stored.get(server)?.name ?? ""));
  for (const { writer } of stored.values()) writer.close();
  const [first] = measured;
  const ms = (runs: readonly Run[]) => median(runs.map((run) => run.ms));
  const rows = measured.map(({ name, runs }) => [
    name,
    ms(runs).toFixed(1),
    ratio(ms(runs) / ms(first?.runs ?? [])),
    count(median(runs.map(({ bytes }) => bytes))),
  ]);
  const title = `a document of ${count(KEYS)} keys is opened`;
  return { markdown: table([title, "ms", "of the first", "bytes"], rows), raw: { measured } };
}

/** The updates of an author who types, deletes and moves about. */
function article(): Uint8Array[] {
  const doc = new Y.Doc();
  doc.clientID = 1;
  const text = doc.getText("text");
  const updates: Uint8Array[] = [];
  doc.on("update", (update: Uint8Array) => updates.push(update));
  let at = 0;
  for (let key = 0; key < KEYS; key += KEYS_PER_UPDATE)
    doc.transact(() => {
      for (let index = 0; index < KEYS_PER_UPDATE; index += 1) {
        const number = key + index;
        if (number % 97 === 0) at = (number * 7_919) % (text.length + 1);
        if (number % DELETING === 0 && at > 0) text.delete(--at, 1);
        else text.insert(at++, "x");
      }
    });
  return updates;
}

interface StoredDocument {
  readonly name: string;
  /** Stays open: the servers that keep documents in memory forget one that no one has open. */
  readonly writer: DocumentSocket;
}

async function store(server: DocumentServer, updates: readonly Uint8Array[]): Promise<StoredDocument> {
  const name = crypto.randomUUID();
  const writer = await DocumentSocket.open(await server.addressOf(name));
  for (const update of updates) writer.sendUpdate(update);
  await waitUntilStored(server, name, updates);
  return { name, writer };
}

async function waitUntilStored(
  server: DocumentServer,
  document: string,
  updates: readonly Uint8Array[],
): Promise<void> {
  const whole = Y.mergeUpdates([...updates]).length;
  for (;;) {
    const reader = await DocumentSocket.open(await server.addressOf(document));
    reader.close();
    if (reader.bytes >= whole * 0.9) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

async function open(server: DocumentServer, document: string): Promise<Run> {
  const addresses = await Promise.all(Array.from({ length: OPENINGS }, () => server.addressOf(document)));
  const times: number[] = [];
  let bytes = 0;
  for (const address of addresses) {
    const startedAt = performance.now();
    const reader = await DocumentSocket.open(address);
    times.push(performance.now() - startedAt);
    bytes = reader.bytes;
    reader.close();
  }
  return { ms: median(times), bytes };
}
