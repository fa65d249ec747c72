/** Programs that use time or memory without end: by hand, and generated over the natives that loop, allocate or call back. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the programs here hold templates.

import { CALLS, FAILURES, FETCHES, HOGS, LOGS, RESULTS, TAMPERING } from "../../sandbox/hostile-programs.ts";
import { NATIVES } from "./runaway-natives.ts";
import { body, EITHER, MEMORY, type RunawayProgram, shape, TIME } from "./runaway-shape.ts";

/** One of each kind: `npm test` runs these. */
export const TYPICAL: readonly RunawayProgram[] = [
  shape("loops for ever", "for (;;);", TIME),
  shape("keeps bytes for ever", "const all = []; for (;;) all.push(new Uint8Array(1e7).fill(1));", EITHER),
  shape("backtracks for ever", 'return /^(a+)+\\1$/.test("a".repeat(40) + "b");', TIME),
];

const BY_HAND: readonly RunawayProgram[] = [
  shape(
    "derives keys slowly",
    `const key = await crypto.subtle.importKey("raw", new Uint8Array(8), "PBKDF2", false, ["deriveBits"]);
     return crypto.subtle.deriveBits({ name: "PBKDF2", hash: "SHA-256", salt: new Uint8Array(8), iterations: 1e9 }, key, 256);`,
    EITHER,
  ),
  shape(
    "makes large keys",
    `return crypto.subtle.generateKey({ name: "RSA-PSS", modulusLength: 16384, publicExponent: new Uint8Array([1, 0, 1]), hash: "SHA-256" }, true, ["sign", "verify"]);`,
    EITHER,
  ),
  shape("loops in a promise", "await new Promise(() => { while (true) {} });", TIME),
  shape("loops in a getter of its result", "return { get a() { do {} while (true); } };", TIME),
  shape("loops in what its result says of itself", "return { toJSON() { for (;;); } };", TIME),
  shape("catches whatever stops it", "for (;;) { try { for (;;); } catch {} finally { continue; } }", TIME),
  shape(
    "calls itself on when the stack is full",
    "const f = () => { try { f(); } catch { f(); } }; f();",
    TIME,
  ),
  shape("awaits for ever", "while (true) await 0;", EITHER),
  shape("loops in promises' callbacks", "const f = () => Promise.resolve().then(f); await f();", EITHER),
  shape("is thenable for ever", "const o = { then(resolve) { resolve(o); } }; return o;", EITHER),
  shape(
    "is its own set of thenables",
    "const s = new Set(); s.then = (go) => go(s); s.add(s); return s;",
    EITHER,
  ),
  shape(
    "queues microtasks for ever",
    "const f = () => queueMicrotask(f); f(); await new Promise(() => {});",
    EITHER,
  ),
  shape(
    "queues microtasks without a function of its own",
    "const args = []; const f = Reflect.apply.bind(null, queueMicrotask, null, args); args.push(f); f(); await new Promise(() => {});",
    EITHER,
  ),
  shape(
    "queues reactions that each throw",
    'for (let i = 0; i < 5e5; i++) Promise.reject(new Error("x".repeat(100))).then(() => 1); await new Promise((go) => setTimeout(go, 50)); for (;;);',
    EITHER,
  ),
  shape("spreads what never ends", "return [...{ *[Symbol.iterator]() { for (;;) yield 1; } }];", null),
  shape("loops in a timer", "setTimeout(() => { for (;;); }, 1); await new Promise(() => {});", TIME),
  shape("keeps arrays", "const all = []; for (;;) all.push(new Array(1e6).fill(0));", MEMORY),
  shape(
    "keeps what it maps",
    "let all = Array.from({ length: 1e6 }, () => 1); for (;;) all = all.concat(all);",
    null,
  ),
  shape(
    "asks for all bytes there are",
    "const all = []; for (;;) all.push(new ArrayBuffer(2 ** 31).byteLength, new Uint8Array(2 ** 28).fill(1));",
    null,
  ),
  shape("keeps small objects", "const all = []; for (;;) all.push({ a: {}, b: [] });", EITHER),
  shape(
    "clones for ever",
    "const one = new Uint8Array(1e7); const all = []; for (;;) all.push(structuredClone({ one }));",
    MEMORY,
  ),
  shape(
    "grows ropes",
    'let s = "ab"; for (;;) { s = s + s.slice(1); if (s.length > 2 ** 28) s.indexOf("c"), (s = "ab"); }',
    EITHER,
  ),
  shape(
    "joins ropes to themselves",
    'let s = "ab"; const all = []; for (;;) { s += s; if (s.length > 2 ** 20) { all.push(s.split("")); } }',
    null,
  ),
  shape("multiplies BigInts in templates", "let n = 3n; for (;;) { n *= n; String(`${n}`.length); }", null),
  shape("shifts a BigInt far", "const all = []; for (;;) all.push(1n << 30_000_000n);", null),
  shape("raises a BigInt high", "return String(7n ** 5_000_000n).length;", null),
  shape("keys of a large typed array", "return Object.keys(new Uint8Array(2 ** 26)).length;", EITHER),
  shape("entries of a large typed array", "return Object.entries(new Uint8Array(2 ** 26)).length;", EITHER),
  shape(
    "names of a large string",
    'return Object.getOwnPropertyNames(new String("x".repeat(2 ** 26))).length;',
    EITHER,
  ),
  shape(
    "lies about a length after it was checked",
    "let n = 0; const a = { get length() { return n++ ? 2 ** 53 - 1 : 1; } }; for (;;) Array.prototype.forEach.call(a, () => {});",
    null,
  ),
  shape(
    "lies about a length by a proxy",
    "const a = new Proxy({}, { get: (_, key) => (key === 'length' ? 2 ** 53 - 1 : undefined) }); Array.prototype.indexOf.call(a, 1);",
    TIME,
  ),
  shape(
    "gives sizes as strings",
    'const all = []; for (;;) all.push(new Uint8Array("30000000").fill("1"));',
    MEMORY,
  ),
  shape(
    "writes JSON of a few arrays many times over",
    "let a = []; for (let i = 0; i < 40; i++) a = [a, a]; return JSON.stringify(a);",
    EITHER,
  ),
  shape(
    "flattens a few arrays many times over",
    "let a = [1]; for (let i = 0; i < 40; i++) a = [a, a]; return a.flat(Infinity);",
    null,
  ),
  shape(
    "clones a deep list",
    "let a = []; for (let i = 0; i < 5e5; i++) a = [a]; for (;;) { try { structuredClone(a); } catch {} }",
    null,
  ),
  shape("parses a deep text", 'for (;;) { try { JSON.parse("[".repeat(5e6)); } catch {} }', EITHER),
  shape(
    "has very many named groups",
    'new RegExp(Array.from({ length: 2e5 }, (_, i) => `(?<a${i}>a)`).join("")).test("a");',
    null,
  ),
  shape("repeats a class of characters far", 'for (;;) /(?:a|b|ab)*c/.test("ab".repeat(1e5));', EITHER),
  shape("replaces by what is longer", 'let s = "ab"; for (;;) s = s.replaceAll(/./g, "$&$&$`");', null),
  shape(
    "sorts by what never agrees",
    "for (;;) Array.from({ length: 1e5 }, Math.random).sort(() => Math.random() - 0.5);",
    EITHER,
  ),
  shape(
    "groups what never ends",
    "Map.groupBy({ *[Symbol.iterator]() { for (;;) yield {}; } }, (one) => one);",
    EITHER,
  ),
  shape(
    "collects settled promises for ever",
    "await Promise.all({ *[Symbol.iterator]() { for (;;) yield 1; } });",
    null,
  ),
  shape(
    "makes an object of endless entries",
    'let n = 0; Object.fromEntries({ *[Symbol.iterator]() { for (;;) yield ["k" + n++, 1]; } });',
    null,
  ),
  shape(
    "collects from an async source for ever",
    "await Array.fromAsync({ async *[Symbol.asyncIterator]() { for (;;) yield 1; } });",
    EITHER,
  ),
  shape(
    "unites with a set that never ends",
    "new Set([1]).union({ size: 1, has: () => true, *keys() { for (;;) yield {}; } });",
    EITHER,
  ),
  shape(
    "drops from an iterator without end",
    "Iterator.from({ next: () => ({ done: false, value: 1 }) }).drop(Infinity).next();",
    TIME,
  ),
  shape(
    "hashes for ever",
    "const bytes = new Uint8Array(1e7); for (;;) await crypto.subtle.digest('SHA-512', bytes);",
    EITHER,
  ),
  shape(
    "fills a stream",
    "const s = new ReadableStream({ start(c) { for (;;) c.enqueue(new Uint8Array(1e6).fill(1)); } }); await s.getReader().read();",
    EITHER,
  ),
  shape(
    "collects blobs",
    'let b = new Blob(["x".repeat(1e6)]); for (;;) b = new Blob([b, b, await b.slice(0, 1e6).text()]);',
    null,
  ),
  shape(
    "collects headers",
    'const h = new Headers(); for (let i = 0; ; i++) h.append("a" + i, "x".repeat(1e4));',
    EITHER,
  ),
  shape(
    "collects search parameters",
    'const p = new URLSearchParams(); for (;;) p.append("a".repeat(1e4), "b".repeat(1e4));',
    EITHER,
  ),
  shape(
    "decodes for ever",
    "const bytes = new Uint8Array(1e7).fill(97); const all = []; for (;;) all.push(new TextDecoder().decode(bytes));",
    null,
  ),
  shape("logs without end", 'for (;;) console.log("x".repeat(1e5));', null),
  shape(
    "compares in many locales",
    'const s = "ä".repeat(1e6); for (;;) s.localeCompare(s + "b", "de");',
    EITHER,
  ),
  shape(
    "normalizes without end",
    'const s = "\\u1e9b\\u0323".repeat(1e6); for (;;) s.normalize("NFKD");',
    EITHER,
  ),
  shape(
    "formats without end",
    'for (;;) new Intl.DateTimeFormat("ar-EG", { dateStyle: "full" }).format(0);',
    EITHER,
  ),
];

