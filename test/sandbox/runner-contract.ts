/** The contract of every runner: a bad program fails with a reason that its author understands, and affects no one else. */
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunInput, Runner, RunReport } from "../../src/sandbox/runners/runner.ts";
import { runProgram, type Stage, stage } from "../workflows/support.ts";
import {
  CALLS,
  FAILURES,
  FETCHES,
  HOGS,
  HOSTILE_LIMITS,
  type HostileProgram,
  LOGS,
  RESULTS,
  TAMPERING,
} from "./hostile-programs.ts";

/** Far more than the second that a run may outlast its limit by, on a machine that has other things to do. */
const PATIENCE_MS = 20_000;

const GROUPS: readonly (readonly [string, readonly HostileProgram[]])[] = [
  ["recursion", HOGS],
  ["results", RESULTS],
  ["failures", FAILURES],
  ["fetch", FETCHES],
  ["calls", CALLS],
  ["tampering", TAMPERING],
  ["logs", LOGS],
];

export function describeRunner(name: string, makeRunner: () => Runner): void {
  describe(`${name} ends a program that`, () => {
    let runner: Runner;
    let villain: Stage;
    let neighbour: Stage;
    beforeAll(async () => {
      runner = makeRunner();
      [villain, neighbour] = await Promise.all([stage("A villain's room"), stage("A neighbour's room")]);
    });
    afterAll(() => runner[Symbol.dispose]?.());

    const neighbourRuns = (): Promise<RunReport> =>
      runProgram(runner, neighbour, "export default (_, { room }) => room.get();", { devTargets: [] });
    const roomAnswers = () => neighbour.api.get(`/rooms/${neighbour.roomId}/stores`);

    describe.each(GROUPS)("by %s", (_, programs) => {
      it.each(programs)("$does", async ({ source, result, limits: own }) => {
        const limits = { ...HOSTILE_LIMITS, ...own };
        const hostile = runProgram(runner, villain, source, { limits, devTargets: [] });
        const [report, run, room] = await Promise.all([hostile, neighbourRuns(), roomAnswers()]);
        expect(report).toMatchObject({
          status: "failed",
          result: result instanceof RegExp ? expect.stringMatching(result) : result,
        });
        expect(report.durationMs).toBeLessThan(limits.wallMs + PATIENCE_MS);
        expect(run).toMatchObject({
          status: "success",
          result: expect.stringContaining("A neighbour's room"),
        });
        expect(room).toMatchObject({ status: 200 });
      });
    });
  });

  describe(`${name} reports`, () => {
    let runner: Runner;
    let at: Stage;
    beforeAll(async () => {
      runner = makeRunner();
      at = await stage();
    });
    afterAll(() => runner[Symbol.dispose]?.());
    const run = (source: string) => runProgram(runner, at, source);
    const written = ({ logs }: RunReport) => logs.map(({ message }) => message);
    const inBody = (statements: string) => `export default async (_, { store }) => {\n${statements}\n};`;

    it.each([
      ["at once", `Promise.reject(new Error("lost")); return 1;`, "1"],
      ["in an async function", `(async () => { throw new Error("lost"); })(); return 1;`, "1"],
      [
        "many turns later",
        `(async () => { for (let i = 0; i < 50; i++) await 0; throw new Error("lost"); })(); return 1;`,
        "1",
      ],
      [
        "after a call",
        `(async () => { await store.get("a", "b"); throw new Error("lost"); })(); await store.get("a", "b"); return 1;`,
        "1",
      ],
      [
        "as the run fails",
        `Promise.reject(new Error("lost")); throw new Error("x");`,
        expect.stringContaining("Error: x"),
      ],
    ])("a rejection that no one handles %s", async (_, statements, result) => {
      const report = await run(inBody(statements));
      expect(report.result).toEqual(result);
      expect(written(report)).toEqual([expect.stringMatching(/^Uncaught: Error: lost \(line 2\)/)]);
    });

    it("of rejections in runs at the same time each with its own run, and none that is handled in time", async () => {
      const source = `export default async ({ id }, { store }) => {
        const handled = Promise.reject(new Error("handled"));
        Promise.reject(new Error(id));
        await handled.catch(() => {});
        await store.get("a", "b");
      };`;
      const scriptId = crypto.randomUUID();
      const ids = ["one", "two", "three", "four"];
      const reports = await Promise.all(
        ids.map((id) => runProgram(runner, at, source, { scriptId, event: { id } })),
      );
      expect(reports.map((report) => written(report).map((line) => line.split(" (")[0]))).toEqual(
        ids.map((id) => [`Uncaught: Error: ${id}`]),
      );
    });

    it("no rejection that is handled later in the run, and each other line where it was written", async () => {
      const report = await run(`export default async ({}, { store }) => {
        const late = Promise.reject(new Error("late"));
        const lost = Promise.reject(new Error("lost"));
        await new Promise((resolve) => setTimeout(resolve, 30));
        console.log("later");
        await store.get("a", "b");
        return late.catch((error) => error.message);
      };`);
      expect(report.result).toBe('"late"');
      expect(written(report)).toEqual([expect.stringMatching(/^Uncaught: Error: lost/), "later"]);
    });

    it("what is in maps, sets, dates and their kin", async () => {
      const report = await run(
        inBody(`const map = new Map([["a", 1], [{ b: 2 }, new Set([3, "c"])]]);
        console.log(map, new Date(0), new Date(NaN), /a+/gi, new URL("https://a.example/b?c"));
        console.log("%o %O %s", map, new Set([map]), new Date(0));
        console.log({ at: new Date(0) }, new Map(Array.from({ length: 101 }, (_, n) => [n, n])));
        map.set("self", map);
        console.log(map, Object.create(Map.prototype));
        Map.prototype.forEach = Date.prototype.toISOString = () => "tampered";
        console.log(new Map([[1, 2]]), new Date(0));`),
      );
      const lines = written(report);
      const [map, date] = ['Map {"a" => 1,{"b":2} => Set {3,"c"}}', "1970-01-01T00:00:00.000Z"];
      expect(lines.slice(0, 2)).toEqual([
        `${map} ${date} Invalid Date /a+/gi https://a.example/b?c`,
        `${map} Set {${map}} ${date}`,
      ]);
      expect(lines[2]).toMatch(/^\{"at":1970-01-01T00:00:00\.000Z\} Map \{0 => 0,.*99 => 99,…\}$/);
      expect(lines[3]).toMatch(/"self" => Map .*"self" => ….* \[unreadable\]$/);
      expect(lines[4]).toBe(`Map {1 => 2} ${date}`);
    });

    it("what is large, without reading all of it", async () => {
      const report = await run(
        inBody(`let nested = Array(100).fill("leaf");
        for (let level = 0; level < 3; level += 1) nested = Array(100).fill(nested);
        console.log(new Uint8Array(8e6), nested);
        console.groupCollapsed("a group");`),
      );
      const [large = "", group] = written(report);
      expect(large).toMatch(/^Uint8Array \{"0":0,.*"99":0,…\} \[\[\[\["leaf",/);
      expect(large.length).toBeLessThan(16 * 1024);
      expect(group).toBe("a group");
    });

    it("a line for each method of the console's standard that shows something, and none for the others", async () => {
      const showing = "debug dir dirxml error group groupCollapsed info log table trace warn".split(" ");
      const silent =
        "assert clear count countReset groupEnd profile profileEnd time timeEnd timeLog timeStamp";
      const names = JSON.stringify([...showing, ...silent.split(" ")]);
      const report = await run(inBody(`for (const name of ${names}) console[name](name); return "called";`));
      expect([report.result, written(report)]).toEqual(['"called"', showing]);
    });

    it("the causes of an error and the errors that it unites, each with its line", async () => {
      const source = inBody(`const cause = new TypeError("cause", { cause: { code: 7 } });
        const errors = [new RangeError("one", { cause }), "two"];
        throw new AggregateError(errors, "all", { cause });`);
      const { result } = await run(source);
      expect(result.split("\n").filter((line) => !/^ *at /.test(line))).toEqual([
        "AggregateError: all (line 4)",
        "  cause: TypeError: cause (line 2)",
        '    cause: {"code":7}',
        "  errors[0]: RangeError: one (line 3)",
        "    cause: [circular]",
        "  errors[1]: two",
      ]);
    });

    it.each([
      [
        "a circle",
        `const a = new Error("a"); const b = new Error("b", { cause: a }); a.cause = b; throw a;`,
        200,
      ],
      [
        "a chain without end",
        `const grow = (n) => Object.defineProperty(new Error("e" + n), "cause", { get: () => grow(n + 1) }); throw grow(0);`,
        4_000,
      ],
      [
        "a cause that throws",
        `throw Object.defineProperty(new Error("a"), "cause", { get() { throw 1; } });`,
        200,
      ],
      [
        "huge causes",
        `let e; for (let i = 0; i < 20; i++) e = new Error("x".repeat(1e6), { cause: e }); throw e;`,
        8_200,
      ],
      ["a million errors", `throw new AggregateError(Array(1e6).fill("x"));`, 1_000],
      [
        "errors that throw",
        `const e = new AggregateError([]); e.errors = { get length() { throw 1; } }; throw e;`,
        100,
      ],
      [
        "errors without end",
        `throw Object.assign(new AggregateError([]), { errors: new Proxy([], { get: (_, k) => k === "length" ? 2 ** 53 : new Error("x") }) });`,
        4_000,
      ],
    ])("an error with %s in few characters", async (_, statements, length) => {
      const uncaught = await run(inBody(`Promise.reject((() => { ${statements} })); ${statements}`));
      expect(uncaught.status).toBe("failed");
      expect(uncaught.result).not.toContain("tampered");
      expect(uncaught.result.length).toBeLessThan(length);
      const logged = await run(inBody(`try { ${statements} } catch (error) { console.error(error, "%s"); }`));
      expect(logged).toMatchObject({ status: "success", logs: [{ level: "error" }] });
    });

    it("texts of a console with the values that they ask for", async () => {
      const report = await run(
        inBody(`console.log("%s is %d years and %i, %f", "Ada", "36.5", "36.5", "36.5px", "old");
        console.info("%j %o %O", { a: [1] }, "text", { b: null });
        console.warn("%cred%c and 100%% of %s", "color: red", "", { x: 1 });
        console.error("%s %s %x %", 1n);
        console.debug("%% alone", "%s", 1);
        console.log("100%% %s");
        console.log(1, "%s", 2);
        console.log("%d %i %d %f %s", 7n, 7n, Symbol("a"), {}, Symbol("b"));
        const circle = {}; circle.circle = circle;
        console.log("%j %s %d", circle, { toString() { throw 1; } }, { valueOf() { throw 1; } });
        console.dir("%s", { depth: 0 });
        console.log("%s".repeat(1e6), ..."ab");
        console.error(new Error("outer", { cause: new Error("inner") }), new AggregateError([1], "all"));`),
      );
      const lines = written(report);
      expect(lines.slice(0, 9)).toEqual([
        "Ada is 36.5 years and 36, 36.5 old",
        '{"a":[1]} "text" {"b":null}',
        'red and 100% of {"x":1}',
        "1n %s %x %",
        "% alone %s 1",
        "100%% %s",
        "1 %s 2",
        "7n 7n NaN NaN [symbol]",
        '[unreadable] {"toString":[function]} [unreadable]',
      ]);
      expect(lines[9]).toBe("%s");
      expect(lines[10]).toMatch(/^ab(%s)+…?$/);
      expect(lines[11]).toBe("Error: outer [cause: Error: inner] AggregateError: all [errors: [1]]");
    });
  });

  describe(`${name} keeps apart`, () => {
    let runner: Runner;
    beforeAll(() => {
      runner = makeRunner();
    });
    afterAll(() => runner[Symbol.dispose]?.());

    it("organizations and workflows whose code is the same", async () => {
      const [one, other] = await Promise.all([stage(), stage()]);
      const source = "globalThis.count ??= 0; export default () => ++globalThis.count;";
      const [a, b] = [crypto.randomUUID(), crypto.randomUUID()];
      const count = async (at: Stage, scriptId: string) =>
        (await runProgram(runner, at, source, { scriptId })).result;
      expect([await count(one, a), await count(one, b), await count(other, a)]).toEqual(["1", "1", "1"]);
    });

    it("runs of one workflow at the same time, down to their logs", async () => {
      const at = await stage();
      const source = `export default async (event, { store }) => {
        console.log("before", event.id);
        await store.get("a", "b");
        console.log("after", event.id);
        return event.id;
      };`;
      const scriptId = crypto.randomUUID();
      const ids = Array.from({ length: 8 }, (_, index) => `run ${index}`);
      const reports = await Promise.all(
        ids.map((id) => runProgram(runner, at, source, { scriptId, event: { id } })),
      );
      expect(reports.map(({ result, logs }) => [result, logs.map(({ message }) => message)])).toEqual(
        ids.map((id) => [`"${id}"`, [`before ${id}`, `after ${id}`]]),
      );
    });

    it("runs of one workflow by what each is given, in objects that it cannot change", async () => {
      const at = await stage();
      const source = `export default (_, { attempt, env }) => {
        try { env.TOKEN = "changed"; } catch {}
        return [attempt, Object.entries(env), Object.getPrototypeOf(env)];
      };`;
      const scriptId = crypto.randomUUID();
      const result = async (given: Partial<RunInput>) =>
        JSON.parse((await runProgram(runner, at, source, { scriptId, given })).result);
      const secrets = [
        ["TOKEN", "a value"],
        ["__proto__", "another value"],
      ] as const;
      expect(await result({ attempt: 3, secrets })).toEqual([3, secrets, null]);
      expect(await result({})).toEqual([1, [], null]);
    });

    it("what runs do in their rooms", async () => {
      const [one, other] = await Promise.all([stage(), stage()]);
      const source = `export default async (_, { actions }) => {
        const { version } = await actions.stores.set("board", "a", { at: new Date(0), none: undefined });
        await actions.stores.delete("board", "b");
        const { delivered } = await actions.broadcasts.send({ event: "done" });
        const unfit = await actions.stores.set("board", "c", 1n).catch(({ name }) => name);
        const refused = await actions.comments.resolve("none").catch(({ message }) => message);
        return [version, delivered, unfit, refused, Object.isFrozen(actions.stores)];
      };`;
      expect(JSON.parse((await runProgram(runner, one, source)).result)).toEqual([
        ...[1, 0, "TypeError", "actions.comments.resolve: Comment not found", true],
      ]);
      const stores = ({ api, roomId }: Stage) => api.get(`/rooms/${roomId}/stores`);
      expect((await stores(one)).data).toMatchObject({ stores: [{ name: "board", entries: 1 }] });
      expect((await stores(other)).data).toEqual({ stores: [] });
    });

    it("a run from the capabilities of one that is over", async () => {
      const at = await stage();
      const source = `export default async (_, { store, files }) => {
        if (globalThis.kept === undefined) {
          globalThis.kept = { store, files, fetch };
          return "kept";
        }
        const told = (error) => error.message;
        return Promise.all([kept.store.get("a", "b").catch(told), kept.files.list().catch(told)]);
      };`;
      const scriptId = crypto.randomUUID();
      const results = [];
      for (let count = 0; count < 2; count += 1) {
        results.push((await runProgram(runner, at, source, { scriptId })).result);
      }
      // A runner need not keep the state of an earlier run, and may begin afresh.
      expect(['"kept"', '["The run is over","The run is over"]']).toContain(results[1]);
      expect(results[0]).toBe('"kept"');
    });

    it("what a run has begun from what comes after it", async () => {
      const at = await stage();
      const early = `export default async (_, { files }) => {
        setTimeout(() => files.put("late.txt", "late"), 20);
        (async () => { for (;;) { await new Promise((go) => setTimeout(go, 1)); await files.put("late.txt", "later"); } })().catch(() => {});
      };`;
      expect(await runProgram(runner, at, early)).toMatchObject({ status: "success", result: "null" });
      const later = `export default async (_, { files }) => {
        const before = await files.list();
        await new Promise((go) => setTimeout(go, 200));
        return (await files.list()).length - before.length;
      };`;
      // On a busy machine, calls of the run were still under way at its end: one of the timer, and one of the loop.
      const { status, result } = await runProgram(runner, at, later);
      expect(status).toBe("success");
      expect(Number(result)).toBeLessThanOrEqual(2);
    });

    it("an organization from another one's data, whatever it asks for", async () => {
      const [villain, neighbour] = await Promise.all([stage("A villain's room"), stage("CANARY room")]);
      const { api, roomId } = neighbour;
      const user = await api.createUser(roomId, { name: "CANARY user" });
      await api.put(`/rooms/${roomId}/stores/board/secret`, { value: "CANARY value" });
      const upload = await api.upload(
        { roomId, userId: user.id },
        new File(["CANARY content"], "CANARY.txt"),
      );
      const { key, url } = upload.data.file;
      const theirs = [roomId, key, url, neighbour.accountId, user.id, `${neighbour.accountId}/${key}`];
      const told = [
        ...theirs,
        "board",
        "secret",
        "../",
        `../${key}`,
        `${villain.roomId}/../${key}`,
        "__proto__",
        "*",
        "",
      ];
      const argument = fc.oneof(
        fc.constantFrom(...told),
        fc.constantFrom(...told).map((text) => [text]),
        fc
          .constantFrom(...theirs)
          .map((id) => ({ roomId: id, room: id, accountId: id, key: id, userId: id })),
        fc.constantFrom(...theirs).map((id) => ({ toString: id, valueOf: id, __proto__: { roomId: id } })),
        fc.constantFrom(null, 0, -1, true, { length: 2 }),
        fc.string(),
      );
      const calls = fc.array(fc.tuple(argument, argument, argument), { minLength: 8, maxLength: 8 });
      // Each text as itself, as an object that becomes it, and as one that changes its mind.
      const source = `
        const odd = (text) => { let n = 0; return { toString: () => (n++ ? text : "a"), [Symbol.toPrimitive]: () => text }; };
        export default async ({ calls }, { store, room, files }) => {
          const answers = [];
          const ask = async (call) => answers.push(await call().catch((error) => error.message));
          for (const [a, b, c] of calls) {
            for (const wrap of [(x) => x, odd]) {
              const [x, y, z] = [wrap(a), wrap(b), wrap(c)];
              await Promise.all([
                ask(() => store.get(x, y)), ask(() => store.getAll(x)), ask(() => room.get(x, y)), ask(() => room.getUsers(x)),
                ask(() => files.list(x)), ask(() => files.list({ userId: y, mimeType: z })),
                ask(() => files.get(x)), ask(() => files.delete(y)),
                ask(async () => (await fetch(x)).text()), ask(async () => (await fetch(${JSON.stringify(url)})).text()),
              ]);
            }
          }
          return answers.map((answer) => (answer && typeof answer === "object" ? Object.entries(answer) : answer));
        };`;
      const scriptId = crypto.randomUUID();
      const property = fc.asyncProperty(calls, async (calls) => {
        const report = await runProgram(runner, villain, source, { scriptId, event: { calls } });
        expect(report.status).toBe("success");
        expect(JSON.stringify(report)).not.toContain("CANARY ");
        expect(report.result).toContain("A villain's room");
      });
      await fc.assert(property, { numRuns: 10 });
      expect((await api.raw("GET", new URL(url).pathname)).status).toBe(200);
    });
  });
}
