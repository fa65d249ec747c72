/** Links between documents lead to files and headings that exist. */
import { readdir, stat } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT, run } from "../cli/processes.ts";
import { listDocuments, readAnchors, readBlocks, readDocument, readLinks } from "./markdown.ts";

const documents = await listDocuments();
const { scripts } = JSON.parse(await readDocument("package.json")) as { readonly scripts: object };
const { stdout: usage } = await run(process.execPath, ["src/cli/dev.ts"], { cwd: ROOT });
const isElsewhere = (target: string): boolean => /^https?:/.test(target);

/** Why the link leads nowhere; null when it leads somewhere. */
async function findProblem(from: string, target: string): Promise<string | null> {
  const [file = "", anchor] = target.split("#");
  const to = file === "" ? from : path.posix.join(path.posix.dirname(from), file);
  const exists = await stat(path.join(ROOT, to)).then(
    () => true,
    () => false,
  );
  if (!exists) return `${to} does not exist`;
  if (anchor === undefined) return null;
  return readAnchors(await readDocument(to)).has(anchor) ? null : `${to} has no heading #${anchor}`;
}

describe.each(documents)("%s", (file) => {
  it("links only to files and headings that exist", async () => {
    const links = readLinks(await readDocument(file)).filter(({ target }) => !isElsewhere(target));
    const problems = await Promise.all(
      links.map(async ({ target, line }) => {
        const problem = await findProblem(file, target);
        return problem === null ? [] : [`${file}:${line}: ${problem}`];
      }),
    );
    expect(problems.flat()).toEqual([]);
  });

  it("names only scripts that exist", async () => {
    const named = [...(await readDocument(file)).matchAll(/npm run ([a-z:]+)(?: -- ([a-z]\w*))?/g)];
    const unknown = named.filter(([, script = "", name = ""]) =>
      script === "dev" ? name !== "" && !usage.includes(`\n  ${name} `) : !Object.hasOwn(scripts, script),
    );
    expect(unknown.map(([text]) => text)).toEqual([]);
  });

  it("names each column of a table, for those who hear it read", async () => {
    const lines = (await readDocument(file)).split("\n");
    const heads = lines.filter((line, index) => line.startsWith("|") && lines[index + 1]?.startsWith("| -"));
    expect(heads.filter((head) => /\|\s*\|/.test(head))).toEqual([]);
  });

  it("names a language for every fenced block", async () => {
    const text = await readDocument(file);
    const fences = text.split("\n").filter((line) => line.startsWith("```")).length;
    expect(fences).toBe(2 * readBlocks(text).length);
  });

  it("has no comments between its commands: zsh passes them on as arguments", async () => {
    const blocks = readBlocks(await readDocument(file));
    const commands = blocks.filter(({ language, file: name }) => language === "sh" && name === undefined);
    const commented = commands.flatMap(({ code }) => code.split("\n").filter((line) => /(^|\s)#/.test(line)));
    expect(commented).toEqual([]);
  });
});

it("docs/README.md lists every guide, and every other page of docs", async () => {
  const listed = readLinks(await readDocument("docs/README.md")).map(({ target }) => `docs/${target}`);
  const pages = documents.filter(
    (file) => /^docs\/((guides|quickstarts)\/)?[^/]+$/.test(file) && file !== "docs/README.md",
  );
  expect(listed).toEqual(expect.arrayContaining(pages));
});

it("docs/decisions/README.md lists every decision", async () => {
  const index = "docs/decisions/README.md";
  const listed = readLinks(await readDocument(index)).map(({ target }) => `docs/decisions/${target}`);
  const pages = documents.filter((file) => file.startsWith("docs/decisions/") && file !== index);
  expect(listed).toEqual(expect.arrayContaining(pages));
});

it("the README has at most 200 lines", async () => {
  expect((await readDocument("README.md")).split("\n").length - 1).toBeLessThanOrEqual(200);
});

it("the tables of docs/architecture.md name files that exist", async () => {
  const files = (await Promise.all(["src", "packages"].map(listFiles))).flat().map((file) => `/${file}`);
  const rows = (await readDocument("docs/architecture.md"))
    .split("\n")
    .filter((line) => line.startsWith("|"));
  const names = rows.flatMap((row) => [...row.matchAll(/`([a-z][\w/-]*)`/g)].map(([, name = ""]) => name));
  expect(names.length).toBeGreaterThan(30);
  const isThere = (name: string) =>
    files.some((file) => file.endsWith(`/${name}.ts`) || file.endsWith(`/${name}`));
  expect(names.filter((name) => !isThere(name))).toEqual([]);
});

const listFiles = async (folder: string): Promise<string[]> =>
  (await readdir(path.join(ROOT, folder), { recursive: true })).map((file) => `${folder}/${file}`);
const files = (await Promise.all(["src", "packages"].map(listFiles))).flat();
const others = await Promise.all(["test", "docs", "examples"].map(listFiles));
const known = [...files, ...others.flat(), ...(await readdir(ROOT))].map((file) => `/${file}`);
const folders = new Set(
  files.filter((file) => !path.basename(file).includes(".")).map((file) => path.basename(file)),
);

/** Whether the code in a text names a file of ours: `lists.ts`, or `http/lists` below a folder that exists. */
const isFileName = (code: string): boolean =>
  /^[\w./-]+\.tsx?$/.test(code) ||
  (/^[\w-]+(\/[\w-]+)+$/.test(code) && folders.has(code.split("/")[0] ?? ""));

it.each(documents.filter((file) => /^docs\/(decisions\/|architecture|glossary)|^CONTRIBUTING/.test(file)))(
  "%s names only files that exist",
  async (file) => {
    const text = (await readDocument(file)).replaceAll(/^```.*?^```/gms, "");
    const names = [...text.matchAll(/`([^`\n]+)`/g)].map(([, code = ""]) => code).filter(isFileName);
    const exists = (name: string) =>
      known.some((each) => each.endsWith(`/${name}`) || each.replace(/\.\w+$/, "").endsWith(`/${name}`));
    expect(names.filter((name) => !exists(name))).toEqual([]);
  },
);
