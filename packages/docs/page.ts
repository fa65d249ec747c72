/** The frame of the documentation's pages: escaped HTML, addresses, head, top bar, navigation and content. */
import { raw, html as tagged } from "hono/html";

/** Markup that is safe in a page. */
export type Html = Exclude<ReturnType<typeof tagged>, Promise<unknown>>;

/** Markup from a template; values are escaped unless they are markup. */
export const html = (strings: TemplateStringsArray, ...values: unknown[]): Html =>
  // The result is a promise only if one of the values is.
  tagged(strings, ...values) as Html;

/** Finished markup, which is not escaped. */
export const markup = (text: string): Html => html`${raw(text)}`;

/** A line of text with its `code` and **bold** parts. */
export const inline = (text: string): Html[] =>
  text.split(/(\*\*[^*]+\*\*|`[^`]+`)/).map((part, index) => {
    if (index % 2 === 0) return html`${part}`;
    return part.startsWith("`")
      ? html`<code>${part.slice(1, -1)}</code>`
      : html`<strong>${part.slice(2, -2)}</strong>`;
  });

export const paragraphs = (text: string): string[] => text.split(/\n{2,}/);

/** A text of several paragraphs; nothing for undefined. */
export const prose = (text: string | undefined): Html[] =>
  text === undefined ? [] : paragraphs(text).map((paragraph) => html`<p>${inline(paragraph)}</p>`);

/** A box that scrolls sideways; its tab stop lets the keyboard scroll it too. */
export const scrollBox = (label: string, content: Html): Html =>
  html`<div class="scroll" role="group" aria-label="${label}" tabindex="0">${content}</div>`;

/** A sample; the browser colors it by its language. */
export const sample = (title: string, language: "bash" | "json" | "typescript", text: string): Html =>
  html`<figure><figcaption>${title}</figcaption><pre tabindex="0"><code class="language-${language}">${text}</code></pre></figure>`;

export const jsonSample = (title: string, value: unknown): Html =>
  sample(title, "json", JSON.stringify(value, null, 2));

/** An item of the navigation; `here` is the path of the page. */
export const navigationItem = (
  address: string,
  content: unknown,
  here: string,
  inner: unknown = "",
): Html => {
  const current = address === here ? markup(' aria-current="page"') : "";
  return html`<li><a href="${address}"${current}>${content}</a>${inner}</li>`;
};

/** The version of the API, which the pages describe. A test compares it with the OpenAPI document. */
export const VERSION = "1.0.0";

const REFERENCE = "/docs/reference";
export const operationAddress = (operationId: string): string => `${REFERENCE}/${operationId}`;
export const SCHEMAS_ADDRESS = `${REFERENCE}/schemas`;
export const schemaAddress = (name: string): string => `${SCHEMAS_ADDRESS}/${name}`;
export const ERRORS_ADDRESS = `${REFERENCE}#errors`;
export const credentialAddress = (name: string): string => `${REFERENCE}#credential-${name}`;

/** The parts of the documentation, above the navigation of each. */
const PLACES = [
  ["/docs", "Overview"],
  [REFERENCE, "API reference"],
] as const;

/** The other products, which the top bar of a phone has no room for. */
const PRODUCTS = html`<li class="product"><a href="/demo">Demo</a></li><li class="product"><a href="/dashboard">Dashboard</a></li>`;

const icon = (path: string, name = ""): Html =>
  html`<svg${markup(name === "" ? "" : ` class="${name}"`)} viewBox="0 0 20 20" width="16" height="16" fill="none" stroke="currentColor" stroke-width="1.75" stroke-linecap="round" aria-hidden="true"><path d="${path}"/></svg>`;

/** One for each theme; the style sheet shows that of the present one. */
const THEME_ICONS = [
  icon("M10 2.5a7.5 7.5 0 1 0 0 15ZM10 2.5a7.5 7.5 0 0 1 0 15", "system"),
  icon(
    "M10 6.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7ZM10 1.5v1.6m0 13.8v1.6M1.5 10h1.6m13.8 0h1.6M4 4l1.1 1.1m9.8 9.8L16 16M4 16l1.1-1.1m9.8-9.8L16 4",
    "light",
  ),
  icon("M16.5 12.2A7 7 0 0 1 7.8 3.5a7 7 0 1 0 8.7 8.7Z", "dark"),
];

interface Layout {
  readonly title: string;
  /** The path of the page. */
  readonly address: string;
  /** The navigation: beside the content, or on a phone in a sheet that a button opens. */
  readonly side: Html;
  readonly content: Html;
}

export const layout = ({ title, address, side, content }: Layout): Html => html`${markup("<!doctype html>")}
<html lang="en" data-version="${VERSION}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="/assets/style/mark.svg">
<link rel="preload" href="/assets/style/figtree.woff2" as="font" type="font/woff2" crossorigin>
<link rel="stylesheet" href="/assets/docs/docs.css">
<script src="/assets/docs/theme.js"></script>
<script type="module" src="/assets/docs/docs.js"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="bar">
<a class="brand" href="/">Atrium</a>
<nav class="products" aria-label="Products"><a href="/docs" aria-current="true">Docs</a><a href="/demo">Demo</a><a href="/dashboard">Dashboard</a></nav>
<div class="search" role="search" hidden><button type="button" aria-keyshortcuts="Control+K Meta+K /">${icon("m13 13 5 5M2.5 8.5a6 6 0 1 1 12 0 6 6 0 0 1-12 0Z")}<span>Search</span> <kbd aria-hidden="true">Ctrl K</kbd></button></div>
<button type="button" class="theme" hidden>${THEME_ICONS}</button>
<button type="button" class="menu-button" popovertarget="contents">Menu</button>
</header>
<div class="layout">
<div class="side" id="contents" popover><nav aria-label="Contents"><ul class="places">${PLACES.map(([place, text]) => placeLink(place, text, address))}${PRODUCTS}</ul>${side}</nav></div>
${content}
</div>
</body>
</html>`;

const placeLink = (place: string, text: string, address: string): Html => {
  const isHere = place === address || (place === REFERENCE && address.startsWith(place));
  return html`<li><a href="${place}"${markup(isHere ? ' aria-current="true"' : "")}>${text}</a></li>`;
};