const TOP_LEVEL: readonly RunawayProgram[] = [
  { does: "loops at its top level", source: "for (;;);\nexport default () => 1;", result: TIME },
  {
    does: "awaits in a loop at its top level",
    source: "for (;;) await 0;\nexport default () => 1;",
    result: null,
  },
  {
    does: "has every promise call it back for ever",
    source: body(
      'Object.defineProperty(Promise.prototype, "constructor", { get() { for (;;); } }); return 1;',
    ),
    result: TIME,
  },
];

const methodsOf = (prototype: object): string[] =>
  Object.getOwnPropertyNames(prototype).filter((name) => {
    const { value } = Object.getOwnPropertyDescriptor(prototype, name) ?? {};
    return typeof value === "function" && name !== "constructor";
  });

/** Each method of arrays on something very long, that of typed arrays on much, and that of strings on a long one. */
const GENERATED: readonly RunawayProgram[] = [
  ...methodsOf(Array.prototype).map((name) =>
    shape(
      `walks an endless array by ${name}`,
      `const endless = { length: 2 ** 53 - 1, 0: 1, [2 ** 53 - 2]: 1 };
       for (;;) { try { Array.prototype.${name}.call(endless, () => false, 1); } catch {} }`,
    ),
  ),
  ...methodsOf(Object.getPrototypeOf(Uint8Array.prototype) as object).map((name) =>
    shape(
      `works through much memory by ${name}`,
      `const all = [];
       for (;;) { try { const much = new Uint32Array(2 ** 22); all.push(much.${name}((a) => (a, 0), 0, 1)); } catch {} }`,
    ),
  ),
  ...methodsOf(String.prototype).map((name) =>
    shape(
      `works through a long text by ${name}`,
      `const text = "ab ".repeat(2 ** 20); const all = [];
       for (;;) { try { all.push(text.${name}(/(a|b)+?/g, () => text)); all.push(text.${name}("b", "ab")); } catch {} }`,
    ),
  ),
];

/** Programs that lie, tamper or exceed their rights. Here they only have to end and disturb no one. */
const HOSTILE: readonly RunawayProgram[] = [HOGS, RESULTS, FAILURES, TAMPERING, LOGS, FETCHES, CALLS]
  .flat()
  .map(({ does, source }) => ({ does, source, result: null }));

/** Every one of them. */
export const ALL: readonly RunawayProgram[] = [
  ...TYPICAL,
  ...NATIVES,
  ...BY_HAND,
  ...TOP_LEVEL,
  ...HOSTILE,
  ...GENERATED,
];
