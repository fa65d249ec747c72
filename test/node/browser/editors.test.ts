/** The starters of editors as they stand, with this repository's packages: `npm run dev -- editors` has them all, from their locks. */
import { afterAll, it } from "vitest";
import { EditorStories } from "./editor-story.ts";
import { expectTestedVersions } from "./starter.ts";
import { suggest } from "./suggesting.ts";

/** CodeMirror over our own wire, Tiptap over Hocuspocus'. */
const EDITORS = ["codemirror", "tiptap"];

/** The end of an editor's story: in Tiptap, a suggestion is reviewed. */
const END: Readonly<Record<string, typeof suggest>> = { tiptap: suggest };

/** Against hanging, not against being slow: a story installs, compiles and builds a starter, and restarts the service. */
const STORY_MS = 400_000;

const stories = await EditorStories.prepare();

afterAll(() => stories.dispose());

it.each(EDITORS)("%s pins the versions that are tested here", expectTestedVersions);

it.each(EDITORS)(
  "%s shows all the same text when two write at once, one returns, and the service was killed (D1)",
  (name) => stories.play(name, "linked", { end: END[name] }),
  STORY_MS,
);
