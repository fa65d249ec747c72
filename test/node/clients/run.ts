/** `npm run dev -- clients`: tries generated clients of the API, and the public suite of the Durable Streams protocol. */
import { spawn } from "node:child_process";
import { copyFile, mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { build } from "esbuild";
import { CommandError, runCommand } from "../../../src/cli/process/command.ts";
import { type Finished, ROOT, run } from "../cli/processes.ts";
import { type Service, startService } from "../cli/service.ts";
import { runStreamSuite } from "./stream-suite.ts";

const HELP = `Usage: npm run dev -- clients

Makes clients of the API with openapi-typescript and @hey-api/openapi-ts, compiles them under \`strict\`,
and lets them call a service of its own. Then runs the public suite of the Durable Streams protocol.`;

const HERE = import.meta.dirname;
/** Folder for the installed generators, and their output. */
const OUT = path.join(ROOT, ".wrangler/clients");
/** Files that npm needs to install the generators. */
const MANIFEST = ["package.json", "package-lock.json"];
const PROGRAMS = ["openapi-fetch", "hey-api"] as const;
/** A token has three parts; the default name of a key is the document's. */
const EXPECTED = "3 Ada API key NOT_FOUND";

const CONFIG = {
  compilerOptions: {
    ...{ strict: true, noEmit: true, target: "es2022", lib: ["es2024", "dom", "dom.iterable"] },
    ...{ module: "esnext", moduleResolution: "bundler", allowImportingTsExtensions: true },
    types: ["node"],
    typeRoots: [path.join(ROOT, "node_modules/@types")],
  },
  files: PROGRAMS.map((name) => `${name}.ts`),
};

/** Options of a usual application: imports in generated code have no extensions. */
const BUNDLED = { bundle: true, format: "esm", platform: "node", logLevel: "error" } as const;

const bin = (name: string): string => path.join(OUT, "node_modules/.bin", name);

async function succeed(step: string, running: Promise<Finished>): Promise<string> {
  const { exitCode, stdout, stderr } = await running;
  if (exitCode !== 0) throw new CommandError(`${step} failed:\n${stdout}${stderr}`);
  return stdout;
}

async function install(stop: AbortSignal): Promise<void> {
  await mkdir(OUT, { recursive: true });
  for (const name of MANIFEST) await copyFile(path.join(HERE, name), path.join(OUT, name));
  const npm = spawn("npm", ["ci", "--prefix", OUT, "--no-audit", "--no-fund"], {
    stdio: ["ignore", "ignore", "inherit"],
    shell: process.platform === "win32",
    signal: stop,
  });
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    npm.once("error", reject).once("close", resolve);
  });
  if (exitCode !== 0) throw new CommandError("npm ci of test/node/clients failed");
}

/** Writes the document and the generators' output. */
async function generate({ url }: Service): Promise<void> {
  const response = await fetch(`${url}/v1/openapi.json`);
  await writeFile(path.join(OUT, "openapi.json"), await response.text());
  const at = { cwd: OUT };
  await succeed(
    "openapi-typescript",
    run(bin("openapi-typescript"), ["openapi.json", "-o", "schema.ts"], at),
  );
  await succeed("openapi-ts", run(bin("openapi-ts"), ["-i", "openapi.json", "-o", "generated"], at));
  for (const name of PROGRAMS) {
    await copyFile(path.join(HERE, `${name}.ts.txt`), path.join(OUT, `${name}.ts`));
  }
  await writeFile(path.join(OUT, "tsconfig.json"), JSON.stringify(CONFIG));
}

async function main(stop: AbortSignal): Promise<void> {
  await install(stop);
  const service = await startService();
  try {
    await generate(service);
    await succeed("The compilation", run(bin("tsc"), ["--project", OUT, "--pretty", "false"]));
    console.log("Both clients compile under strict.");
    for (const name of PROGRAMS) {
      const outfile = path.join(OUT, `${name}.js`);
      await build({ ...BUNDLED, entryPoints: [path.join(OUT, `${name}.ts`)], outfile });
      const args = [outfile, service.url, service.accountId, service.bearer];
      const printed = (await succeed(name, run(process.execPath, args))).trim();
      if (printed !== EXPECTED) throw new CommandError(`${name} printed "${printed}", not "${EXPECTED}"`);
      console.log(`The client of ${name} called the service.`);
    }
    console.log("The suite of the Durable Streams protocol runs for about two minutes …");
    const { passed, failed } = await runStreamSuite(service, OUT);
    console.log(`${passed} tests of the suite passed. It skips those of subscriptions, which are optional.`);
    if (passed === 0 || failed.length > 0)
      throw new CommandError(`Tests of the suite failed:\n${failed.join("\n")}`);
  } finally {
    await service.kill();
  }
}

await runCommand(main, { help: HELP, interruptedExitCode: 130 });
