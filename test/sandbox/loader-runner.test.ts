/** Runs of ordinary programs: their event, their bindings, and their reports. */
import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterAll, describe, expect, it } from "vitest";
import { Isolate, Isolates, LoaderRunner } from "../../src/sandbox/runners/loader-runner.ts";
import { platformLimits } from "../../src/sandbox/runners/runner.ts";
import { selectRunner } from "../../src/sandbox/runners/select-runner.ts";
import {
  bindingsFor,
  inputOf,
  LIMITS,
  type RunOptions,
  runProgram,
  scriptOf,
  stage,
} from "../workflows/support.ts";

const runner = selectRunner(env);
afterAll(() => runner[Symbol.dispose]?.());
const at = await stage();
const run = (source: string, options: RunOptions = {}) => runProgram(runner, at, source, options);

/** Output of the compiler while programs bounded themselves. */
const WITH_GUARD = `export default async (event ) => {$0000();
  let sum = 0;
  for (const each of [1, ...$0001(Array(event.n ?? 2).keys())]) {$0000();sum += each;}
  while (sum < 3) {$0000();sum += 1;}
  const recurse = (n) => (($0000(),n === 0 ? 0 : recurse(n - 1)));
  return Math.max(...$0001([sum, recurse(3)]));
};
;import { tick as $0000, spread as $0001 } from "./guard.js";
`;

