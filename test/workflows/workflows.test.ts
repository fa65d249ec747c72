/** Workflows over REST: their code and its versions, and the scripts that are retired. */
import { env } from "cloudflare:workers";
import type { WorkflowVersion, WorkflowVersionSummary } from "@atrium/contract/rest/workflow-versions.ts";
import type { Workflow } from "@atrium/contract/rest/workflows.ts";
import { beforeEach, describe, expect, it } from "vitest";
import { runScheduledTasks } from "../../src/scheduled.ts";
import { type Account, account, refusalOf } from "../support/api.ts";
import { addMember } from "../support/person.ts";
import { CODE, TestWorkflow } from "./test-workflow.ts";

const MINUTE_MS = 60_000;
const MAX_CODE_BYTES = 256 * 1024;
/** Compiles, whatever stands in the comment. */
const commented = (comment: string): string => `export default () => null; // ${comment}`;

let owner: Account;

beforeEach(async () => {
  owner = await account();
});

const create = async (body: object = {}): Promise<Workflow> => {
  const whole = { name: "A workflow", code: CODE, events: ["user.created"], ...body };
  const answer = await owner.api.post<{ workflow: Workflow }>("/workflows", whole);
  expect(answer.status, answer.error?.message).toBe(201);
  return answer.data.workflow;
};

const patch = (id: string, body: object) => owner.api.patch<{ workflow: Workflow }>(`/workflows/${id}`, body);

const list = async (query: Record<string, string> = {}) =>
  (await owner.api.get<{ workflows: Workflow[]; total: number }>(`/workflows?${new URLSearchParams(query)}`))
    .data;

describe("creating a workflow", () => {
  it("returns it enabled, for all rooms by default, with duplicate events removed", async () => {
    const workflow = await create({ events: ["user.created", "session.closed", "user.created"] });
    expect(workflow).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      organization_id: owner.id,
      name: "A workflow",
      code: CODE,
      events: ["user.created", "session.closed"],
      room_id: null,
      enabled: true,
      version: 1,
      retries: 0,
      schedule: null,
      next_run_at: null,
      http_trigger: false,
      trigger_secret_created_at: null,
      created_at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
      updated_at: workflow.created_at,
    });
    const { id } = await owner.api.createRoom();
    expect(await create({ roomId: id })).toMatchObject({ room_id: id });
    expect(await create({ roomId: null })).toMatchObject({ room_id: null });
    expect((await owner.api.get(`/workflows/${workflow.id}`)).data).toEqual({ workflow });
  });

  it("keeps TypeScript unchanged", async () => {
    const code =
      "type Name = string;\nexport default async (event: { event: Name }): Promise<Name> => event.event;\n";
    expect(await create({ code })).toMatchObject({ code });
  });

  it.each([
    ["export default async (event) => {\n  const a = 1;\n  return a +* 2;\n};\n", 3, 13],
    ["export default (event: string => 1;", 1, 31],
  ])("refuses code that is none, and says where: %j", async (code, line, column) => {
    const { id } = await create();
    for (const answer of [
      await owner.api.post("/workflows", { name: "A workflow", code, events: ["user.created"] }),
      await patch(id, { code }),
    ]) {
      expect(refusalOf(answer)).toEqual([400, "Workflows", "VALIDATION_ERROR"]);
      expect(answer.error?.message).toMatch(new RegExp(`^code: line ${line}, column ${column}: \\w`));
    }
    expect(await list()).toMatchObject({ total: 1, workflows: [{ id, code: CODE }] });
  });

  it("takes 256 KiB of code, counted in bytes of UTF-8, and no more", async () => {
    const room = MAX_CODE_BYTES - commented("").length;
    const largest = commented("é".repeat(room / 2));
    expect(new TextEncoder().encode(largest).byteLength).toBe(MAX_CODE_BYTES);
    expect(await create({ code: largest })).toMatchObject({ code: largest });
    for (const code of [`${largest} `, commented("é".repeat(room / 2 + 1)), "", "\ud800", "a\0"]) {
      const answer = await owner.api.post("/workflows", { name: "Large", code, events: ["user.created"] });
      expect([answer.status, answer.error?.code]).toEqual([400, "VALIDATION_ERROR"]);
      expect(answer.error?.message).toMatch(/^code: must /);
    }
  });

  it.each(["identity.created", "group.updated", "webhook.backlogged"])(
    "refuses %s, which belongs to no room, and says so",
    async (event) => {
      const { id } = await create();
      for (const answer of [
        await owner.api.post("/workflows", { name: "A workflow", code: CODE, events: [event] }),
        await patch(id, { events: ["user.created", event] }),
      ]) {
        expect(refusalOf(answer)).toEqual([400, "Workflows", "VALIDATION_ERROR"]);
        expect(answer.error?.message).toMatch(new RegExp(`^events\\.\\d: ${event} belongs to no room`));
      }
    },
  );

  it.each([-1, 6, 1.5, "2", null])("takes 0 to 5 retries, not %j", async (retries) => {
    const body = { name: "A workflow", code: CODE, events: ["user.created"], retries };
    const answer = await owner.api.post("/workflows", body);
    expect([answer.status, answer.error?.code]).toEqual([400, "VALIDATION_ERROR"]);
    expect(answer.error?.message).toContain("retries");
  });
});

