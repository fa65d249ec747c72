/** Hostile and broken programs, and the result that each author sees. */
import type { RunLimits } from "../../src/sandbox/runners/runner.ts";

/** What the programs are bounded by, unless they say otherwise. */
export const HOSTILE_LIMITS = { wallMs: 2_000, turnMs: 300 } as const;

/** For those that are to meet another bound than time, however slow the machine is. */
const AT_LEISURE = { wallMs: 20_000, turnMs: 10_000 } as const;

export interface HostileProgram {
  /** Continues "ends a program that …". */
  readonly does: string;
  readonly source: string;
  readonly result: string | RegExp;
  readonly limits?: Partial<RunLimits>;
}

const PAUSELESS = "The workflow ran for more than 300 ms without a pause";
const LATE = "The workflow took longer than 2 s";
const MEMORY = "The workflow used more than 128 MB of memory";
/** Whichever of the bounds is met first. */
const ENOUGH = /^(The workflow (used more than 128 MB|ran for more than 300 ms)|RangeError: .*too long)/;
const AT_START = "The workflow did too much outside of its functions: do it in the function instead";

const inFunction = (body: string): string =>
  `export default async (event, { store, room, files }) => {\n${body}\n};`;

export const LOOPS: readonly HostileProgram[] = [
  { does: "loops for ever", source: inFunction("for (;;);"), result: PAUSELESS },
  {
    does: "loops in a promise",
    source: inFunction("await new Promise(() => { while (true) {} });"),
    result: PAUSELESS,
  },
  {
    does: "loops in a getter of its result",
    source: inFunction("return { get a() { do {} while (true); } };"),
    result: PAUSELESS,
  },
  {
    does: "loops in what its result says of itself",
    source: inFunction("return { toJSON() { for (;;); } };"),
    result: PAUSELESS,
  },
  {
    does: "loops on in catch and finally",
    source: inFunction(`
      function again() { try { for (;;); } catch { again(); } finally { for (;;); } }
      try { again(); } finally { again(); }`),
    result: PAUSELESS,
  },
  {
    does: "catches whatever stops it, for ever",
    source: inFunction("for (;;) { try { for (;;) { try { for (;;); } catch {} } } catch {} }"),
    result: PAUSELESS,
  },
  {
    does: "calls itself for ever, and on when the stack is full",
    source: inFunction("const f = () => { try { f(); } catch { f(); } }; f();"),
    result: PAUSELESS,
  },
  {
    does: "loops without anything but awaits",
    source: inFunction("while (true) await 0;"),
    result: PAUSELESS,
  },
  {
    does: "loops in promises' callbacks",
    source: inFunction("const f = () => Promise.resolve().then(f); await f();"),
    result: PAUSELESS,
  },
  {
    does: "is thenable for ever",
    source: inFunction("const o = { then(resolve) { resolve(o); } }; return o;"),
    result: PAUSELESS,
  },
  {
    does: "is thenable for ever without a function of its own",
    source: inFunction("const o = {}; o.then = Promise.resolve.bind(Promise, o); return o;"),
    result: PAUSELESS,
  },
  {
    does: "queues microtasks for ever without a function of its own",
    source: inFunction(`
      const args = []; const f = Reflect.apply.bind(null, queueMicrotask, null, args); args.push(f); f();
      await new Promise(() => {});`),
    result: PAUSELESS,
  },
  {
    does: "loops in a generator",
    source: inFunction("function* f() { for (;;) yield 1; } for (const x of f());"),
    result: PAUSELESS,
  },
  {
    does: "spreads what never ends",
    source: inFunction("const f = { *[Symbol.iterator]() { for (;;) yield 1; } }; return [...f];"),
    result: ENOUGH,
  },
  {
    does: "loops in a timer",
    source: inFunction("setTimeout(() => { for (;;); }, 1); await new Promise(() => {});"),
    result: PAUSELESS,
  },
  {
    does: "runs on in many turns",
    source: inFunction(`
      for (;;) {
        const end = Date.now() + 100;
        while (Date.now() < end);
        await new Promise((go) => setTimeout(go, 0));
      }`),
    result: /^The workflow (used more than 600 ms of processor time|ran for more than 300 ms)/,
  },
  { does: "loops where its module begins", source: "for (;;);\nexport default () => 1;", result: AT_START },
  {
    does: "loops where its module begins, and catches what stops it",
    source: "for (;;) { try { for (;;); } catch {} }\nexport default () => 1;",
    result: AT_START,
  },
  {
    does: "awaits in a loop where its module begins",
    source: "for (;;) await 0;\nexport default () => 1;",
    result: AT_START,
  },
];

