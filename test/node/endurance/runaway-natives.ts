/** Programs without end, generated over natives: each calls back, converts, iterates, allocates or works by one of them. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the programs here hold templates.

import { body, EITHER, type RunawayProgram, shape, TIME } from "./runaway-shape.ts";

const LOOP = "const loop = () => { for (;;); }; const never = new Promise(() => {});";

/** Natives that call the function that they are given. */
const CALLERS: readonly string[] = [
  "new Map([[1, 1]]).forEach(loop)",
  "new Set([1]).forEach(loop)",
  "new Headers({ a: 'b' }).forEach(loop)",
  "new URLSearchParams('a=b').forEach(loop)",
  "Map.groupBy([1], loop)",
  "Object.groupBy([1], loop)",
  "Array.from([1], loop)",
  "await Array.fromAsync([1], loop)",
  "Float32Array.from([1], loop)",
  "new Uint8Array(2).sort(loop)",
  "[2, 1].toSorted(loop)",
  "JSON.parse('[1]', loop)",
  "JSON.stringify([1], loop)",
  "'a'.replace(/a/, loop)",
  "'aa'.replaceAll('a', loop)",
  "new Promise(loop)",
  "await never.constructor.resolve().finally(loop)",
  "await Promise.reject(1).catch(loop)",
  "await { then: loop }",
  "Reflect.apply(loop, null, [])",
  "Reflect.construct(class { constructor() { loop(); } }, [])",
  "loop.bind(null).call()",
  "loop`a`",
  "setInterval(loop, 1); await never",
  "const c = new AbortController(); c.signal.addEventListener('abort', loop); c.abort()",
  "const t = new EventTarget(); t.addEventListener('a', { handleEvent: loop }); t.dispatchEvent(new Event('a'))",
  "await new ReadableStream({ pull: loop }).getReader().read()",
  "await new ReadableStream({ cancel: loop }).cancel()",
  "await new WritableStream({ write: loop }).getWriter().write(1)",
  "const t = new TransformStream({ transform: loop }); t.writable.getWriter().write(1); await t.readable.getReader().read()",
  "Error.prepareStackTrace = loop; throw new Error('a')",
  ...["map", "filter", "flatMap", "forEach", "some", "every", "find", "reduce"].map(
    (name) => `[1, 2].values().${name}(loop)${/map|filter/i.test(name) ? ".next()" : ""}`,
  ),
];

/** Natives that make a primitive of an object, which never becomes one. */
const CONVERSIONS: readonly string[] = [
  ...["Number(odd)", "String(odd)", "BigInt(odd)", "Symbol(odd)", "new Date(odd)", "Date.UTC(odd)"],
  ...[
    "Math.max(odd)",
    "Math.hypot(1, odd)",
    "parseFloat(odd)",
    "isNaN(odd)",
    "1 + odd",
    "`${odd}`",
    "odd < 1",
  ],
  ...["odd in {}", "({})[odd]", "Object.defineProperty({}, odd, {})", "Reflect.get({}, odd)"],
  ...[
    "[].at(odd)",
    "[1].copyWithin(odd)",
    "new ArrayBuffer(odd)",
    "new DataView(new ArrayBuffer(8)).getInt8(odd)",
  ],
  ...[
    "'a'.repeat(odd)",
    "'a'.padStart(odd)",
    "String.fromCodePoint(odd)",
    "(1).toFixed(odd)",
    "new RegExp(odd)",
  ],
  ...["JSON.parse(odd)", "encodeURIComponent(odd)", "btoa(odd)", "new URL(odd)", "new Headers({ a: odd })"],
  ...["new TextEncoder().encode(odd)", "new Intl.NumberFormat(['en'], { minimumFractionDigits: odd })"],
];

/** Operations that a proxy intercepts. */
const TRAPS: Readonly<Record<string, string>> = {
  get: "trap.a",
  set: "trap.a = 1",
  has: "'a' in trap",
  deleteProperty: "delete trap.a",
  ownKeys: "Object.keys(trap)",
  getOwnPropertyDescriptor: "Object.getOwnPropertyDescriptor(trap, 'a')",
  defineProperty: "Object.defineProperty(trap, 'a', {})",
  getPrototypeOf: "trap instanceof Map",
  setPrototypeOf: "Object.setPrototypeOf(trap, null)",
  isExtensible: "Object.isFrozen(trap)",
  preventExtensions: "Object.seal(trap)",
  apply: "trap()",
  construct: "new trap()",
};

/** Parts of a program that the harness itself reads. */
const READ_BY_US: readonly string[] = [
  "return new Proxy([], { get: loop })",
  "return new Proxy({}, { ownKeys: loop })",
  "return new Proxy({}, { getPrototypeOf: loop })",
  "return { a: { get b() { loop(); } } }",
  "throw Object.defineProperty(new Error(), 'name', { get: loop })",
  "throw Object.defineProperty(new Error(), 'message', { get: loop })",
  "throw Object.defineProperty(new Error(), 'stack', { get: loop })",
  "throw { get a() { loop(); } }",
  "console.log({ get a() { loop(); } })",
  "console.error(new Proxy({}, { ownKeys: loop }))",
  "await store.get({ get a() { loop(); } }, 'a').catch(() => {}); loop()",
  "await files.put('a', { get size() { loop(); } }).catch(loop)",
  "await fetch({ toString: loop })",
  "await fetch('https://example.com', { get method() { loop(); } })",
];

