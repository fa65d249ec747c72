/**
 * Events run a workflow with retries and one without while the service is killed: each ends, and actions of
 * runs happen once.
 */

import type { Comment } from "@atrium/contract/resources/comment.ts";
import type { StorageFile } from "@atrium/contract/resources/file.ts";
import type { WorkflowExecution } from "@atrium/contract/rest/workflow-executions.ts";
import type { Workflow } from "@atrium/contract/rest/workflows.ts";
import { expect } from "vitest";
import type { Random } from "../../support/random.ts";
import { eventually } from "../cli/processes.ts";
import { Customer } from "../stories/client.ts";
import type { KillableService } from "./killable-service.ts";

const EVENTS_PER_KILL = 4;
const RETRIES = 1;
/** About as long as the runs of these events take. */
const MAX_LATE_MS = 40;
/** Every sixth event fails each time, and the one after it once. The first few do neither, as retries wait. */
const FAILING_EVERY = 6;

/** The number of an event is its user's name. */
const isFailing = (number: number): boolean => number % FAILING_EVERY === FAILING_EVERY - 1;

const codeOf = (author: string): string => `export default async ({ user }, { actions, attempt }) => {
  const number = Number(user.name);
  await actions.comments.create({ userId: "${author}", text: "begin " + number });
  await new Promise((go) => setTimeout(go, number % 7));
  await actions.comments.create({ userId: "${author}", text: "end " + number });
  const turn = number % ${FAILING_EVERY};
  if (turn === ${FAILING_EVERY - 1} || (turn === ${FAILING_EVERY - 2} && attempt === 1)) throw new Error("on purpose");
  return number;
};`;

/** Each run leaves a file of its own, which nothing merges with that of another run. */
const LEAVES_A_FILE = `export default async ({ user }, { files }) => {
  await files.put("run " + user.name, "x");
  await new Promise((go) => setTimeout(go, Number(user.name) % 7));
  return Number(user.name);
};`;

/** Kills the service this often, a few events after each start, and checks the outcome of every event. */
export async function killUnderWorkflows(
  service: KillableService,
  kills: number,
  random: Random,
): Promise<{ readonly events: number }> {
  const customer = new Customer(service, service.organization);
  const { id: roomId } = await customer.createRoom();
  const { id: author } = await customer.createUser(roomId, "Author");
  const create = async (name: string, code: string, retries: number): Promise<Workflow> => {
    const body = { name, code, events: ["user.created"], roomId, retries };
    return (await customer.send<{ workflow: Workflow }>("POST", "/workflows", body)).data.workflow;
  };
  const repeated = await create("Two comments", codeOf(author), RETRIES);
  const unrepeated = await create("A file", LEAVES_A_FILE, 0);
  let events = 0;
  for (let kill = 0; kill < kills; kill += 1) {
    for (let created = 0; created < EVENTS_PER_KILL; created += 1) {
      await customer.createUser(roomId, `${events}`);
      events += 1;
    }
    await new Promise((resolve) => setTimeout(resolve, random(MAX_LATE_MS)));
    await service.kill();
    await service.start();
  }
  const executionsOf = async ({ id }: Workflow) => {
    const path = `/workflows/${id}/executions?limit=100`;
    return (await customer.send<{ executions: WorkflowExecution[] }>("GET", path)).data.executions;
  };
  for (const workflow of [repeated, unrepeated]) {
    await eventually("every event is over", async () => (await executionsOf(workflow)).length === events);
  }

  const numbers = Array.from({ length: events }, (_, number) => number);
  const ended = await executionsOf(repeated);
  const results = resultsOf(ended);
  expect(new Set(results)).toEqual(new Set(numbers.filter((number) => !isFailing(number))));
  const failed = ended.filter(({ status }) => status === "failed");
  expect(failed.map(({ attempts }) => attempts)).toEqual(numbers.filter(isFailing).map(() => 1 + RETRIES));
  const path = `/rooms/${roomId}/comments?limit=100`;
  const { comments } = (await customer.send<{ comments: Comment[] }>("GET", path)).data;
  const texts = comments.map(({ text }) => text);
  expect(texts.toSorted()).toEqual(
    numbers.flatMap((number) => [`begin ${number}`, `end ${number}`]).toSorted(),
  );
  const { files } = (
    await customer.send<{ files: StorageFile[] }>("GET", `/files?roomId=${roomId}&limit=100`)
  ).data;
  expectAtMostOnce(await executionsOf(unrepeated), files);
  return { events };
}

const resultsOf = (executions: readonly WorkflowExecution[]): number[] =>
  executions.filter(({ status }) => status === "success").map(({ result }) => Number(result));

/** Each run that was not cut off left its file; each that was cut off left none, or one, and is recorded as failed. */
function expectAtMostOnce(executions: readonly WorkflowExecution[], files: readonly StorageFile[]): void {
  const names = files.map(({ filename }) => filename);
  expect(names.toSorted()).toEqual([...new Set(names)].toSorted());
  expect(names).toEqual(expect.arrayContaining(resultsOf(executions).map((number) => `run ${number}`)));
  for (const { status, attempts, result } of executions) {
    if (status === "success") expect(attempts).toBe(1);
    else expect(result).toMatch(/^The run was interrupted by a restart/);
  }
}