export const HOGS: readonly HostileProgram[] = [
  {
    does: "recurses for ever",
    source: inFunction("const f = () => f() + 1; return f();"),
    result: /^RangeError: Maximum call stack size exceeded \(line 2\)/,
    limits: AT_LEISURE,
  },
  {
    does: "keeps arrays for ever",
    source: inFunction("const all = []; for (;;) all.push(new Array(1e6).fill(0));"),
    result: MEMORY,
    limits: AT_LEISURE,
  },
  {
    does: "keeps large arrays for ever",
    source: inFunction("const all = []; for (;;) all.push(Array(3e7));"),
    result: MEMORY,
    limits: AT_LEISURE,
  },
  {
    does: "keeps what it maps for ever",
    source: inFunction("let all = Array.from({ length: 1e6 }, () => 1); for (;;) all = all.concat(all);"),
    result: ENOUGH,
  },
  {
    does: "keeps bytes for ever",
    source: inFunction("const all = []; for (;;) all.push(new Uint8Array(1e7).fill(1));"),
    result: MEMORY,
    limits: AT_LEISURE,
  },
  {
    does: "asks for more bytes than there are",
    source: inFunction("return new ArrayBuffer(2 ** 33 - 1).byteLength;"),
    result: MEMORY,
    limits: AT_LEISURE,
  },
  {
    does: "repeats texts for ever",
    source: inFunction(`const all = []; for (;;) all.push("ab".repeat(2 ** 22).split("").join("-"));`),
    result: ENOUGH,
  },
  {
    does: "doubles a spread for ever",
    source: inFunction("let all = [1]; for (;;) all = [...all, ...all];"),
    result: ENOUGH,
  },
  {
    does: "keeps small objects for ever",
    source: inFunction("const all = []; for (;;) all.push({ a: {}, b: [] });"),
    result: PAUSELESS,
  },
  {
    does: "clones for ever",
    source: inFunction(
      "const one = new Uint8Array(1e7); const all = []; for (;;) all.push(structuredClone({ one }));",
    ),
    result: MEMORY,
    limits: AT_LEISURE,
  },
];

/** Calls of built-ins that would run for a very long time by themselves. */
export const BUILTINS: readonly HostileProgram[] = [
  {
    does: "walks an array-like without end",
    source: inFunction("return Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1);"),
    result: /^RangeError: .*too long/,
  },
  {
    does: "walks a sparse array",
    source: inFunction("const a = []; a.length = 4294967295; return a.includes(1);"),
    result: /^RangeError: .*too long/,
  },
  {
    does: "makes an array of an endless array-like",
    source: inFunction("return Array.from({ length: 2 ** 32 - 1 });"),
    result: /^(RangeError: .*too long|The workflow used more)/,
  },
  {
    does: "makes a set of an endless iterator",
    source: inFunction("return new Set(Array.prototype.values.call({ length: 2 ** 53 - 1 }));"),
    result: /^RangeError: .*too long/,
  },
  {
    does: "lies about a length",
    source: inFunction(
      "let n = 0; const a = { get length() { return n++ ? 2 ** 53 - 1 : 1; } }; Array.prototype.forEach.call(a, () => {});",
    ),
    result: /^TypeError: .*length/,
  },
  {
    does: "lies about a length by a proxy",
    source: inFunction(`
      const a = new Proxy({}, { get: (_, key) => (key === "length" ? 2 ** 53 - 1 : undefined) });
      Array.prototype.indexOf.call(a, 1);`),
    result: PAUSELESS,
  },
  {
    does: "sorts a great deal",
    source: inFunction(
      "const a = Array.from({ length: 2e6 }, (_, i) => (i * 7919) % 1e6); for (;;) [...a].sort();",
    ),
    result: ENOUGH,
  },
  {
    does: "writes JSON of a few arrays many times over",
    source: inFunction("let a = []; for (let i = 0; i < 40; i++) a = [a, a]; return JSON.stringify(a);"),
    result: PAUSELESS,
  },
  {
    does: "flattens a few arrays many times over",
    source: inFunction("let a = [1]; for (let i = 0; i < 40; i++) a = [a, a]; return a.flat(Infinity);"),
    result: /^(The workflow|RangeError)/,
  },
  {
    does: "joins a few arrays many times over",
    source: inFunction("let a = [1]; for (let i = 0; i < 40; i++) a = [a, a]; return a.join();"),
    result: /^(The workflow|RangeError)/,
  },
  {
    does: "makes large keys",
    source: inFunction(
      `return crypto.subtle.generateKey({ name: "RSA-PSS", modulusLength: 16384, publicExponent: new Uint8Array([1, 0, 1]), hash: "SHA-256" }, true, ["sign", "verify"]);`,
    ),
    result: /^NotSupportedError|^RangeError|^Error: .*2048/,
  },
  {
    does: "derives keys slowly",
    source: inFunction(`
      const key = await crypto.subtle.importKey("raw", new Uint8Array(8), "PBKDF2", false, ["deriveBits"]);
      return crypto.subtle.deriveBits({ name: "PBKDF2", hash: "SHA-256", salt: new Uint8Array(8), iterations: 1e9 }, key, 256);`),
    result: /100,?000/,
  },
];