describe("a run", () => {
  it("goes on with a program that an earlier version has compiled", async () => {
    const script = { ...scriptOf(at, "export default () => {};", crypto.randomUUID()), module: WITH_GUARD };
    const bindings = bindingsFor(at, { calls: LIMITS.calls, workflowId: script.workflowId });
    expect(await runner.run(script, inputOf({}), bindings, LIMITS)).toMatchObject({
      status: "success",
      result: "3",
    });
  });

  it("gives what the function returns as JSON", async () => {
    const report = await run("export default async (event) => ({ hello: event.data.userId });");
    expect(report).toMatchObject({ status: "success", result: '{"hello":"ada"}', logs: [] });
    expect(report.durationMs).toBeGreaterThanOrEqual(0);
  });

  it.each([
    ["undefined", "null"],
    ["null", "null"],
    ["[1, undefined, -0, 1e21]", "[1,null,0,1e+21]"],
    ["{ a: undefined, b: 'é\"' }", '{"b":"é\\""}'],
    ["new Date(0)", '"1970-01-01T00:00:00.000Z"'],
    ["{ toJSON: (key) => ['key', key] }", '["key",""]'],
    ["{ a: { toJSON: (key) => key } }", '{"a":"a"}'],
    ["JSON.parse('{\"__proto__\": 1}')", '{"__proto__":1}'],
    ["Object.create({ inherited: 1 }, { own: { value: 2, enumerable: true } })", '{"own":2}'],
    ["Promise.resolve({ then: (resolve) => resolve('thenable') })", '"thenable"'],
    ["(() => { const shared = {}; return [shared, shared]; })()", "[{},{}]"],
  ])("writes %s as %s", async (expression, json) => {
    const report = await run(`export default async () => (${expression});`);
    expect(report).toMatchObject({ status: "success", result: json });
  });

  it("may return as much JSON as its limit says, and no more", async () => {
    const source = (characters: number) => `export default () => "x".repeat(${characters});`;
    const limits = { resultBytes: 1_000 };
    expect(await run(source(998), { limits })).toMatchObject({ status: "success" });
    expect(await run(source(999), { limits })).toMatchObject({
      status: "failed",
      result: "The result has more than 1000 bytes of JSON",
    });
    expect(await run(`export default () => "é".repeat(500);`, { limits })).toMatchObject({
      status: "failed",
    });
  });

  it("reports an error with the lines and functions of the program", async () => {
    const source = `
export default function greet(): string {
  const missing: { name: string } | undefined = undefined;
  return deeper(missing);
}
function deeper(user: any): string {
  return user.name;
}`;
    expect(await run(source)).toMatchObject({
      status: "failed",
      result:
        "TypeError: Cannot read properties of undefined (reading 'name') (line 7)\n    at deeper (line 7)\n    at greet (line 4)",
    });
  });

  it("reports an error after an await", async () => {
    const source = `
class Refused extends Error { name = "Refused"; }
const refuse = async () => {
  await 0;
  throw new Refused("no");
};
export default async () => {
  await refuse();
};`;
    expect((await run(source)).result).toMatch(
      /^Refused: no \(line 5\)\n {4}at refuse \(line 5\)\n {4}at .* \(line 8\)$/,
    );
  });

  it("reports a refused call with its line", async () => {
    const source = "export default async (_, { store }) => {\n\n  await store.get(7, 'a');\n};";
    expect((await run(source)).result).toMatch(/^Error: store.get: store: .* \(line 3\)/);
  });

  it("keeps what is logged, by level and in order", async () => {
    const { logs } = await run(`export default async () => {
      console.log("a", 1, { b: [true, null, undefined] }, ["c"]);
      console.debug(); console.info(1n, Symbol("x"), () => 1); console.warn(new TypeError("x"));
      await 0;
      console.error(new Map(), Object.create(null));
      const cycle = {}; cycle.cycle = cycle; console.log(cycle);
      console.log({ get a() { throw 1; } });
    };`);
    expect(logs.map(({ level, message }) => [level, message])).toEqual([
      ["log", 'a 1 {"b":[true,null,undefined]} ["c"]'],
      ["debug", ""],
      ["info", "1n [symbol] [function]"],
      ["warn", "TypeError: x"],
      ["error", "Map {} {}"],
      ["log", '{"cycle":{"cycle":{"cycle":{"cycle":…}}}}'],
      ["log", "[unreadable]"],
    ]);
    expect(logs.every(({ timestamp }) => !Number.isNaN(Date.parse(timestamp)))).toBe(true);
  });

  it("keeps logs up to their limit, for which a line costs 32 bytes more, and says that there was more", async () => {
    const source = "export default () => { for (let i = 0; i < 1000; i++) console.log('é'.repeat(10)); };";
    const { status, logs } = await run(source, { limits: { logBytes: 5 * (20 + 32) } });
    expect(status).toBe("success");
    expect(logs.map(({ message }) => message)).toEqual([
      ...Array.from({ length: 5 }, () => "é".repeat(10)),
      "[what was logged after 260 bytes is left out]",
    ]);
  });

  it("keeps the logs of a run that fails", async () => {
    const source = "export default () => { console.log('so far'); return new Promise(() => {}); };";
    expect(await run(source, { limits: { wallMs: 50 } })).toMatchObject({
      status: "failed",
      result: "The workflow took longer than 0.05 s",
      logs: [{ message: "so far" }],
    });
  });

  it("logs an error that no caller can catch, and continues", async () => {
    const source = `export default () => new Promise((resolve) => {
      Promise.reject(new Error("in a promise"));
      setTimeout(() => { throw new Error("in a timer"); }, 1);
      setTimeout((a, b) => resolve([a, b]), 5, "a", "b");
    });`;
    const { result, logs } = await run(source);
    expect(result).toBe('["a","b"]');
    expect(logs.map(({ level, message }) => [level, message.split("\n")[0]])).toEqual([
      ["error", "Uncaught: Error: in a promise (line 2)"],
      ["error", "Uncaught: Error: in a timer (line 3)"],
    ]);
  });

  it("keeps its isolate for the next one, until a program is stopped in it", async () => {
    const scriptId = crypto.randomUUID();
    const source = `let count = 0;
      export default ({ waits }) => { count += 1; return waits ? new Promise(() => {}) : count; };`;
    const outcome = async (waits: boolean) =>
      (await run(source, { scriptId, event: { waits }, limits: { wallMs: waits ? 50 : 30_000 } })).result;
    expect([await outcome(false), await outcome(false)]).toEqual(["1", "2"]);
    await outcome(true);
    expect(await outcome(false)).toBe("1");
  });

  it("reports a problem that only the runtime finds", async () => {
    const scriptId = crypto.randomUUID();
    const module = "export default () => {\n  let a; let a;\n};";
    const script = { accountId: at.accountId, workflowId: scriptId, module, hash: scriptId };
    expect(await runner.run(script, inputOf({}), bindingsFor(at), LIMITS)).toMatchObject({
      status: "failed",
      result: "SyntaxError: Identifier 'a' has already been declared (line 2)",
    });
  });

  it("has the language, and what a program for the edge expects", async () => {
    const source = `export default async () => {
      const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode("a"));
      const stream = new Blob(["a", "b"]).stream().pipeThrough(new TextDecoderStream());
      const chunks = []; for await (const chunk of stream) chunks.push(chunk);
      class Rows extends Array { total() { return this.reduce((sum, row) => sum + row, 0); } }
      const rows = Rows.from([1, 2, 3]);
      return [
        [...new Uint8Array(digest)].length, chunks.join(""), rows.map((row) => row * 2).total(), rows instanceof Array,
        [3, 10, 2].sort(), [3, 10, 2].toSorted((a, b) => a - b), [[1, [2]], 3].flat(), [1, 2].concat([3], 4), Array(3).length,
        "a-b".split("-"), "a".padStart(3, "."), "aXa".replaceAll("a", (x) => x + x), [..."aé😀"], "x".concat(1, 2),
        new URL("https://a.example/b?c=d").searchParams.get("c"), structuredClone({ a: [1, new Date(0)] }), btoa("a"),
        new Uint16Array([1, 2, 3]).subarray(1).join(), Object.groupBy([1, 2, 3], (n) => (n % 2 ? "odd" : "even")),
        JSON.stringify({ a: 1, b: [2], c: "d" }, ["a", "c"]), JSON.stringify({ a: [1] }, (_, v) => (v === 1 ? 2 : v), 1),
        (function () { return this.x + [...arguments].join(); }).bind({ x: "y" }, 1)(2), Math.max(...[1, 5, 2]),
        new (Map.bind(null, [[1, 2]]))().get(1), new Proxy({ a: 1 }, { get: (target, key) => target[key] ?? key }).b,
        await new Promise((resolve) => queueMicrotask(() => resolve("micro"))), "a1b2".match(/\\d/g), [..."a1b2".matchAll(/\\d/g)].length,
        Array.isArray([]) && [] instanceof Array && [].constructor === Array, new Uint8Array([1]) instanceof Uint8Array,
      ];
    };`;
    const { status, result } = await run(source);
    expect([status, status === "success" ? JSON.parse(result) : result]).toEqual([
      "success",
      [
        ...[32, "ab", 12, true, [10, 2, 3], [2, 3, 10], [1, [2], 3], [1, 2, 3, 4], 3],
        ...[["a", "b"], "..a", "aaXaa", ["a", "é", "😀"], "x12"],
        ...["d", { a: [1, "1970-01-01T00:00:00.000Z"] }, "YQ==", "2,3", { odd: [1, 3], even: [2] }],
        ...[
          '{"a":1,"c":"d"}',
          '{\n "a": [\n  2\n ]\n}',
          "y1,2",
          5,
          2,
          "b",
          "micro",
          ["1", "2"],
          2,
          true,
          true,
        ],
      ],
    ]);
  });

  it("has nothing that blocks the process or reaches out of it", async () => {
    const names = [
      "Atomics",
      "SharedArrayBuffer",
      "WebAssembly",
      "FinalizationRegistry",
      "WebSocket",
      "EventSource",
      "caches",
      "navigator",
      "process",
      "require",
      "Cloudflare",
      "MessageChannel",
      "scheduler",
    ];
    const source = `export default () => ${JSON.stringify(names)}.filter((name) => name in globalThis);`;
    expect(await run(source)).toMatchObject({ status: "success", result: "[]" });
  });
});

