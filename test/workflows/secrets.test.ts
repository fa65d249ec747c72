/** Secrets of workflows: over REST without their values, in runs with them, and sealed in the database. */
import { env } from "cloudflare:workers";
import { beforeEach, expect, it } from "vitest";
import { redact, resealSecrets, secretSealer } from "../../src/features/workflows/sealed-secrets.ts";
import { jwtSecrets } from "../../src/platform/config.ts";
import { openDatabase } from "../../src/platform/d1/d1.ts";
import type { RunReport } from "../../src/sandbox/runners/runner.ts";
import { type Account, account } from "../support/api.ts";
import { expectLogged } from "../support/log-guard.ts";
import { TestWorkflow } from "./test-workflow.ts";

const VALUE = "correct horse battery staple";
const CODE = `export default (_, { env }) => {
  console.log("have", env.TOKEN);
  return { names: Object.keys(env), length: env.TOKEN?.length ?? 0, token: env.TOKEN ?? null };
};`;

let owner: Account;
let roomId: string;
let greeter: TestWorkflow;

beforeEach(async () => {
  owner = await account();
  roomId = (await owner.api.createRoom()).id;
  greeter = await TestWorkflow.create(owner.api, CODE);
});

const set = (name: string, value: unknown = VALUE) =>
  owner.api.put(`${greeter.path}/secrets/${name}`, { value });
const names = async () =>
  (await owner.api.get<{ secrets: { name: string }[] }>(`${greeter.path}/secrets`)).data.secrets;
const run = async () => (await greeter.run("session.started", { roomId })).data.execution;
const returned = async () => JSON.parse((await run()).result);
const stored = () =>
  env.DB.prepare("SELECT name, key_id AS keyId, sealed FROM workflow_secrets WHERE workflow_id = ?")
    .bind(greeter.workflow.id)
    .all<{ name: string; keyId: string; sealed: string }>()
    .then(({ results }) => results);

/** Traces of a change: the workflow's row and the audit log. */
const traces = async () => [
  (await owner.api.get(greeter.path)).data,
  (await owner.api.get<{ entries: unknown[] }>("/audit")).data.entries,
];

it("a run reads a secret, and shows *** in its place", async () => {
  const answer = await set("TOKEN");
  expect(answer).toMatchObject({ status: 200, data: { secret: { name: "TOKEN" } } });
  const { result, logs } = await run();
  expect(JSON.parse(result)).toEqual({ names: ["TOKEN"], length: VALUE.length, token: "***" });
  expect(logs.map(({ message }) => message)).toEqual(["have ***"]);
});

it("is listed by name without its value, replaced, and deleted, for the very next run", async () => {
  await set("TOKEN");
  const { data } = await set("TOKEN", "another value");
  await set("_other2");
  expect(data.secret).toEqual({
    name: "TOKEN",
    created_at: expect.any(String),
    updated_at: expect.any(String),
  });
  expect(await names()).toEqual([data.secret, expect.objectContaining({ name: "_other2" })]);
  expect(await returned()).toMatchObject({ length: "another value".length });
  expect(await owner.api.delete(`${greeter.path}/secrets/TOKEN`)).toMatchObject({ status: 200 });
  expect(await returned()).toEqual({ names: ["_other2"], length: 0, token: null });
  const before = await traces();
  expect(await owner.api.delete(`${greeter.path}/secrets/TOKEN`)).toMatchObject({
    status: 404,
    error: { message: "Secret not found" },
  });
  expect(await traces()).toEqual(before);
});

it("is refused with a bad name or value, and beyond 50", async () => {
  expect(await set("1st")).toMatchObject({ status: 400, error: { code: "BAD_REQUEST" } });
  expect(await set("a-b")).toMatchObject({
    error: {
      message:
        "The secret's name: must have letters, digits and underscores only, and not begin with a digit",
    },
  });
  expect(await set("a".repeat(65))).toMatchObject({ status: 400 });
  for (const value of ["1234567", "é".repeat(2049), "12345678\0", 12345678])
    expect(await set("TOKEN", value)).toMatchObject({ status: 400, error: { code: "VALIDATION_ERROR" } });
  await set("TOKEN");
  await env.DB.prepare(
    `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 49)
     INSERT INTO workflow_secrets SELECT account_id, workflow_id, 'S' || n, 0, 0, key_id, sealed
     FROM workflow_secrets, numbers WHERE workflow_id = ?`,
  )
    .bind(greeter.workflow.id)
    .run();
  const before = await traces();
  expect(await set("ONE_MORE")).toMatchObject({ status: 409, error: { code: "CONFLICT" } });
  expect(await traces()).toEqual(before);
  expect(await set("TOKEN")).toMatchObject({ status: 200 });
  await owner.api.delete(greeter.path); // under other names, their values cannot be opened
});

it("is of no use in another workflow of the same organization, and goes with its own", async () => {
  await set("TOKEN");
  const other = await TestWorkflow.create(owner.api, CODE);
  await env.DB.prepare("UPDATE workflow_secrets SET workflow_id = ? WHERE workflow_id = ?")
    .bind(other.workflow.id, greeter.workflow.id)
    .run();
  const { data } = await other.run("session.started", { roomId });
  expect(data.execution).toMatchObject({
    status: "failed",
    result: "The secret TOKEN can no longer be decrypted; set it again",
  });
  expectLogged("A secret of a workflow could not be decrypted: Decryption failed");
  await owner.api.delete(other.path);
  const left = await env.DB.prepare("SELECT count(*) AS left FROM workflow_secrets WHERE workflow_id = ?")
    .bind(other.workflow.id)
    .first();
  expect(left).toEqual({ left: 0 });
});