export const RESULTS: readonly HostileProgram[] = [
  {
    does: "returns 10 MB",
    source: inFunction(`return "x".repeat(5e6) + "x".repeat(5e6);`),
    result: "The result has more than 262144 bytes of JSON",
  },
  {
    does: "returns a cycle",
    source: inFunction("const a = {}; a.b = [a]; return a;"),
    result: "result.b[0] contains itself; a workflow returns plain JSON",
  },
  {
    does: "returns a BigInt",
    source: inFunction("return { a: [1n] };"),
    result: "result.a[0] is a BigInt: make it a number or a string; a workflow returns plain JSON",
  },
  {
    does: "returns a function",
    source: inFunction("return { f: () => 1 };"),
    result: "result.f is a function; a workflow returns plain JSON",
  },
  {
    does: "returns a symbol",
    source: inFunction("return Symbol.iterator;"),
    result: "result is a symbol; a workflow returns plain JSON",
  },
  {
    does: "returns no number",
    source: inFunction("return [NaN];"),
    result: "result[0] is NaN; a workflow returns plain JSON",
  },
  {
    does: "returns a Response",
    source: inFunction(`return new Response("x");`),
    result: "result is a Response; a workflow returns plain JSON",
  },
  {
    does: "returns a stream",
    source: inFunction(`return { body: new Response("x").body };`),
    result: "result.body is a ReadableStream; a workflow returns plain JSON",
  },
  {
    does: "returns a Map",
    source: inFunction("return new Map([[1, 2]]);"),
    result: "result is a Map; a workflow returns plain JSON",
  },
  {
    does: "returns bytes",
    source: inFunction("return new Uint8Array(4);"),
    result: /^result is a .*; a workflow returns plain JSON$/,
  },
  {
    does: "returns what is nested too deeply",
    source: inFunction("let a = 1; for (let i = 0; i < 200000; i++) a = [a]; return a;"),
    result: /nested too deeply/,
  },
  {
    does: "returns a proxy without end",
    source: inFunction("return new Proxy([], { get: (_, key) => (key === 'length' ? 2 ** 53 - 1 : 'x') });"),
    result: /^The result has more than 262144 bytes/,
    limits: AT_LEISURE,
  },
  {
    does: "returns a proxy that throws",
    source: inFunction("return new Proxy({}, { ownKeys() { throw new Error('no'); } });"),
    result: /^Error: no \(line 2\)/,
  },
  {
    does: "returns a promise that never settles",
    source: inFunction("return new Promise(() => {});"),
    result: LATE,
  },
];

export const FAILURES: readonly HostileProgram[] = [
  { does: "throws a text", source: inFunction(`throw "boom";`), result: "The workflow threw boom" },
  { does: "throws nothing", source: inFunction("throw undefined;"), result: "The workflow threw undefined" },
  { does: "throws null", source: inFunction("throw null;"), result: "The workflow threw null" },
  {
    does: "throws an object",
    source: inFunction(`throw { code: 7 };`),
    result: 'The workflow threw {"code":7}',
  },
  {
    does: "throws a proxy",
    source: inFunction(
      `throw new Proxy({}, { get() { throw 1; }, ownKeys() { throw 2; }, getPrototypeOf() { throw 3; } });`,
    ),
    result: /^The workflow threw/,
  },
  {
    does: "throws an error that cannot be read",
    source: inFunction(
      `const e = new Error("x"); Object.defineProperty(e, "stack", { get() { throw e; } }); throw e;`,
    ),
    result: /^The workflow threw/,
  },
  {
    does: "throws a very long error",
    source: inFunction(`throw new Error("x".repeat(1e6));`),
    result: /^Error: x{2048}… \(line 2\)/,
  },
  {
    does: "throws where its module begins",
    source: "throw new TypeError('early');\nexport default () => 1;",
    result: /^TypeError: early \(line 1\)/,
  },
  {
    does: "exports what turns out to be no function",
    source: "const f = () => 1;\nexport default f();",
    result: "The default export of the workflow is not a function",
  },
  {
    does: "runs code from a text",
    source: inFunction("return eval('1');"),
    result: /^EvalError: .* \(line 2\)/,
  },
  {
    does: "makes a function of a text",
    source: inFunction("return (async () => {}).constructor('return 1')();"),
    result: /^EvalError: .* \(line 2\)/,
  },
  {
    does: "imports at run",
    source: inFunction("return import('node:' + 'fs');"),
    result: /Cannot find module|can import nothing/,
  },
  {
    does: "waits in the thread",
    source: inFunction("Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);"),
    result: /^ReferenceError: \w+ is not defined/,
  },
  {
    does: "opens a socket",
    source: inFunction("new WebSocket('wss://example.com');"),
    result: /^ReferenceError: WebSocket is not defined/,
  },
];

