/** The guides as files below `/docs`: pages, their Markdown, the list of pages for agents, and the search index. */
import path from "node:path";
import type { SearchEntry } from "./browser/search-index.ts";
import { type RenderedPage, renderMarkdown, withLinks } from "./markdown.ts";
import { type Html, html, layout, markup, navigationItem, VERSION } from "./page.ts";

/** The list of pages in it is the navigation. */
const INDEX = "docs/README.md";
export const PICTURE = /\.(png|webp)$/;
/** Each link of its lists is a task, which the search finds by its words. */
const TASKS = "/docs/tasks";
/** Documents outside of `docs`, where tools expect them. */
export const OUTSIDE: Readonly<Record<string, string>> = {
  "README.md": "/docs/readme",
  "CONTRIBUTING.md": "/docs/contributing",
  "SECURITY.md": "/docs/security",
};

interface Page extends RenderedPage {
  readonly address: string;
  readonly markdown: string;
}

interface PageLink {
  readonly title: string;
  readonly address: string;
}

interface Group {
  readonly title: string;
  readonly links: readonly PageLink[];
}

/** The files by their names below `/docs`, made from the documents by their names in the repository. */
export function renderGuides(documents: ReadonlyMap<string, string>): Map<string, string> {
  const navigation = readNavigation(documents.get(INDEX) ?? "");
  const pages = [...documents].map(([file, text]): Page => {
    const page = renderMarkdown(text, (target) => resolveLink(file, target));
    const markdown = withLinks(text, (target) => markdownAddress(resolveLink(file, target)));
    return { ...page, address: addressOf(file) ?? "", markdown };
  });
  const files = new Map<string, string>();
  for (const page of pages) {
    files.set(fileOf(page, "html"), renderPage(page, navigation));
    files.set(fileOf(page, "md"), page.markdown);
  }
  files.set("llms.txt", overviewForAgents(pages));
  files.set("search.json", JSON.stringify(pages.flatMap(searchEntries)));
  return files;
}

/** The address of a file of the repository; null if the service does not serve it. */
function addressOf(file: string): string | null {
  const known = OUTSIDE[file];
  if (known !== undefined) return known;
  if (!/^docs\/.*\.(md|png|webp)$/.test(file)) return null;
  return `/${file.replace(/(\/README)?\.md$/, "")}`;
}

/** The address of a link's target in `from`. */
function resolveLink(from: string, target: string): string | null {
  const [file = "", anchor] = target.split("#");
  const address = addressOf(path.posix.join(path.posix.dirname(from), file));
  return address === null || anchor === undefined ? address : `${address}#${anchor}`;
}

/** The address of a page as Markdown. Pictures have none, and other addresses stay. */
function markdownAddress(address: string | null): string | null {
  const [page = "", anchor] = address?.split("#") ?? [];
  if (!page.startsWith("/docs") || PICTURE.test(page)) return address;
  return `${page === "/docs" ? "/docs/index" : page}.md${anchor === undefined ? "" : `#${anchor}`}`;
}

/** `/docs` is the folder's index. */
const fileOf = ({ address }: Page, extension: "html" | "md"): string =>
  `${address === "/docs" ? "index" : path.posix.relative("/docs", address)}.${extension}`;

/** The list of pages for agents, after https://llmstxt.org. */
const overviewForAgents = (pages: readonly Page[]): string => {
  const index = pages.find(({ address }) => address === "/docs");
  return `${index?.markdown ?? ""}\n## API\n\n- [OpenAPI](/v1/openapi.json): every operation of the REST API\n`;
};

const renderPage = (page: Page, navigation: readonly Group[]): string =>
  layout({
    title: page.address === "/docs" ? page.title : `${page.title} · Atrium`,
    address: page.address,
    side: navigationHtml(navigation, page),
    content: html`<div>
<main id="content" class="guide">${markup(page.html)}</main>
<footer>${neighboursHtml(navigation, page)}<p><a href="/docs/${fileOf(page, "md")}">This page as Markdown</a> · Atrium API ${VERSION}</p></footer>
</div>
${sectionsHtml(page)}`,
  }).toString();

function searchEntries({ title: page, headings, address, markdown }: Page): SearchEntry[] {
  if (address === TASKS) {
    const tasks = markdown.matchAll(/^- \[([^\]]+)\]\(([^)]+)\)(?:: (.*))?$/gm);
    const entries = [...tasks].map(([, title = "", target = "", text = ""]) => ({
      title,
      page,
      url: target.replace(/\.md(?=#|$)/, ""),
      text,
    }));
    return [{ title: page, page, url: address, text: "" }, ...entries];
  }
  return headings.flatMap(({ depth, title, id, text, codes }) => {
    const url = depth === 1 ? address : `${address}#${id}`;
    const ofCodes = codes.map(({ code, meaning }) => ({
      title: code,
      page: `${page}, ${title}`,
      url,
      text: meaning,
    }));
    return [{ title, page, url, text }, ...ofCodes];
  });
}

function readNavigation(index: string): Group[] {
  const [, ...sections] = index.split(/^## /m);
  return sections.map((section) => ({
    title: section.slice(0, section.indexOf("\n")),
    links: [...section.matchAll(/^- \[([^\]]+)\]\(([^)]+)\)/gm)].flatMap(([, title = "", target = ""]) => {
      const address = resolveLink(INDEX, target);
      return address === null ? [] : { title, address }; // the examples are in the repository alone
    }),
  }));
}

/** The pages before and behind this one in the navigation. */
function neighboursHtml(groups: readonly Group[], { address: here }: Page): Html {
  const links = groups.flatMap(({ links }) => links);
  const index = links.findIndex(({ address }) => address === here);
  const link = (label: string, one: PageLink | undefined) =>
    one === undefined ? "" : html`<a href="${one.address}"><span>${label}</span> ${one.title}</a>`;
  if (index < 0) return html``;
  return html`<nav class="neighbours" aria-label="Neighbouring pages">${link("Previous", links[index - 1])}${link("Next", links[index + 1])}</nav>`;
}

/** The list of the sections beside a page; nothing for a page without several. */
function sectionsHtml({ headings }: Page): Html {
  const sections = headings.filter(({ depth }) => depth === 2 || depth === 3);
  if (sections.length < 2) return html``;
  return html`<nav class="sections" aria-label="On this page"><p class="group">On this page</p><ul>${sections.map(
    ({ depth, id, title }) => html`<li class="depth-${depth}"><a href="#${id}">${title}</a></li>`,
  )}</ul></nav>`;
}

/** The navigation of a page. The sections of the page stand below its link. */
function navigationHtml(groups: readonly Group[], { address: here, headings }: Page): Html {
  const sections = headings
    .filter(({ depth }) => depth === 2)
    .map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`);
  const sectionList = sections.length === 0 ? "" : html`<ul>${sections}</ul>`;
  const item = ({ address, title }: Group["links"][number]) =>
    navigationItem(address, title, here, address === here ? sectionList : "");
  return html`${groups.map(({ title, links }) => html`<p class="group">${title}</p><ul>${links.map(item)}</ul>`)}`;
}
