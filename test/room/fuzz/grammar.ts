/** The grammar of clients' messages, made from their schemas: right, nearly right, and at each bound. */

import { MESSAGES } from "@atrium/contract/operations/room.ts";
import { StoreOperation } from "@atrium/contract/operations/stores.ts";
import { RequestId } from "@atrium/contract/operations/values.ts";
import fc from "fast-check";
import * as z from "zod";
import { ofKind } from "../../support/steps.ts";

/** The subset of JSON Schema that is used here. A node without any of it is any JSON value. */
interface Node {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Node;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly required?: readonly string[];
  readonly anyOf?: readonly Node[];
  readonly oneOf?: readonly Node[];
  /** A JSON object that replaces the node. */
  readonly override?: Node;
}

const nodeOf = (schema: z.ZodType): Node =>
  z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as Node;

/** Texts that are special to a program, a database or a font. */
const ODD_TEXTS = [
  "",
  " ",
  "__proto__",
  "constructor",
  "toString",
  "\u0000",
  "\ud800",
  "\u{1f9d1}\u200d\u{1f680}",
  "e\u0301",
  "\u202etxt",
  "\uffff",
  "\u{10ffff}",
  "'; DROP TABLE entries; --",
  "%_\\",
  "*",
  "following",
];
const ODD_NUMBERS = [0, -0, -1, 1.5, 1e21, -1e308, 5e-324, 2 ** 31, 2 ** 53 - 1, 2 ** 53];

/** Names that messages share, so that they concern the same things: the driver replaces `@user0` and the like. */
const users = ["@user0", "@user1", "@user2", "@user3", "@user4"];
const comments = ["@comment0", "@comment1", "@comment2"];
const WORDS: Readonly<Record<string, readonly unknown[]>> = {
  requestId: ["@id", "@id", "@id", "again", "twice"],
  store: ["s", "t", "__proto__"],
  key: ["k", "l", "m", "__proto__", "\u{1f680}", "\uffff"],
  after: ["k", "\uffff"],
  token: ["@token0", "@token1", "@token2", "@token3", "none"],
  target: ["*", "following", ...users],
  numbers: [true, false],
  userId: users,
  userIds: users,
  mentions: users,
  commentId: comments,
  threadId: comments,
  reaction: ["👍", "🎉", "__proto__"],
  ifVersion: [0, "@seq", 1, 2],
  since: [0, "@seq", 1],
  epoch: ["none"],
  limit: [1, 2, 50],
  offset: [0, 1],
  mark: [0, 1_048_576],
};

const json: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<unknown>(null, true, false, 0, 1, "", "text"),
    fc.constantFrom<unknown>(...ODD_TEXTS, ...ODD_NUMBERS),
    fc.array(tie("value"), { maxLength: 3 }),
    tie("object"),
  ),
  object: fc.dictionary(
    fc.constantFrom("a", "b", "x", "y", "color", "__proto__", "toJSON", "\u0000"),
    tie("value"),
    {
      maxKeys: 3,
      noNullPrototype: true,
    },
  ),
})).value;
const jsonObject = fc.dictionary(fc.constantFrom("a", "b", "x", "__proto__"), json, {
  maxKeys: 3,
  noNullPrototype: true,
});

/** Values that are too large for some fields, and deep ones at the nesting limit of a frame. */
const large = fc.constantFrom(8_190, 65_535, 65_537, 196_600, 200_000).map((length) => "x".repeat(length));
const deep = fc.integer({ min: 34, max: 42 }).map((depth) => nested(depth));
function nested(depth: number): unknown {
  let value: unknown = 0;
  for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

const anyJson = fc.oneof(
  { weight: 12, arbitrary: json },
  { weight: 1, arbitrary: large },
  { weight: 1, arbitrary: deep },
);
const anyObject = fc.oneof(
  { weight: 12, arbitrary: jsonObject },
  { weight: 1, arbitrary: fc.tuple(jsonObject, large).map(([object, text]) => ({ ...object, large: text })) },
);

function textOf({ minLength = 0, maxLength = 50 }: Node): fc.Arbitrary<unknown> {
  const atBounds = [minLength, maxLength, maxLength + 1].flatMap((length) => [
    "x".repeat(length),
    "✨".repeat(length),
  ]);
  return fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom("text", "another text") },
    { weight: 2, arbitrary: fc.constantFrom(...ODD_TEXTS) },
    { weight: 1, arbitrary: fc.constantFrom(...atBounds) },
  );
}

function numberOf({ minimum = 0, maximum = 100 }: Node): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: minimum, max: Math.min(maximum, minimum + 5) }) },
    { weight: 1, arbitrary: fc.constantFrom(minimum - 1, maximum, maximum + 1, ...ODD_NUMBERS) },
  );
}

/** Values for a node, mostly right; `name` is the field's. */
function valuesOf(node: Node, name: string): fc.Arbitrary<unknown> {
  const words = WORDS[name];
  const usual = unnamedValuesOf(node, name);
  if (words === undefined || node.type === "array") return usual;
  return fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...words) }, { weight: 1, arbitrary: usual });
}

