/** The front page of the service: one sentence, two windows of one board, and the ways on. */
import { PERSON_COLORS } from "@atrium/contract/person-colors.ts";
import { type Html, html, markup } from "../page.ts";

/** The people whose windows are shown, in the colors that the board gives them, and the names of their frames for the demo. */
const PEOPLE = [
  { name: "Ada", seat: "first", color: PERSON_COLORS[0] },
  { name: "Bo", seat: "second", color: PERSON_COLORS[1] },
];

const SENTENCE =
  "Atrium adds live cursors, shared data and comments to your app, from your own Cloudflare account.";

/**
 * The page as HTML. `board` is a drawing of the board, which stands in each window until the live board shows; null
 * where there is no demo, for a picture of both windows.
 */
export const frontPage = (board: Html | null): string =>
  html`${markup("<!doctype html>")}
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${SENTENCE}">
<title>Atrium: make your app multiplayer</title>
<link rel="icon" href="/assets/style/mark.svg">
<link rel="preload" href="/assets/style/figtree.woff2" as="font" type="font/woff2" crossorigin>
<link rel="stylesheet" href="/assets/front/front.css">
<script src="/assets/docs/theme.js"></script>
${board && html`<script type="module" src="/assets/front/front.js"></script>`}
</head>
<body>
<header>
<a class="brand" href="/" aria-current="page">Atrium</a>
<nav class="products" aria-label="Products"><a href="/docs">Docs</a>${board && html`<a href="/demo">Demo</a>`}<a href="/dashboard">Dashboard</a></nav>
</header>
<main>
<h1>${SENTENCE}</h1>
<p class="actions">${board && html`<a class="button primary" id="open" href="/demo">Open the board</a>`}<a class="button${board ? "" : " primary"}" href="/docs">Read the docs</a><a class="button" href="/dashboard">Dashboard</a></p>
${
  board === null
    ? picture
    : html`<p class="soft two">Two windows, one board. Drag a note in one of them, and watch the other.</p>
<p class="soft one">The board is live, and you are on it. Drag a note.</p>
<div class="windows">${PEOPLE.map((person) => windowOf(person, board))}</div>`
}
</main>
</body>
</html>`.toString();

const windowOf = ({ name, seat, color }: (typeof PEOPLE)[number], board: Html): Html =>
  html`<section class="window" aria-label="${name}'s window" data-name="${name}" data-seat="${seat}">
<p class="title"><svg viewBox="0 0 20 20" aria-hidden="true"><circle cx="10" cy="10" r="10" fill="${color}"/><text x="10" y="14" fill="var(--white)" text-anchor="middle">${name.charAt(0)}</text></svg>${name}</p>
<div class="view">${board}</div>
</section>`;

const picture = html`<p class="picture"><img src="/assets/docs/pictures/two-windows.webp" width="1060" height="392" alt="Two windows of one board: what Ada does in hers appears in Bo's at once"></p>`;