describe("an isolate that is kept for the next run", () => {
  /** A runner of isolates that only count; `ended` resolves when the first one is freed. */
  const open = (idleMs: number) => {
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const counts = { opened: 0, freed: 0 };
    const answer = JSON.stringify({ status: "success", result: "1", logs: [], isSpent: false });
    const free = () => {
      counts.freed += 1;
      resolve();
    };
    const counting = new LoaderRunner(async () => {
      counts.opened += 1;
      return { run: async () => answer, [Symbol.dispose]: free };
    }, idleMs);
    const script = scriptOf(at, "export default () => 1;", crypto.randomUUID());
    return {
      counting,
      counts,
      ended,
      runOnce: () => counting.run(script, inputOf({}), bindingsFor(at), LIMITS),
    };
  };

  it("is freed when none follows for some time, and opened again for a later one", async () => {
    const { counts, ended, runOnce } = open(1);
    await runOnce();
    await ended;
    await runOnce();
    expect(counts.opened).toBe(2);
  });

  it("is freed with its runner, which later runs do not mind", async () => {
    const { counting, counts, ended, runOnce } = open(1_000_000);
    await runOnce();
    await runOnce();
    expect(counts).toEqual({ opened: 1, freed: 0 });
    counting[Symbol.dispose]();
    await ended;
    await runOnce();
    expect(counts).toEqual({ opened: 2, freed: 1 });
    counting[Symbol.dispose]();
  });
});

it("an isolate has the limits that the platform enforces, and no network", () => {
  const loaded: object[] = [];
  const LOADER = {
    get: (name: string | null, codeOf: () => WorkerLoaderWorkerCode) => ({
      getEntrypoint: (_: undefined, options: object) => {
        const { globalOutbound, env } = codeOf();
        loaded.push({ name, options, globalOutbound, env });
      },
    }),
  };
  new Isolates(createExecutionContext(), { LOADER: LOADER as unknown as WorkerLoader }).open(
    "",
    platformLimits(LIMITS),
  );
  const limits = { cpuMs: 50, subRequests: 400 };
  expect(loaded).toEqual([{ name: null, options: { limits }, globalOutbound: null, env: undefined }]);
});

it("the bindings of a run that is cut off are given back when its isolate is freed, and once", async () => {
  const { promise: answer, resolve } = Promise.withResolvers<string>();
  let given = 0;
  const giveBack = () => {
    given += 1;
  };
  const bindings = Object.assign(bindingsFor(at), { [Symbol.dispose]: giveBack });
  const isolate = new Isolate({ run: () => answer });
  const running = isolate.run(inputOf({}), bindings, LIMITS);
  isolate[Symbol.dispose]();
  expect(given).toBe(1);
  resolve("late");
  expect(await running).toBe("late");
  expect(given).toBe(1);
});
