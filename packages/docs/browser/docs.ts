/** The script of the documentation's pages: copy buttons, tabs and sections; search, colors and requests load when they are used. */
import { addCopyButton } from "./elements.ts";
import { enableSearch } from "./search.ts";
import { enableSections } from "./sections.ts";
import { enableTabs } from "./tabs.ts";

/** The service whose address samples show, unless another one serves the page. */
const LOCAL = "http://localhost:8787";

/** Writes this service's address into the samples, so that they work as they are copied. */
function nameService(code: Node): void {
  const texts = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text !== null; text = texts.nextNode())
    text.nodeValue = (text.nodeValue ?? "").replaceAll(LOCAL, location.origin);
}

enableTabs();
for (const code of document.querySelectorAll("code")) nameService(code);
for (const pre of document.querySelectorAll<HTMLElement>("figure pre")) addCopyButton(pre);
if (document.querySelector("code[class]"))
  void import("./highlight.ts").then(({ highlightSamples }) => highlightSamples());
enableSearch();
enableSections();
const result = document.querySelector<HTMLElement>("[data-live]");
if (result) void import("./live.ts").then(({ showLive }) => showLive(result));
for (const box of document.querySelectorAll<HTMLElement>("details.try")) {
  box.hidden = false;
  // Reading the documentation asks nothing about the reader.
  const prepare = async () => (await import("./try-it.ts")).enableTrying(box);
  box.addEventListener("toggle", () => void prepare(), { once: true });
}
