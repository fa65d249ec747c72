/**
 * Users edit one document, delete and paste in it, over all three wires, and programs over REST, while the service is
 * killed again and again.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { HocuspocusProvider, HocuspocusProviderWebsocket } from "@hocuspocus/provider";
import { AtriumClient } from "atrium/client";
import { openDocument } from "atrium/documents";
import { AtriumError, AtriumServer } from "atrium/server";
import { expect } from "vitest";
import { WebSocket as NodeWebSocket } from "ws";
import { WebsocketProvider } from "y-websocket";
import * as Y from "yjs";
import type { Random } from "../../support/random.ts";
import { eventually } from "../cli/processes.ts";
import { EAGER } from "../sdk/clients.ts";
import { BreakableProxy } from "../sdk/proxy.ts";
import { Customer } from "../stories/client.ts";
import { type KilledWriter, killWhile } from "./kill-while.ts";
import type { KillableService } from "./killable-service.ts";

const NAME = "notes";
/** The service is killed after up to this many more edits. */
const MAX_EDITS = 40;
/** Several people over each wire. */
const WRITERS = 8;
/** Number of pastes of all of them together. */
const PASTES = 6;
const PASTE = "x".repeat(1024 * 1024);

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
  /** Address of the room's documents, for sockets. */
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
    const options = { protocols: ["atrium", token], disableBc: true, maxBackoffTime: 200 };
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
const pastesOf = (doc: Y.Doc) => doc.getText("pastes");
/** Letters that people and programs write, each once. */
const lettersOf = (doc: Y.Doc) => doc.getText("default");

/** Returns another letter with each call. */
function newLetters(): () => string {
  let latest = 0x4e00;
  return () => String.fromCharCode(latest++);
}

/** A person who edits in one tab after the other; only tabs whose wire acknowledges edits are closed before the end. */
class DocumentWriter implements KilledWriter {
  tab: Tab;
  /** The edits that were acknowledged, or whose tab is still open. */
  readonly kept: Set<string> = new Set();
  readonly letters: Set<string> = new Set();
  readonly #open: () => Tab;
  readonly #name: string;
  readonly #random: Random;
  readonly #proxy: BreakableProxy;
  readonly #mayPaste: () => boolean;
  readonly #newLetter: () => string;
  #count = 0;
  #isWriting = true;
  #writing: Promise<void> = Promise.resolve();