/** Natives that take from an iterator until it ends. */
const TAKERS: readonly string[] = [
  ...[
    "new Map(pairs)",
    "new Set(objects)",
    "new WeakMap(pairs)",
    "new WeakSet(objects)",
    "Object.fromEntries(pairs)",
  ],
  ...[
    "Array.from(objects)",
    "Float64Array.from(numbers)",
    "new BigUint64Array(bigints)",
    "Math.min(...numbers)",
  ],
  ...["String.fromCharCode(...numbers)", "Object.groupBy(objects, () => 1)", "Map.groupBy(numbers, () => 1)"],
  ...["await Promise.allSettled(numbers)", "await Promise.any(rejections)", "await Promise.race(pending)"],
  ...[
    "new URLSearchParams(texts)",
    "new Headers(texts)",
    "new Blob(words)",
    "new Intl.ListFormat('en').format(words)",
  ],
  ...[
    "const [...all] = numbers",
    "for (const one of objects);",
    "[].concat(...numbers)",
    "new Array(...numbers)",
  ],
  ...["toArray()", "drop(Infinity).next()", "every(() => true)", "find(() => false)"].map(
    (rest) => `Iterator.from(numbers).${rest}`,
  ),
  ...["reduce((a, b) => a + b)", "filter(() => false).next()", "flatMap(() => []).next()"].map(
    (rest) => `Iterator.from(numbers).${rest}`,
  ),
  ...["union", "intersection", "difference", "symmetricDifference", "isSupersetOf", "isDisjointFrom"].map(
    (name) =>
      `new Set([1, 2, 3]).${name}({ size: 1, has: () => true, keys: () => objects[Symbol.iterator]() })`,
  ),
];

const ITERATORS = `
const endless = (make) => ({ *[Symbol.iterator]() { for (let n = 0; ; n++) yield make(n); } });
const numbers = endless((n) => n), bigints = endless(BigInt), objects = endless((n) => ({ n }));
const pairs = endless((n) => [{ n }, n]), texts = endless((n) => ["a" + n, "b"]), words = endless((n) => "word " + n);
const rejections = endless(() => Promise.reject(1)), pending = endless(() => new Promise(() => {}));`;

/** Objects that a program can keep in any number. */
const KEPT: readonly string[] = [
  ...["Int8", "Uint8Clamped", "Int16", "Uint32", "Float32", "Float64", "BigInt64", "BigUint64"].map(
    (kind) => `new ${kind}Array(2 ** 18).fill(${kind.startsWith("Big") ? "1n" : "1"})`,
  ),
  "new Uint8Array(new ArrayBuffer(2 ** 20, { maxByteLength: 2 ** 21 })).fill(1)",
  "new Uint8Array(new ArrayBuffer(2 ** 20).transfer(2 ** 21)).fill(1)",
  "new DataView(new Uint8Array(2 ** 20).fill(1).buffer)",
  "structuredClone(new Map([[1, 'x'.repeat(2 ** 16) + all.length]]))",
  "new TextEncoder().encode('ä'.repeat(2 ** 18))",
  "new TextDecoder('utf-16le').decode(new Uint8Array(2 ** 20).fill(65))",
  "btoa('x'.repeat(2 ** 18)) + all.length",
  "new Blob(['x'.repeat(2 ** 20) + all.length])",
  "new Response('x'.repeat(2 ** 20) + all.length)",
  "await new Response('x'.repeat(2 ** 20)).arrayBuffer()",
  "new Request('https://example.com', { method: 'POST', body: 'x'.repeat(2 ** 20) + all.length })",
  "new File([new Uint8Array(2 ** 20).fill(1)], 'a')",
  "new URL('https://example.com/' + 'x'.repeat(2 ** 16) + all.length)",
  "new FormData().append('a', 'x'.repeat(2 ** 20)) ?? new Error('x'.repeat(2 ** 16) + all.length)",
  "new ReadableStream({ start: (c) => c.enqueue(new Uint8Array(2 ** 18).fill(1)) }).tee()",
  "crypto.getRandomValues(new Uint8Array(2 ** 16))",
  "crypto.randomUUID()",
  "Symbol.for('x'.repeat(1_000) + all.length)",
  "new RegExp('(a|b)'.repeat(1_000) + all.length)",
  "new Intl.NumberFormat('de', { minimumFractionDigits: all.length % 20 })",
  "new Date(all.length).toLocaleString('ar-EG')",
  "new Promise(() => {}).then(() => all)",
  "(function* () { yield all; })().next()",
  "new Proxy(new Proxy({}, {}), {})",
  "((n) => () => n)(new Array(100).fill(all.length))",
  "class { static a = new Array(100).fill(all.length); #b = 1; }",
  "new AbortController().signal",
  "queueMicrotask(() => all) ?? new Array(1_000).fill(all.length)",
  "new WeakRef(new Map([[all.length, new Array(100).fill(1)]])).deref()",
  "'x'.repeat(2 ** 20).split('')",
  "Array.from({ length: 2 ** 16 }, () => ({}))",
  "Object.fromEntries(Array.from({ length: 2 ** 10 }, (_, n) => ['k' + n + all.length, n]))",
  "JSON.parse('[' + '{},'.repeat(2 ** 14) + '0]')",
  "JSON.stringify(Array(2 ** 12).fill('ä'), null, 10) + all.length",
  "(1n << 1_000_000n) + BigInt(all.length)",
];

