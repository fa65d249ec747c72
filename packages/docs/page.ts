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

/** A sample; the page's script colors it by its language. */
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
export const credentialAddress = (name: string): string => `${REFERENCE}#credential-${name}`;

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
<link rel="icon" href="/docs/assets/icon.svg">
<link rel="stylesheet" href="/docs/assets/docs.css">
<script src="/docs/assets/theme.js"></script>
<script type="module" src="/docs/assets/docs.js"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="bar">
<a class="brand" href="/docs">Atrium docs</a>
<div class="search" role="search" hidden>
<input type="search" aria-label="Search the documentation" placeholder="Search: task, method, error code" autocomplete="off" spellcheck="false">
<ul class="results" aria-label="Results" hidden></ul>
</div>
${barLink("/docs/tasks", "Tasks", address)}
${barLink(REFERENCE, "API reference", address)}
<button type="button" class="menu-button" popovertarget="contents">Menu</button>
</header>
<div class="layout">
<div class="side" id="contents" popover><nav aria-label="Contents">${side}<label class="theme">Theme </label></nav></div>
${content}
</div>
</body>
</html>`;

const barLink = (target: string, text: string, address: string): Html =>
  html`<a href="${target}"${markup(address.startsWith(target) ? ' aria-current="true"' : "")}>${text}</a>`;
