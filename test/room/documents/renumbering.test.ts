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
  Y.applyUpdate(base, renumbered(changes, state, state));
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
  Y.applyUpdate(document, renumbered(changes, state, state));
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
    const copy = open(renumbered(Y.encodeStateAsUpdate(fork), new Map(), new Map()), 1);
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
    Y.applyUpdate(base, renumbered(changes, state, state));
    expect(shown(base)).toEqual(shown(fork));
  }
});
