/** Operations of a fork under other client IDs. */
import { expect, it } from "vitest";
import * as Y from "yjs";
import { renumbered } from "../../../src/room/documents/suggestions/renumbering.ts";

function open(update: Uint8Array, client: number): Y.Doc {
  const doc = new Y.Doc({ gc: false });
  Y.applyUpdate(doc, update);
  doc.clientID = client; // Yjs would change one that the update has
  return doc;
}

/** What a document shows, of each kind of shared type. */
const shown = (doc: Y.Doc) => [
  doc.getText("text").toDelta(),
  doc.getXmlFragment("xml").toString(),
  doc.getMap("map").toJSON(),
];

function fill(doc: Y.Doc): void {
  doc.getText("text").insert(0, "The quick fox", { bold: true });
  doc.getXmlFragment("xml").push([new Y.XmlElement("p"), new Y.XmlElement("p")]);
  doc.getMap("map").set("title", new Y.Text("Fox"));
}

function change(doc: Y.Doc): void {
  doc.getText("text").insert(4, "very ");
  doc.getText("text").delete(0, 2);
  doc.getText("text").delete(4, 3); // also what it has written itself
  doc.getText("text").format(0, 3, { bold: null });
  const [first] = doc.getXmlFragment("xml").toArray();
  if (first instanceof Y.XmlElement) {
    first.setAttribute("level", "2");
    first.insert(0, [new Y.XmlText("Hello")]);
  }
  doc.getXmlFragment("xml").delete(1, 1);
  doc.getMap("map").set("title", new Y.Text("Foxes"));
  doc.getMap("map").set("tags", new Y.Array());
}

it("show the same, under clients of which the fork knew nothing", () => {
  const base = open(Y.encodeStateAsUpdate(new Y.Doc()), 10);
  fill(base);
  const whole = Y.encodeStateAsUpdate(base);
  const fork = open(whole, 20);
  change(fork);
  const other = open(Y.encodeStateAsUpdate(fork), 10); // also a client that the base has
  other.getText("text").insert(3, "!");
  Y.applyUpdate(fork, Y.encodeStateAsUpdate(other));
  const state = Y.decodeStateVector(Y.encodeStateVector(base));
  const changes = Y.encodeStateAsUpdate(fork, Y.encodeStateVector(base));
  Y.applyUpdate(base, renumbered(changes, state, [], "secret"));
  expect(shown(base)).toEqual(shown(fork));
  const clients = [...base.store.clients.keys()];
  expect([clients.length, clients.includes(10), clients.includes(20)]).toEqual([3, true, false]);
  expect(Y.getState(base.store, 10)).toBe(state.get(10));
});

it("take no place of what their clients write elsewhere, whatever they are", () => {
  const base = open(Y.encodeStateAsUpdate(new Y.Doc()), 10);
  fill(base);
  const whole = Y.encodeStateAsUpdate(base);
  const fork = open(whole, 10);
  fork.getText("text").insert(0, "In the name of another: ");
  fork.getText("text").delete(0, 3);
  const state = Y.decodeStateVector(Y.encodeStateVector(base));
  const gap = Y.createID(11, 0);
  const structs = [new Y.GC(gap, 2 ** 31)];
  fork.store.clients.set(11, structs);
  const changes = Y.encodeStateAsUpdate(fork, Y.encodeStateVector(base));
  const document = open(whole, 30);
  Y.applyUpdate(document, renumbered(changes, state, [], "secret"));
  for (const client of [10, 11]) {
    const late = open(whole, client);
    late.getText("text").insert(0, `${client} `);
    Y.applyUpdate(document, Y.encodeStateAsUpdate(late));
    expect(document.getText("text").toString()).toContain(`${client} `);
  }
  expect(document.getText("text").toString()).toContain("the name of another");
});

it("keep the order of what several clients wrote at one place at once", () => {
  const empty = Y.encodeStateAsUpdate(new Y.Doc());
  for (let round = 0; round < 20; round += 1) {
    const fork = new Y.Doc({ gc: false });
    for (const client of [5, 3, 9, 7]) {
      const doc = open(empty, client);
      doc.getText("text").insert(0, `${client}`);
      Y.applyUpdate(fork, Y.encodeStateAsUpdate(doc));
    }
    const copy = open(renumbered(Y.encodeStateAsUpdate(fork), new Map(), [], `${round}`), 1);
    expect(copy.getText("text").toString()).toBe(fork.getText("text").toString());
  }
});

