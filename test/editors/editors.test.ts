/** The starters of editors as someone installs and starts them: `npm ci` from their own locks, and Vite. */
import { afterAll, beforeAll, it } from "vitest";
import { EditorStories } from "../browser/editor-story.ts";

let stories: EditorStories;
beforeAll(async () => {
  stories = await EditorStories.prepare();
});
afterAll(() => stories?.dispose());

it.each(["codemirror", "tiptap", "blocknote", "lexical"])(
  "%s shows all the same text when two write at once, one returns, and the service was killed (D1)",
  (name) => stories.play(name, "locked"),
);
