/** Acts of a client on a document over the room's socket: those of an editor, near misses, and meaningless bytes. */
import fc from "fast-check";
import { ofKind } from "../../support/steps.ts";

export type DocumentAct =
  /** Asks for missing updates, sends all of its own, asks who is there, or closes it. */
  | { readonly kind: "open" | "repeat" | "query" | "close"; readonly name: string }
  | { readonly kind: "type"; readonly name: string; readonly at: number }
  | { readonly kind: "erase"; readonly name: string; readonly at: number; readonly length: number }
  /** An edit of which one bit is another one. */
  | { readonly kind: "damage"; readonly name: string; readonly at: number; readonly bit: number }
  /** An edit that depends on one that no one is sent. */
  | { readonly kind: "skip"; readonly name: string }
  | {
      readonly kind: "show";
      readonly name: string;
      readonly client: number;
      readonly clock: number;
      readonly state: string;
    }
  /** Bytes after the name, or alone if it is null. */
  | { readonly kind: "bytes"; readonly name: string | null; readonly bytes: readonly number[] };

/** Documents that the well-behaved client has open. */
export const DOCUMENTS = ["d", "e"] as const;

const name = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom<string>(...DOCUMENTS) },
  { weight: 2, arbitrary: fc.constantFrom("d\0a session", "__proto__", "\u{1f680}") },
  { weight: 1, arbitrary: fc.constantFrom("", "\0", "x".repeat(255), "x".repeat(256), "y".repeat(1_900)) },
);
const at = fc.nat(60);

export const documentAct: fc.Arbitrary<DocumentAct> = fc.oneof(
  ofKind(6, ["open", "repeat", "query"], { name }),
  ofKind(1, ["close"], { name }),
  ofKind(8, ["type"], { name, at }),
  ofKind(3, ["erase"], { name, at, length: fc.integer({ min: 1, max: 9 }) }),
  ofKind(3, ["damage"], { name, at, bit: fc.nat(7) }),
  ofKind(1, ["skip"], { name }),
  ofKind(3, ["show"], {
    name,
    client: fc.nat(40),
    clock: fc.nat(3),
    state: fc.constantFrom("{}", "null", '{"user":{"name":"x"}}', `"${"s".repeat(9_000)}"`, "{"),
  }),
  ofKind(2, ["bytes"], { name: fc.option(name), bytes: fc.array(fc.nat(255), { maxLength: 12 }) }),
);
