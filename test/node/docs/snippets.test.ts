/** Every TypeScript snippet of the README and the guides compiles under `strict`, against the SDK's sources. */
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, expect, it } from "vitest";
import { SNIPPETS } from "../../../examples/demo/panels/snippets.ts";
import { snippetsOf } from "../../../packages/dashboard/overview/snippets.ts";
import { ENTRIES } from "../../../src/cli/package/manifest.ts";
import { ROOT, run } from "../cli/processes.ts";
import { type Block, listDocuments, readBlocks, readDocument } from "./markdown.ts";

const LANGUAGES = ["ts", "tsx"];
const TSC = path.join(ROOT, "node_modules/.bin/tsc");
const DECLARATIONS = ["snippet-globals.d.ts", "snippet-modules.d.ts"];
const PATHS = Object.fromEntries(
  Object.entries(ENTRIES).map(([entry, file]) => [`atrium/${entry}`, [path.join(ROOT, "src", file)]]),
);

const KEYS = { serverUrl: "http://localhost:8787", accountId: "1", roomId: null, userId: null };
const QUICKSTART = snippetsOf({ ...KEYS, token: null, apiKey: null }).filter(
  ({ language }) => language !== "sh",
);

const CONFIG = {
  extends: path.join(ROOT, "tsconfig.json"),
  compilerOptions: {
    lib: ["es2024", "dom", "dom.iterable"],
    types: ["node", "vite/client"],
    jsx: "react-jsx",
    noUnusedLocals: false,
    noUnusedParameters: false,
    paths: PATHS,
  },
  include: ["."],
  exclude: [],
};

await mkdir(path.join(ROOT, ".wrangler"), { recursive: true });
const parent = await mkdtemp(path.join(ROOT, ".wrangler/snippets-")); // a folder that reaches node_modules

afterAll(() => rm(parent, { recursive: true, force: true }));

/** A module whose lines have the numbers that they have in the document. */
const moduleOf = ({ code, line }: Block): string => `${"\n".repeat(line - 1)}${code}\nexport {};\n`;

/** Types that a snippet registers are those of its whole program, so these get one of their own, and register the same. */
const isRegistering = ({ code }: Block): boolean => code.includes("interface Register ");

it.each([
  ["the snippets compile", false, 20],
  ["the snippets that register an application's types compile", true, 0],
] as const)("%s", { timeout: 120_000 }, async (_, registering, atLeast) => {
  const directory = await mkdtemp(path.join(parent, "program-"));
  /** The document of each module. */
  const origins = new Map<string, string>();
  for (const file of await listDocuments()) {
    const blocks = readBlocks(await readDocument(file));
    for (const block of blocks.filter(({ language }) => LANGUAGES.includes(language))) {
      if (isRegistering(block) !== registering) continue;
      // Files of a page import each other; of a file that is changed, the last text counts.
      const folder = path.basename(file, ".md");
      const name = block.file ? `${folder}/${block.file}` : `snippet-${origins.size}.${block.language}`;
      await mkdir(path.dirname(path.join(directory, name)), { recursive: true });
      origins.set(name, file);
      await writeFile(path.join(directory, name), moduleOf(block));
    }
  }
  for (const { name, language, text } of registering ? [] : QUICKSTART) {
    const file = `snippet-${origins.size}.${language}`;
    origins.set(file, `the dashboard's sample for ${name}`);
    await writeFile(path.join(directory, file), text);
  }
  for (const { title, code } of registering ? [] : SNIPPETS) {
    const file = `snippet-${origins.size}.tsx`;
    origins.set(file, `what the demo shows for ${title}`);
    await writeFile(path.join(directory, file), code);
  }
  expect(origins.size).toBeGreaterThan(atLeast);
  for (const file of DECLARATIONS) await cp(path.join(import.meta.dirname, file), path.join(directory, file));
  await writeFile(path.join(directory, "tsconfig.json"), JSON.stringify(CONFIG));

  const { stdout } = await run(TSC, ["--project", directory, "--pretty", "false", "--checkers", "1"], {
    cwd: directory,
  });
  const problems = stdout.replaceAll(
    /^(\S+\.tsx?)\((\d+),(\d+)\)/gm,
    (_, name: string, line: string, column: string) => `${origins.get(name)}:${line}:${column}`,
  );
  expect(problems).toBe("");
});
