/** The page of an address that the service does not have. */
import { html, layout, navigationItem } from "./page.ts";

/** The page as HTML: the ways to those that there are, and the search. */
export const notFoundPage = (): string =>
  layout({
    title: "Page not found · Atrium",
    address: "",
    side: html`<ul>${navigationItem("/dashboard", "Dashboard", "")}</ul>`,
    content: html`<main id="content" class="guide"><h1>Page not found</h1>
<p>The address may be misspelled, or the page has moved. The search above finds pages by their words.</p>
<p><a href="/docs">All pages of the documentation</a></p></main>`,
  }).toString();
