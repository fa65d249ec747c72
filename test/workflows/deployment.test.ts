/** Deploying code before its row is written, and removing it afterwards; failures in between leave no orphan. */
import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { compose } from "../../src/composition.ts";
import {
  createWorkflow,
  sweepRetiredScripts,
  updateWorkflow,
} from "../../src/features/workflows/commands.ts";
import type { WorkflowContext } from "../../src/features/workflows/context.ts";
import { endpoints } from "../../src/features/workflows/routes.ts";
import { authorizeCall } from "../../src/http/pipeline.ts";
import { openDatabase } from "../../src/platform/d1/d1.ts";
import type { Script } from "../../src/sandbox/runners/runner.ts";
import { type Account, account, ORIGIN } from "../support/api.ts";
import { expectLogged } from "../support/log-guard.ts";

const MINUTE_MS = 60_000;
const [ONE, TWO] = ['export default () => "one";', 'export default () => "two";'];
const creation = { name: "A workflow", code: ONE, events: ["user.created" as const] };

let owner: Account;
let ctx: WorkflowContext;
/** The calls to the deployment target, in order. */
let calls: string[];
let isDown: boolean;

const remote = {
  deploy: async ({ module }: Script) => {
    calls.push(`deploy ${/one|two/.exec(module)}`);
    if (isDown) throw new Error("The dispatch namespace is down");
  },
  remove: async ({ workflowId }: Pick<Script, "workflowId">) => {
    calls.push(`remove ${workflowId}`);
    if (isDown) throw new Error("The dispatch namespace is down");
  },
};

beforeEach(async () => {
  await env.DB.exec("DELETE FROM retired_scripts");
  owner = await account();
  [calls, isDown] = [[], false];
  const [endpoint] = endpoints;
  if (endpoint === undefined) throw new Error("no endpoint");
  const headers = { Authorization: owner.api.authorization ?? "" };
  const request = new Request(ORIGIN, { headers });
  const call = { request, env, execution: createExecutionContext(), params: { accountId: owner.id } };
  const { schemes, ports } = compose(env);
  const base = await authorizeCall({ schemes }, endpoint, call, "a request");
  ctx = { ...base, ...ports, deploy: (script) => remote.deploy(script) };
});

/** The same context, but for a database that fails to write a workflow. */
const failing = (): WorkflowContext => ({
  ...ctx,
  commit: () => Promise.reject(new Error("The database failed")),
});

const countOf = async (table: "workflows" | "retired_scripts"): Promise<number> => {
  const query = `SELECT count(*) AS count FROM ${table} WHERE account_id = ?`;
  return (await env.DB.prepare(query).bind(owner.id).first<number>("count")) ?? 0;
};

const sweep = (now: number) => {
  const failures: string[] = [];
  const log = (message: string) => failures.push(message);
  return sweepRetiredScripts(openDatabase(env.DB), () => remote, now, log).then(() => failures);
};

describe("saved code", () => {
  it("is deployed before its row is written, and not written when deployment fails", async () => {
    isDown = true;
    await expect(createWorkflow(ctx, creation)).rejects.toMatchObject({
      module: "Workflows",
      code: "INTERNAL_ERROR",
      message: "The code could not be deployed; nothing was changed. Try again",
    });
    expect([calls, await countOf("workflows")]).toEqual([["deploy one"], 0]);
    isDown = false;
    const { workflow } = await createWorkflow(ctx, creation);
    isDown = true;
    await expect(updateWorkflow(ctx, workflow.id, { code: TWO, name: "Two" })).rejects.toMatchObject({
      code: "INTERNAL_ERROR",
    });
    expect((await owner.api.get(`/workflows/${workflow.id}`)).data).toEqual({ workflow });
    expect(await countOf("retired_scripts")).toBe(0);
    expectLogged("The dispatch namespace is down");
  });

  it("is not deployed again by an update that does not change it", async () => {
    const { workflow } = await createWorkflow(ctx, creation);
    await updateWorkflow(ctx, workflow.id, { code: ONE, name: "Renamed" });
    await updateWorkflow(ctx, workflow.id, { enabled: false });
    expect(calls).toEqual(["deploy one"]);
    await updateWorkflow(ctx, workflow.id, { code: TWO });
    expect(calls).toEqual(["deploy one", "deploy two"]);
  });

  it("is retired when its row cannot be written", async () => {
    await expect(createWorkflow(failing(), creation)).rejects.toThrow("The database failed");
    expect([await countOf("workflows"), await countOf("retired_scripts")]).toEqual([0, 1]);
    const { workflow } = await createWorkflow(ctx, creation);
    await expect(updateWorkflow(failing(), workflow.id, { code: TWO })).rejects.toThrow(
      "The database failed",
    );
    expect(await countOf("retired_scripts")).toBe(2);
    await sweep(Date.now() + 2 * MINUTE_MS);
    expect(calls.filter((what) => what.startsWith("remove"))).toHaveLength(2);
    expect(await countOf("retired_scripts")).toBe(0);
  });
});

describe("a retired script", () => {
  it("is removed after a minute, and again later when that fails", async () => {
    const { workflow } = await createWorkflow(ctx, creation);
    await updateWorkflow(ctx, workflow.id, { code: TWO });
    calls = [];
    expect(await sweep(Date.now() + MINUTE_MS / 2)).toEqual([]);
    isDown = true;
    expect(await sweep(Date.now() + 2 * MINUTE_MS)).toHaveLength(1);
    expect(await countOf("retired_scripts")).toBe(1);
    isDown = false;
    expect(await sweep(Date.now() + 2 * MINUTE_MS)).toEqual([]);
    expect(calls).toEqual([`remove ${workflow.id}`, `remove ${workflow.id}`]);
    expect(await countOf("retired_scripts")).toBe(0);
  });

  it("stays when its workflow uses it again", async () => {
    const { workflow } = await createWorkflow(ctx, creation);
    for (const code of [TWO, ONE]) await updateWorkflow(ctx, workflow.id, { code });
    calls = [];
    expect(await countOf("retired_scripts")).toBe(2);
    await sweep(Date.now() + 2 * MINUTE_MS);
    expect(calls).toEqual([`remove ${workflow.id}`]);
    expect(await countOf("retired_scripts")).toBe(0);
  });

  it("stays while its organization is fenced, so that nothing is removed again each minute", async () => {
    const { workflow } = await createWorkflow(ctx, creation);
    await updateWorkflow(ctx, workflow.id, { code: TWO });
    calls = [];
    await env.DB.prepare("INSERT INTO fences VALUES (?, 1)").bind(owner.id).run();
    const later = Date.now() + 2 * MINUTE_MS;
    expect([await sweep(later), calls]).toEqual([[], []]);
    await env.DB.prepare("DELETE FROM fences").run();
    expect([await sweep(later), calls]).toEqual([[], [`remove ${workflow.id}`]]);
  });
});
