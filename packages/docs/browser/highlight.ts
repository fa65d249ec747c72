/** Colors the samples of a page, which are plain text without it. */
import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import css from "highlight.js/lib/languages/css";
import json from "highlight.js/lib/languages/json";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";

// JSX within TypeScript is XML, and so is a page with its styles.
const LANGUAGES = { bash, css, json, typescript, xml };
for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language);

export function highlightSamples(): void {
  for (const code of document.querySelectorAll<HTMLElement>("pre code[class]")) hljs.highlightElement(code);
}
