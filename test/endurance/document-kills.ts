/** Users edit one document over all three wires while the service is killed again and again. */
import { HocuspocusProvider, HocuspocusProviderWebsocket } from "@hocuspocus/provider";
import { expect } from "vitest";
import { WebSocket as NodeWebSocket } from "ws";
import { WebsocketProvider } from "y-websocket";
import * as Y from "yjs";
import { AtriumClient } from "../../src/sdk/client/index.ts";
import { openDocument } from "../../src/sdk/documents/index.ts";
import { eventually } from "../node/processes.ts";
import { EAGER } from "../sdk/clients.ts";
import { BreakableProxy } from "../sdk/proxy.ts";
import { Customer } from "../stories/client.ts";
import type { Random } from "../support/random.ts";
import { type Writer as KilledWriter, killWhile } from "./kill-while.ts";
import type { KillableService } from "./killable-service.ts";

const NAME = "notes";
/** The service is killed after up to this many more edits. */
const MAX_EDITS = 40;

/** How often an edit is made whose wire has no acknowledgements: less often than the room takes frames. */
const UNANSWERED_PACE_MS = 20;

/** An editor's client of one document. */
interface Tab {
  readonly doc: Y.Doc;
  /** Resolves when all edits of the tab are on disk or, over a wire that does not say so, when it is connected. */
  settled(): Promise<void>;
  /** Whether an edit is on disk then. */
  readonly isStored: boolean;
  close(): void;
}

interface Address {
  readonly url: string;
  /** Of the room's documents, for sockets. */
  readonly documents: string;
  readonly token: string;
}

const TABS: readonly ((address: Address) => Tab)[] = [
  ({ url, token }) => {
    const client = new AtriumClient({ serverUrl: url, authToken: token }, EAGER);
    const provider = openDocument(client, NAME);
    client.join().catch(() => undefined); // the tab was closed meanwhile
    const close = () => {
      provider.destroy();
      client.disconnect();
    };
    return { doc: provider.doc, settled: () => provider.flush(), isStored: true, close };
  },
  ({ documents, token }) => {
    const doc = new Y.Doc();
    const websocketProvider = new HocuspocusProviderWebsocket({
      ...{ url: documents, WebSocketPolyfill: NodeWebSocket },
      ...{ delay: 50, minDelay: 50, maxDelay: 200, jitter: false },
    });
    const provider = new HocuspocusProvider({ websocketProvider, name: NAME, document: doc, token });
    provider.attach();
    const settled = async () => {
      while (provider.hasUnsyncedChanges || !provider.isSynced)
        await new Promise<void>((resolve) => {
          const next = () => {
            provider.off("unsyncedChanges", next);
            provider.off("synced", next);
            resolve();
          };
          provider.on("unsyncedChanges", next);
          provider.on("synced", next);
        });
    };
    const close = () => {
      provider.destroy();
      websocketProvider.destroy();
    };
    return { doc, settled, isStored: true, close };
  },
  ({ documents, token }) => {
    const doc = new Y.Doc();
    const options = { params: { token }, disableBc: true, maxBackoffTime: 200 };
    const provider = new WebsocketProvider(documents, `${NAME}/sync`, doc, options);
    const settled = async () => {
      await new Promise((resolve) => setTimeout(resolve, UNANSWERED_PACE_MS));
      while (!provider.synced)
        await new Promise<void>((resolve) => {
          const next = () => {
            provider.off("sync", next);
            resolve();
          };
          provider.on("sync", next);
        });
    };
    return { doc, settled, isStored: false, close: () => provider.destroy() };
  },
];

const marksOf = (doc: Y.Doc) => doc.getArray<string>("marks");

/** A person who edits in one tab after the other; only tabs whose wire acknowledges edits are closed before the end. */
class Writer implements KilledWriter {
  tab: Tab;
  /** The edits that were acknowledged, or whose tab is still open. */
  readonly kept: Set<string> = new Set();
  readonly #open: () => Tab;
  readonly #name: string;
  readonly #random: Random;
  #count = 0;
  #isWriting = true;
  #writing: Promise<void> = Promise.resolve();

  constructor(name: string, open: () => Tab, random: Random) {
    this.#name = name;
    this.#open = open;
    this.#random = random;
    this.tab = open();
  }

  /** Writes until {@link stop}; calls `edited` after each edit. */
  start(edited: () => void): void {
    this.#writing = this.#write(edited);
  }

  async #write(edited: () => void): Promise<void> {
    while (this.#isWriting) {
      const mark = `${this.#name} ${this.#count++}`;
      const { doc, isStored } = this.tab;
      const marks = marksOf(doc);
      marks.insert(this.#random(marks.length + 1), [mark]);
      edited();
      await this.tab.settled();
      this.kept.add(mark);
      if (isStored && this.#random(10) === 0) this.#reopen();
    }
  }

  /** All that the tab knew is gone with it. */
  #reopen(): void {
    this.tab.close();
    this.tab = this.#open();
  }

  async stop(): Promise<void> {
    this.#isWriting = false;
    await this.#writing;
  }
}

/** Kills the service that often. In the end, each acknowledged edit is there once, and all documents are equal. */
export async function killUnderDocuments(
  service: KillableService,
  kills: number,
  random: Random,
): Promise<{ readonly kept: number }> {
  const customer = new Customer(service, service.organization);
  const { id: roomId } = await customer.createRoom();
  const proxy = await BreakableProxy.before(service);
  const path = `v1/accounts/${service.organization.accountId}/rooms/${roomId}/documents`;
  const documents = `${proxy.url.replace("http", "ws")}/${path}`;
  const writers: Writer[] = [];
  try {
    for (const [index, open] of TABS.entries()) {
      const { token } = await customer.createUser(roomId, `Writer ${index}`);
      writers.push(new Writer(`${index}`, () => open({ url: proxy.url, documents, token }), random));
    }
    await killWhile(writers, service, { kills, maxSteps: MAX_EDITS, random });
    return { kept: await expectAgreement(writers) };
  } finally {
    for (const { tab } of writers) tab.close();
    await proxy.close();
  }
}

/** Returns how many edits must be there. */
async function expectAgreement(writers: readonly Writer[]): Promise<number> {
  const kept = writers.flatMap((writer) => [...writer.kept]);
  const docs = writers.map(({ tab }) => tab.doc);
  const contents = () => docs.map((doc) => JSON.stringify(marksOf(doc)));
  await eventually("all to have every edit", () => {
    const [first = ""] = contents();
    return (
      contents().every((content) => content === first) && kept.every((mark) => first.includes(`"${mark}"`))
    );
  });
  const marks = marksOf(docs[0] ?? new Y.Doc()).toArray();
  expect(marks).toHaveLength(new Set(marks).size);
  return kept.length;
}