  constructor(
    name: string,
    open: () => Tab,
    proxy: BreakableProxy,
    { mayPaste, newLetter }: { mayPaste: () => boolean; newLetter: () => string },
    random: Random,
  ) {
    this.#newLetter = newLetter;
    this.#name = name;
    this.#open = open;
    this.#proxy = proxy;
    this.#mayPaste = mayPaste;
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
      const [marks, pastes] = [marksOf(doc), pastesOf(doc)];
      if (this.#random(10) === 0) {
        this.#proxy.cut();
        // Some tabs notice it before they write; others send their writes in vain.
        for (let turn = this.#random(10); turn > 0; turn -= 1) await nextTurn();
      }
      if (pastes.length > 0 && this.#random(4) === 0) pastes.delete(0, 1 + this.#random(pastes.length));
      if (this.#random(20) === 0 && this.#mayPaste()) pastes.insert(this.#random(pastes.length + 1), PASTE);
      const [letters, letter] = [lettersOf(doc), this.#newLetter()];
      // One update: Hocuspocus' client counts acknowledgements, and begins anew when it connects amid several.
      doc.transact(() => {
        marks.insert(this.#random(marks.length + 1), [mark]);
        letters.insert(this.#random(letters.length + 1), letter);
      });
      edited();
      await this.tab.settled();
      this.kept.add(mark);
      this.letters.add(letter);
      if (!isStored || this.#random(5) !== 0) continue;
      edited();
      this.#reopen();
    }
  }

  /** The tab's knowledge is gone with it, and so are messages on their way. */
  #reopen(): void {
    this.#proxy.cut();
    this.tab.close();
    this.tab = this.#open();
  }

  async stop(): Promise<void> {
    this.#isWriting = false;
    await this.#writing;
  }
}

/** A program that writes letters beside those of people, and repeats a request until it is answered. */
class ProgramWriter implements KilledWriter {
  /** The letters that were acknowledged, and those that were refused. */
  readonly letters: Set<string> = new Set();
  readonly refused: Set<string> = new Set();
  readonly #documents: AtriumServer["documents"];
  readonly #roomId: string;
  readonly #newLetter: () => string;
  readonly #random: Random;
  #isWriting = true;
  #writing: Promise<void> = Promise.resolve();

  constructor(atrium: AtriumServer, roomId: string, newLetter: () => string, random: Random) {
    this.#documents = atrium.documents;
    this.#roomId = roomId;
    this.#newLetter = newLetter;
    this.#random = random;
  }

  start(edited: () => void): void {
    this.#writing = this.#write(edited);
  }

  async #write(edited: () => void): Promise<void> {
    while (this.#isWriting) {
      const letter = this.#newLetter();
      edited();
      try {
        const [block] = (await this.#documents.blocks(this.#roomId, NAME)).blocks;
        const quote = block?.text.charAt(this.#random(block.text.length));
        const at = quote && this.#random(3) > 0 ? { quote } : "end";
        await this.#documents.edit(this.#roomId, NAME, [{ at, insert: letter }]);
        this.letters.add(letter);
      } catch (error) {
        const isRefused = error instanceof AtriumError && /^(CONFLICT|NOT_FOUND)$/.test(error.code);
        if (!isRefused) throw error;
        this.refused.add(letter);
      }
    }
  }

  async stop(): Promise<void> {
    this.#isWriting = false;
    await this.#writing;
  }
}

/**
 * Kills the service that often, with programs among the writers and without large pastes, or the other way round. In
 * the end, each acknowledged edit is there once, and all documents are equal.
 */
export async function killUnderDocuments(
  service: KillableService,
  kills: number,
  random: Random,
  programs = 0,
): Promise<{ readonly kept: number }> {
  const customer = new Customer(service, service.organization);
  const { id: roomId } = await customer.createRoom();
  const path = `v1/accounts/${service.organization.accountId}/rooms/${roomId}/documents`;
  const writers: DocumentWriter[] = [];
  const proxies: BreakableProxy[] = [];
  let pastes = 0;
  const mayPaste = () => {
    pastes += 1;
    return programs === 0 && pastes <= PASTES;
  };
  const newLetter = newLetters();
  const authors: ProgramWriter[] = [];
  try {
    for (let index = 0; index < WRITERS; index += 1) {
      const open = TABS[index % TABS.length];
      if (open === undefined) throw new Error("There is no such wire");
      const { token } = await customer.createUser(roomId, `Writer ${index}`);
      const proxy = await BreakableProxy.before(service);
      proxies.push(proxy);
      const documents = `${proxy.url.replace("http", "ws")}/${path}`;
      const openTab = () => open({ url: proxy.url, documents, token });
      writers.push(new DocumentWriter(`${index}`, openTab, proxy, { mayPaste, newLetter }, random));
    }
    for (let index = 0; index < programs; index += 1) {
      const proxy = await BreakableProxy.before(service);
      proxies.push(proxy);
      const atrium = new AtriumServer({ ...service.organization, serverUrl: proxy.url, maxRetries: 100 });
      authors.push(new ProgramWriter(atrium, roomId, newLetter, random));
    }
    await killWhile([...writers, ...authors], service, { kills, maxSteps: MAX_EDITS, random });
    return { kept: await expectAgreement(writers, authors) };
  } finally {
    for (const { tab } of writers) tab.close();
    await Promise.all(proxies.map((proxy) => proxy.close()));
  }
}

/** Returns how many edits must be there. */
async function expectAgreement(
  writers: readonly DocumentWriter[],
  programs: readonly ProgramWriter[],
): Promise<number> {
  const kept = writers.flatMap((writer) => [...writer.kept]);
  const docs = writers.map(({ tab }) => tab.doc);
  const written = [...writers, ...programs].flatMap((writer) => [...writer.letters]);
  const contents = () =>
    docs.map((doc) => JSON.stringify(marksOf(doc)) + pastesOf(doc).length + lettersOf(doc).toString());
  await eventually("all to have every edit", () => {
    const [first = ""] = contents();
    return (
      contents().every((content) => content === first) &&
      kept.every((mark) => first.includes(`"${mark}"`)) &&
      written.every((letter) => first.includes(letter))
    );
  });
  const marks = marksOf(docs[0] ?? new Y.Doc()).toArray();
  expect(marks).toHaveLength(new Set(marks).size);
  const letters = [...lettersOf(docs[0] ?? new Y.Doc()).toString()];
  expect(letters).toHaveLength(new Set(letters).size);
  for (const letter of programs.flatMap(({ refused }) => [...refused])) expect(letters).not.toContain(letter);
  if (programs.length > 0) expect(programs.flatMap((program) => [...program.letters])).not.toEqual([]);
  return kept.length;
}
