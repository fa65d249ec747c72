/** `npm run dev -- NAME`: the commands of those who maintain Atrium. */
import { spawn } from "node:child_process";

const script = (file: string): string[] => ["node", "--import", "./src/cli/node-version.js", file];

const COMMANDS: Readonly<Record<string, readonly [sentence: string, command: readonly string[]]>> = {
  bench: [
    "Compares Atrium with baselines; the first argument is the benchmark.",
    script("test/node/bench/run.ts"),
  ],
  clients: [
    "Generates API clients, compiles them, and lets them call the service.",
    script("test/node/clients/run.ts"),
  ],
  editors: [
    "Tests the starters of four editors, each installed from its own lock.",
    ["vitest", "run", "--config", "test/vitest.config.ts", "--project", "editors"],
  ],
  endurance: ["Runs the randomized tests as long as its options say.", script("test/node/endurance/run.ts")],
  house: [
    "Prints the bytes and exports of each part, and the modules of four warm paths.",
    script("test/node/house/run.ts"),
  ],
  migrations: [
    "Writes the migration of D1 that the tables of src/**/table.ts need.",
    [
      "drizzle-kit",
      "generate",
      "--dialect",
      "sqlite",
      "--schema",
      "./src/**/table.ts",
      "--out",
      "./migrations",
    ],
  ],
  mutants: [
    "Plants known bugs of security, one at a time, and counts those that tests notice.",
    script("test/node/mutants/run.ts"),
  ],
  screenshots: ["Takes the pictures of the documentation again.", script("test/node/browser/screenshots.ts")],
  sdk: ["Writes the methods of the server SDK that the endpoints declare.", script("src/cli/sdk.ts")],
};

const [name = "", ...args] = process.argv.slice(2);
const [, command] = Object.hasOwn(COMMANDS, name) ? (COMMANDS[name] ?? []) : [];
if (command === undefined) {
  console.log("Usage: npm run dev -- NAME [OPTIONS]\n");
  for (const [each, [sentence]] of Object.entries(COMMANDS)) console.log(`  ${each.padEnd(13)}${sentence}`);
  process.exitCode = name === "" ? 0 : 1;
} else {
  const [program = "", ...given] = command;
  const child = spawn(program, [...given, ...args], { stdio: "inherit" });
  process.on("SIGINT", () => {}); // the terminal sends it to the child as well
  process.on("SIGTERM", () => child.kill("SIGTERM"));
  child.once("close", (code) => {
    process.exitCode = code ?? 1;
  });
}
