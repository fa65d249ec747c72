/** The starters of editors as someone installs and starts them: `npm ci` from their own locks, and Vite; and the guide's installations. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { EditorStories } from "../browser/editor-story.ts";
import { manifestOf } from "../browser/starter.ts";
import { readBlocks, readDocument } from "../docs/markdown.ts";
import { run } from "../node/processes.ts";

const EDITORS = ["codemirror", "tiptap", "blocknote", "lexical"];

let stories: EditorStories;
beforeAll(async () => {
  stories = await EditorStories.prepare();
});
afterAll(() => stories?.dispose());

it.each(EDITORS)(
  "%s shows all the same text when two write at once, one returns, and the service was killed (D1)",
  (name) => stories.play(name, "locked"),
);

/** What the guide has installed for an editor, beside `atrium`: packages with their versions. */
async function packagesInGuide(editor: string): Promise<string[]> {
  const blocks = readBlocks(await readDocument("docs/guides/editors.md"));
  const install = blocks.filter(({ language }) => language === "sh")[EDITORS.indexOf(editor)];
  return (install?.code ?? "")
    .split(/[\s\\]+/)
    .filter((word) => !["npm", "install", "atrium"].includes(word));
}

it.each(EDITORS)(
  "%s is installed by the guide's line in the starter's versions, with one Yjs",
  async (editor) => {
    const [packages, { dependencies }] = await Promise.all([
      packagesInGuide(editor),
      manifestOf(`examples/${editor}`),
    ]);
    const starter = Object.entries(dependencies).map(([name, version]) => `${name}@${version}`);
    expect(packages).not.toHaveLength(0);
    expect(starter).toEqual(expect.arrayContaining(packages));
    const cwd = await mkdtemp(path.join(tmpdir(), "atrium-guide-"));
    try {
      await writeFile(path.join(cwd, "package.json"), "{}");
      const options = ["--package-lock-only", "--no-audit", "--no-fund"];
      expect(await run("npm", ["install", ...options, ...packages], { cwd })).toMatchObject({ exitCode: 0 });
      const lock: unknown = JSON.parse(await readFile(path.join(cwd, "package-lock.json"), "utf8"));
      const copies = Object.keys(Object(Object(lock).packages)).filter((place) =>
        /\/(yjs|lexical)$/.test(place),
      );
      const own = copies.filter((place) => !place.includes("/@"));
      expect(own.sort()).toEqual([
        ...(editor === "lexical" ? ["node_modules/lexical"] : []),
        "node_modules/yjs",
      ]);
    } finally {
      await rm(cwd, { recursive: true });
    }
  },
);
