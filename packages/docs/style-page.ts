/** The page of the style itself, `/assets/style/page`: type, colors, distances and controls in both themes, read from the tokens. */
import { PERSON_COLORS } from "@atrium/contract/person-colors.ts";
import { type Html, html, markup } from "./page.ts";

interface StyleToken {
  readonly name: string;
  readonly value: string;
}

const THEMES = ["light", "dark"] as const;

/** The page, from the text of `tokens.css`. */
export function stylePage(tokensCss: string): string {
  const tokens = [...tokensCss.matchAll(/^ {2}(--[\w-]+): ([^;]+);/gm)].map(
    ([, name = "", value = ""]): StyleToken => ({ name, value }),
  );
  const isNamed = (pattern: RegExp) => tokens.filter(({ name }) => pattern.test(name));
  const colors = tokens.filter(
    ({ name, value }) => value.startsWith("light-dark(#") && !/^--(paper|ink|code)/.test(name),
  );
  const parts = [
    part("Type", html`${isNamed(/^--text-/).map(typeSample)}${weights}`),
    part("Colors", html`<div class="swatches">${colors.map(swatch)}</div>`),
    part(
      "Paper, ink and code",
      html`<div class="swatches">${isNamed(/^--(paper|ink|code)-/).map(swatch)}</div>`,
    ),
    part(
      "People",
      html`<div class="swatches">${PERSON_COLORS.map((color) => swatch({ name: color, value: color }))}</div>`,
    ),
    part("Distances", html`${isNamed(/^--space-/).map(distance)}`),
    part("Controls", controls),
    part("Words about a state", states),
    part("Code and tables", reading),
  ];
  return html`${markup("<!doctype html>")}
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>The style of Atrium's pages</title>
<link rel="icon" href="/assets/style/mark.svg">
<link rel="stylesheet" href="/assets/style/page.css">
</head>
<body>
<main>
<header><a class="brand" href="/">Atrium</a><h1>The style of the pages</h1></header>
<div class="themes">${THEMES.map((theme) => html`<div data-theme="${theme}" class="theme">${parts.map((make) => make(theme))}</div>`)}</div>
</main>
</body>
</html>`.toString();
}

/** Both themes have the same parts; only headings of one are named, so that none is read twice. */
const part =
  (title: string, content: Html) =>
  (theme: string): Html =>
    html`<section aria-label="${title}, ${theme}"><h2>${title}</h2>${content}</section>`;

/** A swatch; the attribute reads a token as a style would. */
const swatch = ({ name, value }: StyleToken): Html =>
  html`<div class="swatch"><svg viewBox="0 0 40 24" preserveAspectRatio="none" aria-hidden="true"><rect width="40" height="24" fill="${value.startsWith("#") ? value : `var(${name})`}"/></svg><code>${name.replace("--", "")}</code></div>`;

const typeSample = ({ name, value }: StyleToken): Html =>
  html`<p class="type ${name.replace("--", "")}">Three people edit the plan <code>${name} ${value}</code></p>`;

const weights = html`<p class="type text-l">Regular, <b class="medium">medium for controls</b>, <b>bold for titles</b>, 0123456789</p>`;

const distance = ({ name, value }: StyleToken): Html =>
  html`<div class="distance"><svg height="8" width="${value}" aria-hidden="true"><rect width="100%" height="8" rx="2" fill="var(--accent)"/></svg><code>${name} ${value}</code></div>`;

const controls = html`
<div class="row"><button type="button" class="button primary">Create room</button><button type="button" class="button">Cancel</button><button type="button" class="button quiet">More</button><button type="button" class="button danger">Delete</button><button type="button" class="button" disabled>Not now</button></div>
<div class="row"><input value="Weekly planning" aria-label="Name"><select aria-label="Access"><option>Can edit</option></select><label><input type="checkbox" checked> Remember me</label></div>
<div class="row"><span>Press <kbd>Ctrl</kbd> <kbd>K</kbd></span><a href="#top">A link to a page</a></div>`;

const states = html`
<p class="state good">Delivering. 1,284 of 1,284 in the last 24 hours.</p>
<p class="state bad">Failing since 14:02: connection refused. Next try in 4 min.</p>
<p class="state waiting">Paused. 12 events wait.</p>
<p class="soft">Soft text explains; it never carries the only word about a state.</p>`;

const reading = html`
<pre tabindex="0"><code><span class="hljs-keyword">const</span> others = <span class="hljs-title">useOthers</span>(); <span class="hljs-comment">// renders when they move</span>
<span class="hljs-keyword">await</span> store.<span class="hljs-title">set</span>(<span class="hljs-string">"title"</span>, <span class="hljs-number">42</span>);</code></pre>
<div class="scroll"><table><thead><tr><th scope="col">Room</th><th scope="col" class="number">Online</th></tr></thead><tbody><tr><td>Weekly planning</td><td class="number">3</td></tr><tr><td>Roadmap</td><td class="number">18</td></tr></tbody></table></div>`;
