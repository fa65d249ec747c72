/** The script of the documentation's pages: search, copy buttons, a language for all samples, and requests to try. */
import { addCopyButtons } from "./copy-buttons.ts";
import { addLanguageTabs } from "./language-tabs.ts";
import { enableSearch } from "./search-box.ts";
import { enableTrying } from "./try-it.ts";

addLanguageTabs();
addCopyButtons();
enableSearch();
enableTrying();
