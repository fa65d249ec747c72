/** Colors samples. Loaded on demand, with the languages of the samples. */
import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";

// JSX within TypeScript is XML.
for (const [name, language] of Object.entries({ bash, typescript, xml }))
  hljs.registerLanguage(name, language);

const NAMES = { sh: "bash", ts: "typescript", tsx: "typescript" };

/** The sample as HTML, escaped, with the classes of `packages/style/code.css`. */
export const highlight = (text: string, language: keyof typeof NAMES): string =>
  hljs.highlight(text, { language: NAMES[language] }).value;