/** Natives that take long for one call, and look at nothing meanwhile. */
const SLOW: readonly string[] = [
  "BigInt('9'.repeat(4e6)).toString().length",
  "(3n ** 4_000_000n) % 7n",
  "BigInt.asUintN(4e6, (1n << 4_000_000n) - 1n) ** 2n / 3n",
  "/(?<=(a+)+)b/.test('a'.repeat(40))",
  "/^(?:a?){30}a{30}$/.test('a'.repeat(29))",
  "/(x+x+)+y/.exec('x'.repeat(40))",
  "/[\\p{L}--[a-z]]*(?:[\\p{L}]*)*!/v.test('a'.repeat(40))",
  "'a'.repeat(2 ** 20).match(/(a*)*b/)",
  "('a'.repeat(2 ** 16) + 'b').repeat(64).lastIndexOf('a'.repeat(2 ** 15) + 'c')",
  "'ab'.repeat(2 ** 22).replaceAll('ab', 'ba').length",
  "'\\u0344'.repeat(2 ** 20).normalize('NFKC')",
  "'ß'.repeat(2 ** 22).toLocaleUpperCase('tr').length",
  "[...new Intl.Segmenter('th', { granularity: 'word' }).segment('ก'.repeat(2 ** 16))].length",
  "new Intl.Collator('sv', { numeric: true }).compare('1'.repeat(2 ** 22), '1'.repeat(2 ** 22) + '2')",
  "encodeURIComponent('ä'.repeat(2 ** 22)).length",
  "decodeURIComponent('%C3%A4'.repeat(2 ** 20)).length",
  "atob('A'.repeat(2 ** 24)).length",
  "Float64Array.from({ length: 2 ** 18 }, (_, n) => -n).sort()[0]",
  "Array(2 ** 22).join('ab').length",
  "Array(2 ** 22).fill(3).toSorted().length",
  "JSON.parse('[' + '1,'.repeat(2 ** 21) + '1]').length",
  "Number('1'.repeat(2 ** 26))",
  "Date.parse('x'.repeat(2 ** 24))",
  "Object.freeze(Array(2 ** 20).fill(0))",
  "new URL('https://a.example/' + '../a/'.repeat(2 ** 18)).href.length",
  "String.raw({ raw: 'x'.repeat(2 ** 20) }).length",
  "structuredClone(Array(2 ** 18).fill({}))",
  "await crypto.subtle.digest('SHA-512', new Uint8Array(2 ** 24))",
];

/** Each of them once, generated. */
export const NATIVES: readonly RunawayProgram[] = [
  ...CALLERS.map((code) =>
    shape(`is called back for ever by ${code}`, `${LOOP}\n${code}; await never;`, TIME),
  ),
  ...CONVERSIONS.map((code) =>
    shape(
      `never becomes a primitive in ${code}`,
      `${LOOP}\nconst odd = { [Symbol.toPrimitive]: loop };\n${code};`,
      TIME,
    ),
  ),
  ...Object.entries(TRAPS).map(([trap, code]) =>
    shape(
      `is trapped for ever in ${code}`,
      `${LOOP}\nconst trap = new Proxy(function () {}, { ${trap}: loop });\n${code};`,
      TIME,
    ),
  ),
  ...READ_BY_US.map((code) => shape(`keeps its reader for ever: ${code}`, `${LOOP}\n${code};`, TIME)),
  ...TAKERS.map((code) => shape(`never ends what is taken by ${code}`, `${ITERATORS}\n${code};`)),
  ...KEPT.map((code) =>
    shape(`keeps any number of ${code}`, `const all = [];\nfor (;;) all.push(${code});`, EITHER),
  ),
  ...SLOW.map((code) =>
    shape(
      `repeats for ever ${code}`,
      `for (;;) ${code.startsWith("await") ? "" : "void "}(${code});`,
      EITHER,
    ),
  ),
  {
    does: "is called back for ever while its module is evaluated",
    source: `export const all = [1].map(() => { for (;;); });\n${body("return 1;")}`,
    result: TIME,
  },
];
