/** Hostile and broken programs, and the result that each author sees. */
import type { RunLimits } from "../../src/sandbox/runners/runner.ts";

/** Bounds of the programs, unless they say otherwise. */
export const HOSTILE_LIMITS = { wallMs: 2_000 } as const;

/** Bounds of programs that are to meet another bound than time, however slow the machine is. */
const AT_LEISURE = { wallMs: 60_000 } as const;

export interface HostileProgram {
  /** Continues "ends a program that …". */
  readonly does: string;
  readonly source: string;
  readonly result: string | RegExp;
  readonly limits?: Partial<RunLimits>;
}

const LATE = "The workflow took longer than 2 s";
const inFunction = (body: string): string =>
  `export default async (event, { store, room, files }) => {\n${body}\n};`;

/** Recursion, which ends by itself. Endless use of time or memory needs a process of its own: `runaway-programs`. */
export const HOGS: readonly HostileProgram[] = [
  {
    does: "recurses for ever",
    source: inFunction("const f = () => f() + 1; return f();"),
    result: /^RangeError: Maximum call stack size exceeded \(line 2\)/,
    limits: AT_LEISURE,
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
    does: "ruins the language, and waits for ever",
    source: `${TAMPER}\nexport default () => { const never = new Promise(() => {}); ruin(); return never; };`,
    result: LATE,
  },
];

export const LOGS: readonly HostileProgram[] = [
  {
    does: "logs a million lines",
    source: inFunction("for (let i = 0; i < 1e6; i++) console.log('line', i);"),
    result: "The workflow logged more than 100000 lines",
    limits: AT_LEISURE,
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
