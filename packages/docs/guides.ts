/** The guides as files below `/docs`: pages, their Markdown, the list of pages for agents, and the search index. */
import path from "node:path";
import { archiveAddress, filesOf } from "./archive.ts";
import type { SearchEntry } from "./browser/search-index.ts";
import { liveAddress } from "./live/page.ts";
import { type RenderedPage, renderMarkdown, withLinks } from "./markdown.ts";
import { type Html, html, layout, markup, navigationItem, VERSION } from "./page.ts";

/** The list of pages in it is the navigation. */
const INDEX = "docs/README.md";
const HOME = "/docs";
/** Shows what the home's moving picture does, to those who want no motion. */
const STILL = "/assets/docs/pictures/quickstart-cursors.webp";
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

/** In pixels. */
export interface PictureSize {
  readonly width: number;
  readonly height: number;
}

/** Attributes that keep a picture's place before it has loaded, by its address. */
type PictureAttributes = (address: string) => string;

/**
 * The files by their names below `/docs`, made from the documents, and the sizes of pictures, by their names in the
 * repository.
 */
export function renderGuides(
  documents: ReadonlyMap<string, string>,
  pictures: ReadonlyMap<string, PictureSize>,
): Map<string, string> {
  const sizes = new Map([...pictures].map(([file, size]) => [addressOf(file), size]));
  const attributesOf: PictureAttributes = (address) => {
    const size = sizes.get(address);
    return size === undefined ? "" : ` width="${size.width}" height="${size.height}"`;
  };
  const navigation = readNavigation(documents.get(INDEX) ?? "");
  const pages = [...documents].map(([file, text]): Page => {
    const page = renderMarkdown(text, (target) => resolveLink(file, target));
    const pageHtml = page.html.replaceAll(
      /<img src="([^"]*)"/g,
      (image, address: string) => `${image}${attributesOf(address)} loading="lazy"`,
    );
    const markdown = withLinks(text, (target) => markdownAddress(resolveLink(file, target)));
    return { ...page, html: pageHtml, address: addressOf(file) ?? "", markdown };
  });
  const files = new Map<string, string>();
  const home = pages.find(({ address }) => address === HOME);
  for (const page of pages) {
    const content = page === home ? homeHtml(page, pages, attributesOf(STILL)) : contentHtml(page);
    files.set(fileOf(page, "html"), renderPage(page, content, navigation));
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
  return PICTURE.test(file) ? `/assets/${file}` : `/${file.replace(/(\/README)?\.md$/, "")}`;
}

/** The address of a link's target in `from`. */
function resolveLink(from: string, target: string): string | null {
  const [file = "", anchor] = target.split("#");
  const address = addressOf(path.posix.join(path.posix.dirname(from), file));
  return address === null || anchor === undefined ? address : `${address}#${anchor}`;
}

/** The address of a page as Markdown. Other addresses stay. */
function markdownAddress(address: string | null): string | null {
  const [page = "", anchor] = address?.split("#") ?? [];
  if (!page.startsWith("/docs")) return address;
  return `${page === "/docs" ? "/docs/index" : page}.md${anchor === undefined ? "" : `#${anchor}`}`;
}

/** `/docs` is the folder's index. */
const fileOf = ({ address }: Page, extension: "html" | "md"): string =>
  `${address === HOME ? "index" : path.posix.relative("/docs", address)}.${extension}`;

/** The list of pages for agents, after https://llmstxt.org. */
const overviewForAgents = (pages: readonly Page[]): string => {
  const index = pages.find(({ address }) => address === HOME);
  return `${index?.markdown ?? ""}\n## API\n\n- [OpenAPI](/v1/openapi.json): every operation of the REST API\n`;
};

const renderPage = (page: Page, content: Html, navigation: readonly Group[]): string =>
  layout({
    title: page.address === HOME ? page.title : `${page.title} · Atrium`,
    address: page.address,
    side: navigationHtml(navigation, page),
    content: html`<div>
${content}
<footer>${neighboursHtml(navigation, page)}<p><a href="/docs/${fileOf(page, "md")}">This page as Markdown</a> · Atrium API ${VERSION}</p></footer>
</div>
${page.address === HOME || isQuickstart(page) ? "" : sectionsHtml(page)}`,
  }).toString();

const isQuickstart = ({ address }: Page): boolean => address.startsWith("/docs/quickstarts/");

/** The parts of a page before its first picture, the picture, and the rest. */
function splitAtPicture(page: Page): [head: Html, picture: Html, rest: Html] {
  const [head = "", picture = "", rest = ""] = page.html.split(/(?:<p>(<img [^>]*>)<\/p>)([\s\S]*)/);
  return [markup(head), markup(picture), markup(rest)];
}

/** A quickstart has its result and its finished folder beside the text, and stays in view. */
function contentHtml(page: Page): Html {
  if (!isQuickstart(page)) return html`<main id="content" class="guide">${markup(page.html)}</main>`;
  const [head, picture, rest] = splitAtPicture(page);
  const name = path.posix.basename(page.address);
  const live = filesOf(page.markdown).has("index.html") ? html` data-live="${liveAddress(name)}"` : "";
  return html`<main id="content" class="guide quickstart"><div>${head}</div>
<aside aria-label="Result"><div class="result"${live}>${picture}</div><p><a class="button" href="${archiveAddress(page.address)}" download>Download the finished folder</a></p>${sectionsHtml(page)}</aside>
<div>${rest}</div></main>`;
}

/** Other ways to do what the item around them does, which the navigation has and the home's cards have not. */
const VARIANTS = /<ul>\n(?:<li>.*<\/li>\n)+<\/ul>\n(?=<\/li>)/g;
/** A quickstart and another page in the home's lists. */
const QUICKSTART_ITEM = /<li><a href="(\/docs\/quickstarts\/[^"]+)">([^<]*)<\/a>: ([^<]*)<\/li>/g;
const ITEM = /(<li><a [^>]*>[^<]*<\/a>): (.*)<\/li>/g;

/** The home: its picture beside the first words, quickstarts as cards with theirs, and all other pages in lists. */
function homeHtml(page: Page, pages: readonly Page[], stillSize: string): Html {
  const [head, picture, rest] = splitAtPicture(page);
  const cards = rest
    .toString()
    .replaceAll(VARIANTS, "")
    .replaceAll(QUICKSTART_ITEM, (_, address: string, title: string, text: string) => {
      const of = pages.find((one) => one.address === address);
      const [image = ""] = /<img [^>]*>/.exec(of?.html ?? "") ?? [];
      const decoration = image.replace(/alt="[^"]*"/, 'alt=""');
      return `<li class="card"><a href="${address}">${decoration}<strong>${title}</strong><span>${text}</span></a></li>`;
    })
    .replace('<ul>\n<li class="card">', '<ul class="cards">\n<li class="card">')
    .replaceAll(ITEM, '$1 <span class="soft">$2</span></li>');
  const moving = picture.toString().replace(' loading="lazy"', "");
  return html`<main id="content" class="guide home"><div class="hero"><div>${head}</div>
<picture><source media="(prefers-reduced-motion: reduce)" srcset="${STILL}"${markup(stillSize)}>${markup(moving)}</picture></div>
${markup(cards)}</main>`;
}

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
    links: [...section.matchAll(/^ *- \[([^\]]+)\]\(([^)]+)\)/gm)].flatMap(([, title = "", target = ""]) => {
      const address = resolveLink(INDEX, target);
      return address === null ? [] : { title, address };
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
  return html`<nav class="sections" aria-label="On this page"><p class="group">On this page</p><ul class="plain">${sections.map(
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