it("keep their order beside what the base has", () => {
  for (let round = 0; round < 20; round += 1) {
    const base = open(Y.encodeStateAsUpdate(new Y.Doc()), 2_000_000_000);
    base.getMap("map").set("key", "base");
    base.getText("text").insert(0, "Base");
    const empty = open(Y.encodeStateAsUpdate(new Y.Doc()), round % 2 === 0 ? 4_000_000_000 : 1_000_000_000);
    empty.getMap("map").set("key", "fork");
    empty.getText("text").insert(0, "Fork");
    const fork = open(Y.encodeStateAsUpdate(base), 1);
    Y.applyUpdate(fork, Y.encodeStateAsUpdate(empty));
    const state = Y.decodeStateVector(Y.encodeStateVector(base));
    const changes = Y.encodeStateAsUpdate(fork, Y.encodeStateVector(base));
    Y.applyUpdate(base, renumbered(changes, state, [], `${round}`));
    expect(shown(base)).toEqual(shown(fork));
  }
});

/** A list with one value of each of these clients, in their order. */
function list(clients: readonly number[], before = new Y.Doc()): Y.Doc {
  const doc = open(Y.encodeStateAsUpdate(before), 1);
  doc.transact(() => {
    for (const client of clients) {
      doc.clientID = client;
      doc.getArray("list").push([client]);
    }
  });
  return doc;
}

const range = (from: number, to: number, step = 1): number[] =>
  Array.from({ length: Math.ceil((to - from) / step) }, (_, index) => from + index * step);

const stateOf = (doc: Y.Doc) => Y.decodeStateVector(Y.encodeStateVector(doc));

/** The new clients of what these write after the base. */
function renamed(base: Y.Doc, clients: readonly number[], taken: Iterable<number> = [], secret = "secret") {
  const changes = Y.encodeStateAsUpdate(list(clients, base), Y.encodeStateVector(base));
  const doc = open(Y.encodeStateAsUpdate(base), 1);
  Y.applyUpdate(doc, renumbered(changes, stateOf(base), taken, secret));
  expect(doc.getArray("list").toJSON()).toEqual([...base.getArray("list").toJSON(), ...clients]);
  const known = stateOf(base);
  return [...doc.store.clients.keys()].filter((client) => !known.has(client));
}

it("have a free client also where all between two others are taken", () => {
  const base = list([1000, 3000]);
  for (const taken of [range(1001, 3000), range(1001, 2999, 2), []]) {
    const [client = 0, ...others] = renamed(base, [2000], taken);
    expect(others).toEqual([]);
    expect([1000, 2000, 3000, ...taken]).not.toContain(client);
    expect(client > 1000 && client < 3000).toBe(!taken.includes(1002));
  }
});

it("keep the order of the fork where there is no space between two clients", () => {
  const base = list([364, 366]);
  for (let round = 0; round < 20; round += 1) {
    const fork = open(Y.encodeStateAsUpdate(base), 1);
    for (const client of [365, 6000]) {
      const doc = open(Y.encodeStateAsUpdate(base), client);
      doc.getMap("map").set("key", client);
      Y.applyUpdate(fork, Y.encodeStateAsUpdate(doc));
    }
    const changes = Y.encodeStateAsUpdate(fork, Y.encodeStateVector(base));
    const copy = open(Y.encodeStateAsUpdate(base), 1);
    Y.applyUpdate(copy, renumbered(changes, stateOf(base), [], `${round}`));
    expect(copy.getMap("map").toJSON()).toEqual({ key: 6000 });
  }
});

it("are under the same clients each time, which others cannot foresee", () => {
  const base = list([1000, 500_000]);
  const [first = 0] = renamed(base, [2000]);
  expect(renamed(base, [2000])).toEqual([first]);
  expect(renamed(base, [2000], [first])).toEqual([first + 1]);
  expect(renamed(base, [2000], [], "other")).not.toEqual([first]);
  expect(renamed(base, [2000, 2001])).not.toContain(first);
});

it("keep their order above the clients of Yjs", () => {
  const base = list([2 ** 33]);
  for (const client of renamed(base, [2 ** 34, 2 ** 34 + 1])) expect(client).toBeGreaterThan(2 ** 33);
  const [last = 0] = renamed(list([Number.MAX_SAFE_INTEGER - 10]), [Number.MAX_SAFE_INTEGER - 1]);
  expect(last).toBeLessThan(Number.MAX_SAFE_INTEGER);
});

it("are as many as those of the fork", () => {
  const base = list(range(1_000_000_000, 4_000_000_000, 2_000_000));
  const clients = range(1_000_050_000, 4_000_000_000, 1_000_000);
  expect(new Set(renamed(base, clients)).size).toBe(clients.length);
});
