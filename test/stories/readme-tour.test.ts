/** The README's five-minute tour, done as it is printed. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ROOT, run } from "../node/processes.ts";
import { type SharedService, useSharedService } from "../node/shared-service.ts";

const BLOCK = /<!-- tour(?:: (.*?))? -->\n```sh\n([\s\S]*?)```/g;

/** Whoever goes on at once looks again: a socket's end takes its moment to reach the room. */
const lookAgain = (commands: string, expected: string) => `
SECONDS=0
until SAID=$(${commands.trim()}); [ "$SAID" = "${expected}" ] || [ $SECONDS -gt 30 ]; do :; done
echo "said: $SAID"
`;

let service: SharedService;
let directory: string;

beforeAll(async () => {
  service = await useSharedService();
  directory = await mkdtemp(path.join(tmpdir(), "atrium-tour-"));
});
afterAll(() => rm(directory, { recursive: true }));

it("the README's tour ends as it says", async () => {
  const readme = await readFile(path.join(ROOT, "README.md"), "utf8");
  const blocks = [...readme.matchAll(BLOCK)].map(([, printed, commands = ""]) => ({ printed, commands }));
  expect(blocks.length).toBeGreaterThanOrEqual(5);
  const script = blocks
    .map(({ printed, commands }) => (printed === undefined ? commands : lookAgain(commands, printed)))
    // A person reads the answer to JOIN_ROOM before going on.
    .map((commands) => commands.replace("& ADA=$!", "> joined & ADA=$!\nuntil [ -s joined ]; do :; done"))
    .join("")
    .replaceAll("localhost:8787", `localhost:${service.port}`)
    .replace("PATH=$PWD", `PATH=${ROOT}`);
  const { accountId, apiKey } = service;
  const { exitCode, stdout, stderr } = await run("bash", ["-euc", script], {
    cwd: directory,
    env: { ACCOUNT_ID: accountId, API_KEY: apiKey },
  });
  expect(stderr).toBe("");
  const said = [...stdout.matchAll(/^said: (.*)$/gm)].map(([, text]) => text);
  expect([exitCode, said]).toEqual([0, blocks.flatMap(({ printed }) => printed ?? [])]);
  const joined = JSON.parse((await readFile(path.join(directory, "joined"), "utf8")).split("\n")[0] ?? "");
  expect(joined).toMatchObject({
    type: "response",
    success: true,
    data: { user: { name: "Ada", status: "online" } },
  });
});
