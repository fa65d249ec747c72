/** What all pages of the documentation share: head, top bar with the search, navigation and content. */
import { type Html, html, markup } from "./text.ts";

export interface Layout {
  readonly title: string;
  /** Stands beside the content, or after it on a phone. */
  readonly side: Html;
  readonly content: Html;
}

/** A whole page. It loads its style, script and icon from `/docs/assets`, and nothing else. */
export const layout = ({ title, side, content }: Layout): Html => html`${markup("<!doctype html>")}
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="/docs/assets/icon.svg">
<link rel="stylesheet" href="/docs/assets/docs.css">
<script type="module" src="/docs/assets/docs.js"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="bar">
<a class="brand" href="/docs">Atrium docs</a>
<div class="search" role="search" hidden>
<input type="search" aria-label="Search the documentation" placeholder="Search" autocomplete="off" spellcheck="false">
<ul class="results" aria-label="Results" hidden></ul>
</div>
<a href="/docs/reference">API reference</a>
<a class="to-contents" href="#contents">Contents</a>
</header>
<div class="layout">
<div class="side" id="contents">${side}</div>
<div>${content}</div>
</div>
</body>
</html>`;
