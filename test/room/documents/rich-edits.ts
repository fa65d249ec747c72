/** Random edits of several clients in XML, maps and arrays that contain each other. */
import fc from "fast-check";
import * as Y from "yjs";

/** One edit of one client, or the arrival of another client's document. */
type RichEdit = {
  readonly client: number;
  readonly kind:
    | "element"
    | "text"
    | "embed"
    | "format"
    | "attribute"
    | "remove"
    | "nest"
    | "value"
    | "clear"
    | "pull";
  /** Which of the types there are, and where in it. */
  readonly target: number;
  readonly at: number;
  readonly value: unknown;
};

const value = fc.oneof(
  fc.constantFrom<unknown>(null, true, "Ä✨", 1.5, [1, { a: "b" }], { deep: { er: [] } }),
  fc.uint8Array({ maxLength: 3 }),
  fc.bigInt({ min: 0n, max: 9n }).map((big) => ({ big })),
);

export const richEdit: fc.Arbitrary<RichEdit> = fc.record({
  client: fc.nat({ max: 2 }),
  kind: fc.constantFrom(
    ...([
      "element",
      "text",
      "embed",
      "format",
      "attribute",
      "remove",
      "nest",
      "value",
      "clear",
      "pull",
    ] as const),
  ),
  target: fc.nat({ max: 30 }),
  at: fc.nat({ max: 12 }),
  value,
});

/** All elements, or all texts, in a fragment. */
function within<Kind>(parent: Y.XmlFragment, kind: new (...args: never[]) => Kind): Kind[] {
  return parent
    .toArray()
    .flatMap((node) => [
      ...(node instanceof kind ? [node] : []),
      ...(node instanceof Y.XmlElement ? within(node, kind) : []),
    ]);
}

const pick = <T>(items: readonly T[], index: number): T | undefined => items[index % (items.length || 1)];

function apply(doc: Y.Doc, { kind, target, at, value }: RichEdit): void {
  const fragment = doc.getXmlFragment("xml");
  const parent = pick([fragment, ...within(fragment, Y.XmlElement)], target) ?? fragment;
  const text = pick(within(fragment, Y.XmlText), target);
  const place = Math.min(at, text?.length ?? 0);
  const map = doc.getMap<unknown>("map");
  const list = doc.getArray<unknown>("list");
  const key = `key${at % 3}`;
  switch (kind) {
    case "element":
      parent.insert(Math.min(at, parent.length), [new Y.XmlElement(`Part${at % 3}`)]);
      break;
    case "text":
      if (text === undefined) parent.insert(0, [new Y.XmlText("start")]);
      else text.insert(place, "a✨b");
      break;
    case "embed":
      text?.insertEmbed(place, target % 2 === 0 ? { image: at } : new Y.XmlElement("mention"));
      break;
    case "format":
      text?.format(place, Math.min(3, text.length - place), {
        [`mark${at % 2}`]: target % 3 === 0 ? null : { id: at },
      });
      break;
    case "attribute":
      if (parent instanceof Y.XmlElement) parent.setAttribute(key, `${target}`);
      break;
    case "remove":
      if (parent.length > 0) parent.delete(Math.min(at, parent.length - 1), 1);
      else if (text !== undefined && text.length > 0) text.delete(Math.min(at, text.length - 1), 1);
      break;
    case "nest":
      map.set(
        key,
        target % 2 === 0 ? new Y.Map([["in", new Y.Text("side")]]) : Y.Array.from([at, new Y.Map()]),
      );
      list.insert(Math.min(at, list.length), [new Y.XmlElement("item"), value, new Y.Array()]);
      break;
    case "value": {
      const inner = map.get(key);
      if (inner instanceof Y.Map) inner.set(`${target % 2}`, value);
      else if (inner instanceof Y.Array) inner.push([value, value]);
      else map.set(key, value);
      break;
    }
    case "clear":
      if (target % 2 === 0) map.delete(key);
      else if (list.length > 0) list.delete(Math.min(at, list.length - 1), 1);
      break;
    case "pull":
  }
}

/** The updates that the edits make, in their order. */
export function richUpdatesOf(edits: readonly RichEdit[]): Uint8Array[] {
  const docs = [0, 1, 2].map((index) => {
    const doc = new Y.Doc();
    doc.clientID = 10 - index;
    return doc;
  });
  const updates: Uint8Array[] = [];
  for (const doc of docs)
    doc.on("update", (update: Uint8Array, origin: unknown) => {
      if (origin !== "pull") updates.push(update);
    });
  for (const edit of edits) {
    const [doc, from] = [docs[edit.client], docs[edit.target % docs.length]];
    if (doc === undefined || from === undefined) continue;
    if (edit.kind === "pull") Y.applyUpdate(doc, Y.encodeStateAsUpdate(from), "pull");
    else doc.transact(() => apply(doc, edit));
  }
  return updates;
}
