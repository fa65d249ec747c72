/** Workflows through `atrium/server`: created, run and inspected. */
import { beforeAll, describe, expect, it } from "vitest";
import { AtriumServer } from "../../src/sdk/server/index.ts";
import { eventually } from "../cli/processes.ts";
import { type SharedService, useSharedService } from "../cli/shared-service.ts";

describe("AtriumServer.workflows", () => {
  let service: SharedService;
  let atrium: AtriumServer;
  let roomId: string;

  beforeAll(async () => {
    service = await useSharedService();
    const { url: serverUrl, accountId, apiKey } = service;
    atrium = new AtriumServer({ serverUrl, accountId, apiKey });
    roomId = (await atrium.rooms.create({ name: "Weekly planning" })).id;
  });

  it("creates, finds, updates and deletes workflows", async () => {
    const { workflows } = atrium;
    const code = "export default () => 1;";
    const created = await workflows.create({ name: "Count", code, events: ["session.closed"], roomId });
    expect(created).toMatchObject({ code, events: ["session.closed"], room_id: roomId, enabled: true });
    expect(await workflows.get(created.id)).toEqual(created);
    expect(await workflows.list({ search: "COUNT", limit: 1 })).toEqual({
      workflows: [created],
      total: 1,
      limit: 1,
      offset: 0,
    });
    const changes = { name: "Sum", events: ["session.started"], enabled: false } as const;
    expect(await workflows.update(created.id, { ...changes, roomId: null })).toMatchObject({
      ...changes,
      room_id: null,
    });
    await workflows.update(created.id, { code: "export default () => 2;" });
    const { versions } = await workflows.listVersions(created.id, { limit: 1 });
    expect(versions).toMatchObject([{ version: 2, saved_by: { type: "key" } }]);
    expect(await workflows.getVersion(created.id, 1)).toMatchObject({ version: 1, code });
    expect(await workflows.restoreVersion(created.id, 1)).toMatchObject({ version: 3, code });
    await workflows.delete(created.id);
    await expect(workflows.get(created.id)).rejects.toMatchObject({ code: "NOT_FOUND", module: "Workflows" });
  });

  it("runs a workflow, which has a secret and acts in its room, and returns its result and logs", async () => {
    const code = `
      import type { Workflow } from "atrium/workflow";
      const greet: Workflow<"user.created"> = async ({ user }, { room, env, actions }) => {
        console.log("Hello", user.name, env.TOKEN);
        await actions.stores.set("greeted", user.name, { tokenLength: env.TOKEN.length });
        return { room: (await room.get())?.name };
      };
      export default greet;`;
    const { id } = await atrium.workflows.create({ name: "Greet", code, events: ["user.created"], roomId });
    await atrium.workflows.setSecret(id, "TOKEN", "a token of another service");
    const { id: userId } = await atrium.users.create({ roomId, name: "Ada" });
    const execution = await atrium.workflows.run(id, "user.created", { roomId, userId });
    expect(execution).toMatchObject({
      workflow_id: id,
      status: "success",
      result: '{"room":"Weekly planning"}',
      logs: [{ level: "log", message: "Hello Ada ***" }],
    });
    expect(await atrium.stores.get(roomId, "greeted", "Ada")).toMatchObject({ value: { tokenLength: 26 } });
    const { executions } = await atrium.workflows.listExecutions(id, { limit: 10 });
    expect(executions).toContainEqual(execution);
  });

  it("starts a workflow by the clock and by requests", async () => {
    const { workflows } = atrium;
    const schedule = { cron: "0 0 1 1 *", timezone: "Europe/Berlin" };
    const code = "export default ({ data }) => data.payload.order;";
    const created = await workflows.create({ name: "Order", code, events: [], schedule, httpTrigger: true });
    expect(created).toMatchObject({ schedule, http_trigger: true, trigger_secret_created_at: null });
    expect(created.next_run_at).toMatch(/-12-31T23:00:00\.000Z$/);
    const { id } = await workflows.trigger(created.id, { order: 8731 });
    await eventually("the run is finished", async () => {
      const execution = await workflows.getExecution(created.id, id);
      return execution.status === "success" && execution.result === "8731";
    });
    const { trigger_secret } = await workflows.rotateTriggerSecret(created.id);
    expect(trigger_secret).toMatch(/^whsec_/);
    expect(await workflows.deleteTriggerSecret(created.id)).toMatchObject({
      trigger_secret_created_at: null,
    });
  });

  it("rejects invalid code with the line and column of the error", async () => {
    const creation = atrium.workflows.create({
      name: "Wrong",
      code: "export default () => {\n  return 1 +;\n};",
      events: ["user.created"],
    });
    await expect(creation).rejects.toMatchObject({ code: "VALIDATION_ERROR", module: "Workflows" });
    await expect(creation).rejects.toThrow("code: line 2, column 13");
  });

  it("returns the error of a run that fails", async () => {
    const code = "export default (event) => {\n  return event.missing.name;\n};";
    const { id } = await atrium.workflows.create({ name: "Fail", code, events: ["session.closed"], roomId });
    const { status, result } = await atrium.workflows.run(id, "session.closed", { roomId });
    expect({ status, result }).toEqual({
      status: "failed",
      result: expect.stringMatching(/^TypeError: .*missing.* \(line 2\)|^TypeError: .* \(line 2\)/),
    });
  });
});