it("is sealed again with the deployment's new secret, after which the old one is not needed", async () => {
  await set("TOKEN");
  const [before] = await stored();
  expect(JSON.stringify(before)).not.toContain(VALUE);
  const [current] = jwtSecrets(env);
  const replacement = "a newer secret of the tests and of nothing else";
  const db = openDatabase(env.DB);
  const log = (message: string, error: unknown) => {
    throw new Error(message, { cause: error });
  };
  await resealSecrets(db, secretSealer([current]), log);
  expect(await stored()).toEqual([before]);
  await resealSecrets(db, secretSealer([replacement, current]), log);
  const [after] = await stored();
  expect(after?.keyId).not.toBe(before?.keyId);
  const place = [owner.id, greeter.workflow.id, "TOKEN"];
  const onlyNew = secretSealer([replacement]);
  expect(await onlyNew.open({ keyId: after?.keyId ?? "", sealed: after?.sealed ?? "" }, place)).toBe(VALUE);
});

it("that cannot be opened is reported once, and holds up no other, however many there are", async () => {
  await set("TOKEN");
  const lost = 150;
  await env.DB.prepare(
    `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)
     INSERT INTO workflow_secrets SELECT account_id, workflow_id, 'S' || n, 0, 0, key_id, sealed
     FROM workflow_secrets, numbers WHERE workflow_id = ?`,
  )
    .bind(lost, greeter.workflow.id)
    .run();
  const other = await TestWorkflow.create(owner.api, CODE);
  await owner.api.put(`${other.path}/secrets/LATEST`, { value: VALUE });
  const replacement = secretSealer(["a newer secret of the tests", ...jwtSecrets(env)]);
  const logged: string[] = [];
  const reported = () => logged.filter((message) => message.includes(greeter.workflow.id));
  const reseal = () => resealSecrets(openDatabase(env.DB), replacement, (message) => logged.push(message));
  await reseal();
  expect(new Set(reported()).size).toBe(lost);
  await reseal();
  expect(reported()).toHaveLength(lost);
  const { keyId } = await replacement.seal(VALUE, []);
  const { results } = await env.DB.prepare(
    "SELECT name FROM workflow_secrets WHERE key_id = ? AND workflow_id IN (?, ?) ORDER BY name",
  )
    .bind(keyId, greeter.workflow.id, other.workflow.id)
    .all();
  expect(results).toEqual([{ name: "LATEST" }, { name: "TOKEN" }]);
  await owner.api.delete(`${greeter.path}/secrets/TOKEN`);
  expect(await run()).toMatchObject({
    status: "failed",
    result: expect.stringMatching(/^The secret S\d+ can no longer be decrypted; set it again$/),
  });
  expectLogged("A secret of a workflow could not be decrypted: The key of a sealed text is not known");
});

// Secrets in logs and results of runs.

const VALUE_OF_REDACTION = 'top "secret"\n\\value';
const SECRETS = [
  ["KEY", VALUE_OF_REDACTION],
  ["PIN", "12345678"],
  ["LONGER", "12345678-and-more"],
] as const;

const reportOf = (status: RunReport["status"], result: string, message = ""): RunReport => ({
  status,
  result,
  logs: [{ level: "log", message, timestamp: "2026-01-31T09:30:00.000Z" }],
  durationMs: 1,
  ranMs: 0,
  isKilled: false,
});

it("leaves a log line without the values, as they are and as JSON writes them, the longest first", () => {
  const message = `a ${VALUE_OF_REDACTION} b ${JSON.stringify({ VALUE: VALUE_OF_REDACTION })} c 12345678-and-more d 12345678`;
  expect(redact(reportOf("success", "null", message), SECRETS).logs[0]?.message).toBe(
    'a *** b {"VALUE":"***"} c *** d ***',
  );
});

it("leaves a failure without them", () => {
  const { result } = redact(
    reportOf("failed", `Error: ${VALUE_OF_REDACTION} (line 3)\n    at f (line 3)`),
    SECRETS,
  );
  expect(result).toBe("Error: *** (line 3)\n    at f (line 3)");
});

it("leaves a result valid JSON, whichever of its parts has one", () => {
  const value = {
    [`key ${VALUE_OF_REDACTION}`]: [
      `in ${VALUE_OF_REDACTION}!`,
      12345678,
      -1.5e3,
      true,
      null,
      'plain \\ "text"',
    ],
  };
  const { result } = redact(reportOf("success", JSON.stringify(value)), SECRETS);
  expect(JSON.parse(result)).toEqual({
    "key ***": ["in ***!", "***", -1500, true, null, 'plain \\ "text"'],
  });
});

it("reads very long and very deep results", () => {
  const deep = `${"[".repeat(100_000)}"12345678"${"]".repeat(100_000)}`;
  expect(redact(reportOf("success", deep), SECRETS).result).toBe(deep.replace("12345678", "***"));
  const long = JSON.stringify("x\\".repeat(100_000));
  expect(redact(reportOf("success", long), SECRETS).result).toBe(long);
});