function unnamedValuesOf(node: Node, name: string): fc.Arbitrary<unknown> {
  if (node.const !== undefined) return fc.constant(node.const);
  if (node.enum !== undefined) return fc.constantFrom(...node.enum);
  const alternatives = node.anyOf ?? node.oneOf;
  if (alternatives !== undefined) return fc.oneof(...alternatives.map((each) => valuesOf(each, name)));
  switch (node.override?.type ?? node.type) {
    case "string":
      return textOf(node);
    case "integer":
      return numberOf(node);
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    case "array":
      return listsOf(node, name);
    case "object":
      return node.properties === undefined ? anyObject : recordsOf(node, node.properties);
    default:
      return anyJson;
  }
}

const operation = fc.oneof(
  { weight: 9, arbitrary: unnamedValuesOf(nodeOf(StoreOperation), "operation") },
  { weight: 1, arbitrary: json },
);

function listsOf({ items = {}, minItems = 0, maxItems = 5 }: Node, name: string): fc.Arbitrary<unknown> {
  const item = name === "operations" ? operation : valuesOf(items, name);
  return fc.oneof(
    { weight: 9, arbitrary: fc.array(item, { minLength: minItems, maxLength: Math.min(maxItems, 4) }) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(item, fc.constantFrom(0, maxItems, maxItems + 1))
        .map(([each, times]) => Array(times).fill(each)),
    },
  );
}

/** All required fields, and any of the others. */
function recordsOf(
  { required = [] }: Node,
  properties: Readonly<Record<string, Node>>,
): fc.Arbitrary<unknown> {
  const fields = Object.entries(properties).map(([name, node]) => [name, valuesOf(node, name)] as const);
  return fc.record(Object.fromEntries(fields), { requiredKeys: [...required], noNullPrototype: true });
}

/** Damage to a frame beyond wrong fields. */
export type Damage =
  /** One of all the frame's fields in order, the one at `at` modulo their number, is left out or replaced. */
  | { readonly kind: "without" | "retyped" | "endless"; readonly at: number }
  | { readonly kind: "cutOff" | "binary" | "inArray" | "tooLarge" | "tooDeep" | "polluted" | "repeated" };

/** A frame as a value that fast-check shrinks and prints. */
export interface FrameSpec {
  readonly message: unknown;
  readonly damage: Damage | null;
}

const damage: fc.Arbitrary<Damage> = fc.oneof(
  ofKind(4, ["without", "retyped", "endless"], { at: fc.nat(9) }),
  ofKind(1, ["cutOff", "binary", "inArray", "tooLarge", "tooDeep", "polluted", "repeated"]),
);

const messages = Object.entries(MESSAGES).flatMap(([type, { input, isMessage }]) =>
  !isMessage ? [] : nodeOf(z.object({ type: z.literal(type), requestId: RequestId, data: input() })),
);

/** Any message of the protocol; a new type takes part as soon as it has a schema. */
export const frame: fc.Arbitrary<FrameSpec> = fc.record({
  message: fc.oneof(...messages.map((node) => valuesOf(node, "message"))),
  damage: fc.oneof({ weight: 7, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: damage }),
});

/** A message that names a type, for a request of its own. */
export const frameOf = (type: string, data: object): FrameSpec => ({
  message: { type, requestId: "@id", data },
  damage: null,
});

/** The frame as it is sent, with `@` names still in it. */
export function textOfFrame({ message, damage }: FrameSpec): string | ArrayBuffer {
  const text = JSON.stringify(message);
  switch (damage?.kind) {
    case undefined:
      return text;
    case "without":
    case "retyped":
    case "endless":
      return withDamagedField(text, damage.kind, damage.at);
    case "cutOff":
      return text.slice(0, -2);
    case "binary":
      return new TextEncoder().encode(text).buffer as ArrayBuffer;
    case "inArray":
      return `[${text}]`;
    case "tooLarge":
      return text + " ".repeat(256 * 1024);
    case "tooDeep":
      return `${text.slice(0, -1)},"extra":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
    case "polluted":
      return `${text.slice(0, -1)},"__proto__":{"role":"editor","data":{}},"constructor":{"prototype":null}}`;
    case "repeated":
      return `${text.slice(0, -1)},${text.slice(1)}`;
  }
}

type Fields = Record<string, unknown>;
const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null;

function withDamagedField(text: string, kind: "without" | "retyped" | "endless", at: number): string {
  const message: unknown = JSON.parse(text);
  const places = placesIn(message);
  const place = places[at % Math.max(1, places.length)];
  if (place === undefined) return text;
  const { fields, name } = place;
  const before = fields[name];
  if (kind === "without") delete fields[name];
  else if (kind === "retyped") fields[name] = typeof before === "string" ? { text: before } : "text";
  else fields[name] = "@endless";
  // JSON has numbers that no double holds; `JSON.stringify` would never write one.
  return JSON.stringify(message).replace('"@endless"', "1e999");
}

function placesIn(value: unknown): { readonly fields: Fields; readonly name: string }[] {
  if (!isFields(value)) return [];
  return Object.keys(value).flatMap((name) => [{ fields: value, name }, ...placesIn(value[name])]);
}
