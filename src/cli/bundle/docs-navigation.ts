/** The navigation of the documentation: groups of pages, as docs/README.md lists them. */
import { type Html, html } from "../../docs/text.ts";
import { INDEX, type Page, resolveLink } from "./docs-addresses.ts";

export interface Group {
  readonly title: string;
  readonly links: readonly { readonly title: string; readonly address: string }[];
}

/** The headings of the index and the links below each. */
export function readNavigation(index: string): Group[] {
  const [, ...sections] = index.split(/^## /m);
  return sections.map((section) => ({
    title: section.slice(0, section.indexOf("\n")),
    links: [...section.matchAll(/^- \[([^\]]+)\]\(([^)]+)\)/gm)].map(([, title = "", target = ""]) => ({
      title,
      address: resolveLink(INDEX, target) ?? "",
    })),
  }));
}

export function navigationHtml(groups: readonly Group[], { address, headings }: Page): Html {
  const sections = headings.filter(({ depth }) => depth === 2);
  const sectionList = html`<ul>${sections.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}</ul>`;
  const item = (link: Group["links"][number]) =>
    link.address === address
      ? html`<li><a href="${link.address}" aria-current="page">${link.title}</a>${sections.length > 0 ? sectionList : ""}</li>`
      : html`<li><a href="${link.address}">${link.title}</a></li>`;
  return html`<nav aria-label="Contents">
${groups.map(({ title, links }) => html`<p class="group">${title}</p><ul>${links.map(item)}</ul>`)}
</nav>`;
}
