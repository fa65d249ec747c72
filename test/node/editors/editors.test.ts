/** The starters of editors as someone installs and starts them: `npm ci` from their own locks, and Vite; and the guide's installations and snippets. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { EditorStories } from "../browser/editor-story.ts";
import { manifestOf, type Starter } from "../browser/starter.ts";
import { suggest } from "../browser/suggesting.ts";
import { run } from "../cli/processes.ts";
import { readBlocks, readDocument } from "../docs/markdown.ts";

const EDITORS = ["codemirror", "tiptap", "blocknote", "lexical"];

let stories: EditorStories;
beforeAll(async () => {
  stories = await EditorStories.prepare();
});
afterAll(() => stories?.dispose());

/** Ada comments on her text in BlockNote, and Bo answers. */
async function discuss(ada: Page, bo: Page): Promise<void> {
  await ada.keyboard.press("Shift+Home");
  await ada.getByRole("button", { name: "Add comment" }).click();
  await ada.locator(".bn-thread [contenteditable=true]").waitFor();
  await ada.keyboard.type("Is that all?");
  await ada.getByRole("button", { name: "Save" }).click();
  await bo.locator(".bn-thread-mark").first().click();
  await bo.getByText("Is that all?").waitFor();
  await bo.locator(".bn-thread-composer [contenteditable=true]").click();
  await bo.keyboard.type("It is");
  await bo.getByRole("button", { name: "Save" }).click();
  await ada.locator(".bn-thread-mark").first().click();
  await ada.getByText("It is", { exact: true }).waitFor();
}

/** The end of an editor's story, for features of that editor only. */
const END: Readonly<Record<string, typeof discuss>> = { blocknote: discuss };

/** The end of a starter's story, which has suggestions too. */
const STARTER_END: typeof END = {
  tiptap: suggest,
  blocknote: async (ada, bo) => {
    await discuss(ada, bo);
    await suggest(ada, bo, (page) => page.getByRole("button", { name: "Show changes" }).click());
  },
};

it.each(EDITORS)(
  "%s shows all the same text when two write at once, one returns, and the service was killed (D1)",
  (name) => stories.play(name, "locked", { end: STARTER_END[name] }),
);

/**
 * The guide's blocks about an editor: installation, page and, for BlockNote, the back end's first content, and
 * comments.
 */
async function blocksInGuide(editor: string): Promise<string[]> {
  const blocks = readBlocks(await readDocument("docs/guides/editors.md"));
  const starts = blocks.flatMap(({ language }, index) => (language === "sh" ? index : []));
  const [start, end] = starts.slice(EDITORS.indexOf(editor));
  return blocks.slice(start, end).map(({ code }) => code);
}

/** Packages that the guide installs for an editor beside `atrium`, with their versions. */
async function packagesInGuide(editor: string): Promise<string[]> {
  const [install = ""] = await blocksInGuide(editor);
  return install.split(/[\s\\]+/).filter((word) => !["npm", "install", "atrium"].includes(word));
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

/** Setup of the guide's reader: tokens, and the room. */
const READER = `
import { enter, find, OFFLINE, say, showPeople } from "./page.ts";
const { serverUrl, documents: address, token } = await enter();
const [, , , accountId, , roomId] = new URL(address).pathname.split("/");
const newToken = async () => token;
`;

const WATCH = `
function watch(provider) {
  showPeople(provider.awareness);
  provider.on("sync", (isSynced) => say(isSynced ? "Connected" : OFFLINE));
  provider.on("connection-close", () => say(OFFLINE));
}
`;

const SHOW_PAGE = `
import { createRoot } from "react-dom/client";
createRoot(find("main")).render(<Page />);
`;

/** How the page shows who is there and whether it is connected, which no snippet does. */
const AROUND: Readonly<Record<string, string>> = {
  codemirror: `
    showPeople(code.awareness);
    const report = () => say(code.status === "connected" ? "Connected" : OFFLINE);
    code.on("status", report);
    report();
  `,
  tiptap: `
    showPeople(provider.awareness);
    provider.on("synced", () => say("Connected"));
    provider.on("disconnect", () => say(OFFLINE));
  `,
  blocknote: `${WATCH} watch(provider); ${SHOW_PAGE}`,
  // The provider is Lexical's own, which connects it.
  lexical: `
    ${WATCH}
    const { connect } = WebsocketProvider.prototype;
    WebsocketProvider.prototype.connect = function () {
      watch(this);
      connect.call(this);
    };
    ${SHOW_PAGE}
  `,
};

/** Has a starter run the guide's snippets instead of its own editor and first block, in a room of their own. */
async function runGuide(editor: string, starter: Starter): Promise<void> {
  const [, page = "", first, comments = ""] = await blocksInGuide(editor);
  const placed = [comments, page]
    .join("\n")
    .replace("collaboration:", comments && "extensions: [comments], collaboration:")
    .replace('"https://atrium.example"', "serverUrl")
    .replace("wss://atrium.example", `\${serverUrl.replace("http", "ws")}`);
  const main = page.includes("react") ? "main.tsx" : "main.ts";
  await starter.rewrite(main, () => [READER, placed, AROUND[editor]].join("\n"));
  await starter.rewrite("tokens.ts", (text) => text.replace('ROOM = "editors"', 'ROOM = "guide"'));
  if (first === undefined) return;
  const backEnd = "let seed, roomId; const atrium = { documents: { seed: (...sent) => (seed = sent[2]) } };";
  const template = [backEnd, first, "export const firstBlock = () => seed;"];
  await starter.rewrite("template.ts", () => template.join("\n"));
}

it.each(EDITORS)("%s shows all the same text when the page is the guide's snippet (D1)", (name) =>
  stories.play(name, "locked", {
    change: (starter) => runGuide(name, starter),
    end: END[name],
  }),
);
