/** The running service's OpenAPI description passes a linter without problems. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ROOT, run } from "./processes.ts";
import { type SharedService, useSharedService } from "./shared-service.ts";

const LINTER = path.join(ROOT, "node_modules/@redocly/cli/bin/cli.js");

/** The linter's recommended rules, except those that contradict the API's contract. */
const CONFIG = `
extends: [recommended]
rules:
  # The contract has both /rooms/custom/{customId} and /rooms/{roomId}/socket, and the same for users; IDs are UUIDs,
  # so none is "custom".
  no-ambiguous-paths: off
  # A WebSocket upgrade succeeds with 101; that every operation lists its successes is tested beside the endpoints.
  operation-2xx-response: off
  info-contact: warn
`;

/** No update checks and no telemetry: the linter stays off the network. */
const OFFLINE = { REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };

let directory: string;
let service: SharedService | undefined;

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "atrium-openapi-"));
  service = await useSharedService();
});
afterAll(async () => {
  await rm(directory, { recursive: true, force: true });
});

/** Lints a document and returns the problems, from the linter's JSON output. */
async function lint(document: string): Promise<{ totals: Record<string, number>; problems: unknown[] }> {
  const file = path.join(directory, "openapi.json");
  const config = path.join(directory, "redocly.yaml");
  await writeFile(file, document);
  await writeFile(config, CONFIG);
  const args = [LINTER, "lint", file, "--config", config, "--format", "json"];
  const { stdout, stderr } = await run(process.execPath, args, { cwd: directory, env: OFFLINE });
  if (!stdout.startsWith("{")) throw new Error(stderr);
  return JSON.parse(stdout);
}

it("the OpenAPI description passes every recommended rule", async () => {
  const response = await fetch(`${service?.url}/v1/openapi.json`);
  expect(response.status).toBe(200);
  const { totals, problems } = await lint(await response.text());
  expect(problems).toEqual([]);
  expect(totals).toMatchObject({ errors: 0, warnings: 0 });
});

it("the rules find problems in an incomplete description", async () => {
  const { totals } = await lint(JSON.stringify({ openapi: "3.1.1", info: { title: "Empty" }, paths: {} }));
  expect(totals.errors).toBeGreaterThan(0);
});