describe("listing workflows", () => {
  it("ends a page with much code early, and continues on the next one", async () => {
    const code = commented("x".repeat(MAX_CODE_BYTES - commented("").length));
    const made: string[] = [];
    for (let index = 0; index < 20; index += 1) made.push((await create({ code })).id);
    const seen: string[] = [];
    let pages = 0;
    for (; seen.length < made.length && pages < made.length; pages += 1) {
      const { workflows, total } = await list({ limit: "100", offset: String(seen.length) });
      expect(total).toBe(made.length);
      seen.push(...workflows.map(({ id }) => id));
    }
    expect(seen.toSorted()).toEqual(made.toSorted());
    expect(pages).toBe(2);
  });

  it("shows each organization its own", async () => {
    await create();
    const stranger = await account();
    expect((await stranger.api.get("/workflows")).data).toMatchObject({ total: 0, workflows: [] });
  });
});

const retired = async (): Promise<unknown[]> =>
  (
    await env.DB.prepare("SELECT workflow_id, hash FROM retired_scripts WHERE account_id = ?")
      .bind(owner.id)
      .all()
  ).results;

describe("a retired script", () => {
  it("is recorded by the update that replaces it, and removed a minute later", async () => {
    const { workflow } = await TestWorkflow.create(owner.api);
    await patch(workflow.id, { code: commented("two") });
    expect(await retired()).toMatchObject([{ workflow_id: workflow.id }]);
    await runScheduledTasks(env, Date.now());
    expect(await retired()).toHaveLength(1);
    await owner.api.delete(`/workflows/${workflow.id}`);
    expect(await retired()).toHaveLength(2);
    await runScheduledTasks(env, Date.now() + 2 * MINUTE_MS);
    expect(await retired()).toEqual([]);
  });
});

describe("the versions of a workflow", () => {
  const versionsOf = async (id: string, query = "") =>
    (
      await owner.api.get<{ versions: WorkflowVersionSummary[]; total: number }>(
        `/workflows/${id}/versions${query}`,
      )
    ).data;
  const getVersion = (id: string, version: number | string, api = owner.api) =>
    api.get<{ version: WorkflowVersion }>(`/workflows/${id}/versions/${version}`);

  it("keep each code that was saved, with who saved it and when", async () => {
    const { id } = await create({ code: commented("one") });
    const changed = (await patch(id, { code: commented("two") })).data.workflow;
    expect(changed.version).toBe(2);
    // Neither the same code again nor another change is a version.
    expect((await patch(id, { code: commented("two") })).data.workflow.version).toBe(2);
    expect((await patch(id, { name: "Other" })).data.workflow.version).toBe(2);

    const { versions, total } = await versionsOf(id);
    expect([total, versions.map(({ version }) => version)]).toEqual([2, [2, 1]]);
    expect(versions[0]).toEqual({
      version: 2,
      saved_at: changed.updated_at,
      saved_by: { type: "key", id: expect.any(String), name: null },
      bytes: commented("two").length,
    });
    expect((await versionsOf(id, "?limit=1&offset=1")).versions.map(({ version }) => version)).toEqual([1]);
    expect((await getVersion(id, 1)).data.version).toMatchObject({ version: 1, code: commented("one") });
  });

  it.each(["DB", "DB_2"] as const)("name the member who saved one, in %s", async (place) => {
    owner = await account(place);
    const { id } = await create();
    const member = await addMember(owner.id, "member");
    const answer = await member.browser
      .api(owner.id)
      .patch(`/workflows/${id}`, { code: commented("theirs") });
    expect(answer.status).toBe(200);
    const saved_by = { type: "person", id: member.id, name: "Cleo" };
    const { versions } = await versionsOf(id);
    expect(versions).toMatchObject([{ saved_by }, { saved_by: { type: "key", name: null } }]);
    expect((await getVersion(id, 2)).data.version).toMatchObject({ saved_by });
  });

  it("are restored as new versions, and named by what ran them", async () => {
    const testWorkflow = await TestWorkflow.create(owner.api, "export default () => 'one';");
    const { id } = testWorkflow.workflow;
    const room = await owner.api.createRoom();
    const run = async () => (await testWorkflow.run("session.started", { roomId: room.id })).data.execution;
    expect(await run()).toMatchObject({ result: '"one"', version: 1 });
    await testWorkflow.change({ code: "export default () => 'two';" });
    expect(await run()).toMatchObject({ result: '"two"', version: 2 });
    const restored = await owner.api.post<{ workflow: Workflow }>(`/workflows/${id}/versions/1/restore`);
    expect(restored.data.workflow).toMatchObject({ version: 3, code: "export default () => 'one';" });
    expect(await run()).toMatchObject({ result: '"one"', version: 3 });
  });

  it("are the last 50, and end with their workflow", async () => {
    const { id } = await create();
    await env.DB.prepare("UPDATE workflows SET version = 49 WHERE id = ?").bind(id).run();
    await patch(id, { code: commented("50") });
    expect((await versionsOf(id)).versions.map(({ version }) => version)).toEqual([50, 1]);
    await patch(id, { code: commented("51") });
    expect((await versionsOf(id)).versions.map(({ version }) => version)).toEqual([51, 50]);
    await owner.api.delete(`/workflows/${id}`);
    expect((await owner.api.get(`/workflows/${id}/versions`)).status).toBe(404);
    const kept = env.DB.prepare("SELECT count(*) AS count FROM workflow_versions WHERE workflow_id = ?");
    expect(await kept.bind(id).first()).toEqual({ count: 0 });
  });

  it("are found in their organization only, by their number", async () => {
    const { id } = await create();
    const stranger = (await account()).api;
    expect((await getVersion(id, 1, stranger)).status).toBe(404);
    expect((await stranger.post(`/workflows/${id}/versions/1/restore`)).status).toBe(404);
    for (const version of [2, 0, "01", "-1", "one", "1e0", "9".repeat(30)]) {
      expect((await getVersion(id, version)).error).toMatchObject({ code: "NOT_FOUND" });
    }
  });
});
