/** Random Yjs updates that no editor writes: every kind of content, in any place, with operations that were written before. */
import fc from "fast-check";
import * as encoding from "lib0/encoding";

type Write = (encoder: encoding.Encoder) => void;

interface Content {
  readonly kind: number;
  /** In clocks. */
  readonly length: number;
  readonly write: Write;
}

const number =
  (value: number): Write =>
  (encoder) =>
    encoding.writeVarUint(encoder, value);
const text =
  (value: string): Write =>
  (encoder) =>
    encoding.writeVarString(encoder, value);
const any =
  (value: unknown): Write =>
  (encoder) =>
    encoding.writeAny(encoder, value as Parameters<typeof encoding.writeAny>[1]);
const inTurn =
  (...writes: Write[]): Write =>
  (encoder) => {
    for (const write of writes) write(encoder);
  };
const counted = (writes: readonly Write[]): Write => inTurn(number(writes.length), ...writes);

const word = fc.constantFrom("", "a", "toString", "valueOf", "__proto__", "guid", "toJSON", "length");
const object = fc.oneof(
  fc.constantFrom<unknown>({ toString: 1, valueOf: 1 }, [{ toString: null }], {}, { guid: 1 }),
  fc.dictionary(word, fc.constantFrom<unknown>(null, 1, "x", {}, [], undefined)),
);
const value = fc.oneof(
  fc.constantFrom<unknown>(null, undefined, true, 1.5, "x", 2n ** 62n, new Uint8Array([1])),
  object,
);
const json = fc.oneof(
  fc.constantFrom("null", "undefined", '"x"', "{", '{"toString":1,"valueOf":1}', '{"__proto__":null}'),
  fc.json(),
);

const one = (kind: number, write: Write): Content => ({ kind, length: 1, write });
const lengthOnly = (kind: number) => (length: number) => ({ kind, length, write: number(length) });

const content: fc.Arbitrary<Content> = fc.oneof(
  fc.nat({ max: 9 }).map(lengthOnly(0)),
  fc.constantFrom(1, 2, 3, 2 ** 40).map(lengthOnly(1)),
  fc
    .array(json, { maxLength: 3 })
    .map((values) => ({ kind: 2, length: values.length, write: counted(values.map(text)) })),
  fc
    .uint8Array({ maxLength: 3 })
    .map((bytes) => one(3, (encoder) => encoding.writeVarUint8Array(encoder, bytes))),
  fc
    .constantFrom("a", "bc", "a✨b😀c", "", "\0")
    .map((written) => ({ kind: 4, length: written.length, write: text(written) })),
  json.map((written) => one(5, text(written))),
  fc.tuple(word, json).map(([key, written]) => one(6, inTurn(text(key), text(written)))),
  fc
    .tuple(fc.nat({ max: 7 }), word)
    .map(([type, name]) =>
      one(7, type === 3 || type === 5 ? inTurn(number(type), text(name)) : number(type)),
    ),
  fc
    .array(value, { maxLength: 3 })
    .map((values) => ({ kind: 8, length: values.length, write: counted(values.map(any)) })),
  fc.tuple(word, value).map(([guid, options]) => one(9, inTurn(text(guid), any(options)))),
  fc.integer({ min: 1, max: 4 }).map(lengthOnly(10)),
);

interface Id {
  readonly client: number;
  readonly clock: number;
}

const client = fc.integer({ min: 1, max: 4 });
const id: fc.Arbitrary<Id> = fc.record({ client, clock: fc.nat({ max: 6 }) });
const neighbor = fc.option(id, { freq: 1 });
export const HOSTILE_ROOTS = ["text", "map", "list", "xml"] as const;

const struct = fc.record({
  content,
  origin: neighbor,
  rightOrigin: neighbor,
  container: fc.oneof(fc.constantFrom(...HOSTILE_ROOTS), id),
  key: fc.option(word, { freq: 1 }),
});

type Struct = typeof struct extends fc.Arbitrary<infer Value> ? Value : never;

function writeStruct({ content, origin, rightOrigin, container, key }: Struct): Write {
  if (content.kind === 0 || content.kind === 10) return inTurn(number(content.kind), content.write);
  const info =
    content.kind | (origin === null ? 0 : 128) | (rightOrigin === null ? 0 : 64) | (key === null ? 0 : 32);
  const writeId = (at: Id) => inTurn(number(at.client), number(at.clock));
  const place =
    typeof container === "string"
      ? inTurn(number(1), text(container))
      : inTurn(number(0), writeId(container));
  const isAlone = origin === null && rightOrigin === null;
  return inTurn(
    (encoder) => encoding.writeUint8(encoder, info),
    ...[origin, rightOrigin].flatMap((at) => (at === null ? [] : [writeId(at)])),
    ...(isAlone ? [place, ...(key === null ? [] : [text(key)])] : []),
    content.write,
  );
}

const block = fc
  .record({ client, clock: fc.nat({ max: 6 }), structs: fc.array(struct, { maxLength: 5 }) })
  .map((block) => ({
    ...block,
    write: inTurn(
      number(block.structs.length),
      number(block.client),
      number(block.clock),
      ...block.structs.map(writeStruct),
    ),
  }));

const deletion = fc
  .record({ client, clock: fc.nat({ max: 8 }), length: fc.integer({ min: 1, max: 5 }) })
  .map(({ client, clock, length }) => inTurn(...[client, 1, clock, length].map(number)));

/** Most have their clients in Yjs' order. */
export const hostileUpdate: fc.Arbitrary<Uint8Array> = fc
  .record({
    blocks: fc.oneof(
      { weight: 5, arbitrary: fc.uniqueArray(block, { maxLength: 3, selector: ({ client }) => client }) },
      { weight: 1, arbitrary: fc.array(block, { maxLength: 3 }) },
    ),
    isSorted: fc.oneof(fc.constant(true), fc.constant(true), fc.boolean()),
    deletions: fc.array(deletion, { maxLength: 2 }),
  })
  .map(({ blocks, isSorted, deletions }) => {
    const ordered = isSorted ? blocks.toSorted((one, other) => other.client - one.client) : blocks;
    return encoding.encode(inTurn(counted(ordered.map(({ write }) => write)), counted(deletions)));
  });
