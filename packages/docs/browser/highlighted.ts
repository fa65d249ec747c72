/** Samples with their colors, as classes of highlight.js: the build colors the guides, and the browser what the Worker has rendered. */
import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import css from "highlight.js/lib/languages/css";
import json from "highlight.js/lib/languages/json";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";

// JSX within TypeScript is XML, and so is a page with its styles.
const LANGUAGES = { bash, css, json, typescript, xml };
for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language);

export type Language = keyof typeof LANGUAGES;

/** The sample as markup, escaped. */
export const highlighted = (text: string, language: Language): string =>
  hljs.highlight(text, { language }).value;