/** Changes whatever can be changed, before or while the harness uses it. */
const TAMPER = `
const { ownKeys } = Reflect;
const holders = [Object, Function, Array, String, Number, Promise, RegExp, Error, Date, Map, WeakMap, Set, Reflect, JSON, Math,
  globalThis, TextEncoder, TextDecoder, Request, Response, Headers, Proxy, Symbol, console].flatMap((one) => [one, one.prototype]);
const ruin = () => {
  for (let i = 0; i < holders.length; i++) {
    const names = holders[i] ? ownKeys(holders[i]) : [];
    for (let j = 0; j < names.length; j++) {
      if (names[j] === "then" || names[j] === "constructor") continue; // without these, its own awaits would fail
      try { if (typeof holders[i][names[j]] === "function") holders[i][names[j]] = () => { throw "tampered"; }; } catch {}
    }
  }
};`;

export const TAMPERING: readonly HostileProgram[] = [
  {
    does: "ruins the language where its module begins, and loops",
    source: `${TAMPER}\nruin();\nexport default () => { for (;;); };`,
    result: PAUSELESS,
  },
  {
    does: "ruins the language in its function, and loops",
    source: `${TAMPER}\nexport default async () => { ruin(); for (;;) { try { await 0; } catch {} } };`,
    result: PAUSELESS,
  },
  {
    does: "stops the clock, and loops",
    source: inFunction(
      "Date.now = () => 0; performance.now = () => 0; globalThis.setTimeout = () => {}; for (;;);",
    ),
    result: PAUSELESS,
  },
  {
    does: "ruins the language, and waits for ever",
    source: `${TAMPER}\nexport default () => { const never = new Promise(() => {}); ruin(); return never; };`,
    result: LATE,
  },
  {
    does: "gives every object a toJSON that loops",
    source: inFunction("Object.prototype.toJSON = function () { for (;;); }; return {};"),
    result: PAUSELESS,
  },
  {
    does: "has every promise call it back for ever",
    source: inFunction(`
      Object.defineProperty(Promise.prototype, "constructor", { get() { for (;;); } });
      return 1;`),
    result: PAUSELESS,
  },
];

export const LOGS: readonly HostileProgram[] = [
  {
    does: "logs a million lines",
    source: inFunction("for (let i = 0; i < 1e6; i++) console.log('line', i);"),
    result: /^The workflow (logged more than 100000 lines|ran for more than 300 ms)/,
  },
  {
    does: "logs what loops when it is read",
    source: inFunction("console.log({ get a() { for (;;); } });"),
    result: PAUSELESS,
  },
];

const TARGETS = [
  ["this machine", "http://127.0.0.1:8787/"],
  ["this machine, oddly spelt", "https://0x7f.1/"],
  ["a private address", "https://10.0.0.1/"],
  ["a metadata service", "https://169.254.169.254/latest/meta-data"],
  ["an internal name", "https://db.internal/"],
  ["plain http", "http://example.com/"],
  ["this service", "https://atrium.test/v1/health"],
] as const;

export const FETCHES: readonly HostileProgram[] = TARGETS.map(([what, url]) => ({
  does: `fetches ${what}`,
  source: inFunction(`return (await fetch(${JSON.stringify(url)})).status;`),
  result: /^Error: fetch: The URL must/,
}));

export const CALLS: readonly HostileProgram[] = [
  {
    does: "calls its bindings ten thousand times",
    source: inFunction(`
      const calls = [];
      for (let i = 0; i < 10000; i++) calls.push(store.get("a", "b"));
      return (await Promise.allSettled(calls)).length;`),
    result: "The workflow made more than 200 calls of its bindings",
    limits: AT_LEISURE,
  },
  {
    does: "calls once too often, and makes nothing of it",
    source: inFunction("for (let i = 0; i < 201; i++) await store.get('a', 'b').catch(() => {});"),
    result: "The workflow made more than 200 calls of its bindings",
    limits: AT_LEISURE,
  },
];
