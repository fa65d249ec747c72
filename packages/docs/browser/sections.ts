/** The sections of a page: the current one in the list beside it, and links that name the version. */
import { element } from "./elements.ts";

/** The version of the service in a link, so that a reader of another version knows it. */
const VERSION = "v";
const version = document.documentElement.dataset.version ?? "";

/** A heading is a link to itself. Its address in the bar names the version, for those who copy it. */
function nameVersion(): void {
  document.querySelector("main")?.addEventListener("click", ({ target }) => {
    const link = target instanceof Element ? target.closest<HTMLAnchorElement>("a.anchor") : null;
    if (link) history.replaceState(null, "", `?${VERSION}=${version}${link.hash}`);
  });
}

/** Marks the section at the top of the window in the list. */
function followSections(headings: readonly HTMLElement[]): void {
  const links = new Map(
    [...document.querySelectorAll<HTMLAnchorElement>(".sections a")].map((link) => [
      link.hash.slice(1),
      link,
    ]),
  );
  if (links.size === 0) return;
  const mark = () => {
    const passed = headings.filter(
      (heading) => links.has(heading.id) && heading.getBoundingClientRect().top < 140,
    );
    const current = passed.at(-1)?.id;
    for (const [id, link] of links) link.ariaCurrent = id === current ? "true" : null;
  };
  addEventListener("scroll", mark, { passive: true });
  mark();
}

function noteOtherVersion(): void {
  const linked = new URLSearchParams(location.search).get(VERSION);
  const main = document.querySelector("main");
  if (linked === null || linked === version || !main) return;
  const note = element(
    "p",
    `This link was made for Atrium ${linked}. You read the documentation of ${version}.`,
  );
  note.className = "other-version";
  main.insertBefore(note, main.firstChild);
}

/** Following a link within the page closes the sheet of the navigation, which a phone shows above it. */
function closeAfterUse(): void {
  const contents = document.querySelector<HTMLElement>("#contents");
  contents?.addEventListener("click", ({ target }) => {
    if (target instanceof Element && target.closest("a") && contents.matches(":popover-open"))
      contents.hidePopover();
  });
}

export function enableSections(): void {
  const headings = [...document.querySelectorAll<HTMLElement>("main :is(h2, h3)[id]")];
  nameVersion();
  followSections(headings);
  noteOtherVersion();
  closeAfterUse();
}
