/** The dispatch runner on a stand-in for a namespace: uploads, their times, and reports of the platform's errors. */
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { GUEST_COMPATIBILITY } from "../../src/sandbox/runners/guest-modules.ts";
import { bindingsFor, eventIn, inputOf, LIMITS, runProgram, scriptOf, stage } from "../workflows/support.ts";
import { dispatchRunner, SETTINGS } from "./dispatch-runner.ts";

const at = await stage();

const GREET = "export default async (event) => ({ hello: event.data.userId });";
const GREETING = { status: "success", result: '{"hello":"ada"}' };

const uploadOf = (scriptId: string) => expect.stringMatching(new RegExp(`^PUT wf-${scriptId}-[0-9a-f]{22}$`));

describe("the dispatch runner", () => {
  it("uploads a script before its first run, and not again", async () => {
    const { runner, calls } = dispatchRunner();
    const options = { scriptId: crypto.randomUUID() };
    for (const _ of "123") expect(await runProgram(runner, at, GREET, options)).toMatchObject(GREETING);
    expect(calls).toEqual([uploadOf(options.scriptId)]);
  });

  it("runs a script that another runner uploaded", async () => {
    const scriptId = crypto.randomUUID();
    await dispatchRunner().runner.deploy(scriptOf(at, GREET, scriptId));
    const { runner, calls } = dispatchRunner();
    expect(await runProgram(runner, at, GREET, { scriptId })).toMatchObject(GREETING);
    expect(calls).toEqual([]);
  });

  it("gives the same program of another workflow or organization another name", async () => {
    const { runner, calls } = dispatchRunner();
    const other = await stage();
    const scriptId = crypto.randomUUID();
    await runner.deploy(scriptOf(at, GREET, scriptId));
    await runner.deploy(scriptOf(other, GREET, scriptId));
    await runner.deploy(scriptOf(at, GREET, crypto.randomUUID()));
    expect(new Set(calls).size).toBe(3);
    for (const call of calls) expect(call.length).toBeLessThanOrEqual("PUT ".length + 63);
  });

  it("uploads a script again that was deleted, and deletes it as often as it is asked to", async () => {
    const { runner, calls } = dispatchRunner();
    const options = { scriptId: crypto.randomUUID() };
    const script = scriptOf(at, GREET, options.scriptId);
    await runner.deploy(script);
    await runner.remove(script);
    await runner.remove(script);
    expect(await runProgram(runner, at, GREET, options)).toMatchObject(GREETING);
    expect(calls.map((call) => call.split(" ")[0])).toEqual(["PUT", "DELETE", "DELETE", "PUT"]);
  });

  it("rejects when a script cannot be uploaded, and its bindings stay usable for the next attempt", async () => {
    const { runner } = dispatchRunner(new Response("Bad gateway", { status: 400 }));
    const options = { scriptId: crypto.randomUUID() };
    const bindings = bindingsFor(at, { workflowId: options.scriptId });
    const program = "export default (event, { room }) => room.get().then(({ id }) => id);";
    const script = scriptOf(at, program, options.scriptId);
    const input = inputOf(eventIn(at.roomId));
    await expect(runner.run(script, input, bindings, LIMITS)).rejects.toThrow(
      "Cloudflare's API answered 400",
    );
    const report = await runner.run(script, input, bindings, LIMITS);
    expect(report).toMatchObject({ status: "success", result: JSON.stringify(at.roomId) });
  });

  it("refuses with its line what the compiler lets pass and the runtime does not", async () => {
    const { runner, calls } = dispatchRunner();
    const script = {
      ...scriptOf(at, GREET, crypto.randomUUID()),
      module: "export default () => {\n  let a; let a;\n};",
    };
    await expect(runner.deploy(script)).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
      message: "code: line 2: Identifier 'a' has already been declared",
    });
    expect(calls).toHaveLength(1);
  });

  it("reports a run that the platform stopped for its processor time", async () => {
    const report = await runProgram(dispatchRunner().runner, at, GREET, { limits: { cpuMs: 0 } });
    expect(report).toMatchObject({
      status: "failed",
      result: "The workflow used more than 0 ms of processor time",
    });
  });

  it("uploads the limits and the tags by which a script is found, and lets it have nothing else", async () => {
    const { runner, calls } = dispatchRunner();
    const scriptId = crypto.randomUUID();
    await runner.deploy(scriptOf(at, GREET, scriptId));
    const { accountId, namespace, token, apiUrl } = SETTINGS;
    const [, name] = calls[0]?.split(" ") ?? [];
    const url = `${apiUrl}/accounts/${accountId}/workers/dispatch/namespaces/${namespace}/scripts/${name}`;
    const response = await env.NAMESPACE_API.fetch(url, { headers: { Authorization: `Bearer ${token}` } });
    const { result } = await response.json<{ result: object }>();
    expect(result).toMatchObject({
      limits: { cpu_ms: LIMITS.cpuMs, subrequests: 2 * LIMITS.calls },
      tags: expect.arrayContaining([`workflow-${scriptId}`, `account-${at.accountId}`]),
      compatibility_flags: [...GUEST_COMPATIBILITY.flags],
      observability: { enabled: false },
    });
  });
});
