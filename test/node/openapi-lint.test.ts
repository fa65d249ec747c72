/** The description that the running service gives is one that tools for OpenAPI accept without a murmur. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ROOT, run } from "./processes.ts";
import { type SharedService, useSharedService } from "./shared-service.ts";

const LINTER = path.join(ROOT, "node_modules/@redocly/cli/bin/cli.js");

/** All that the linter recommends, but for what the contract of the API itself rules out. */
const CONFIG = `
extends: [recommended]
rules:
  # The contract has both /rooms/custom/{customId} and /rooms/{roomId}/socket; room ids are UUIDs, so none is "custom".
  no-ambiguous-paths: off
  # A WebSocket upgrade succeeds with 101; that every operation lists its successes is tested beside the endpoints.
  operation-2xx-response: off
`;

/** Neither news of other versions nor statistics: the linter stays off the network. */
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

/** Lints a document; gives the problems found, as the linter tells them to machines. */
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

it("passes every rule that the linter recommends", async () => {
  const response = await fetch(`${service?.url}/v1/openapi.json`);
  expect(response.status).toBe(200);
  const { totals, problems } = await lint(await response.text());
  expect(problems).toEqual([]);
  expect(totals).toMatchObject({ errors: 0, warnings: 0 });
});

it("is linted by rules that find something in a worse description", async () => {
  const { totals } = await lint(JSON.stringify({ openapi: "3.1.1", info: { title: "Empty" }, paths: {} }));
  expect(totals.errors).toBeGreaterThan(0);
});
