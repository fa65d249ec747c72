/** The script of the documentation's pages: search, copy buttons, and a language for all samples. */
import { addCopyButtons } from "./copy-buttons.ts";
import { addLanguageTabs } from "./language-tabs.ts";
import { enableSearch } from "./search-box.ts";

addLanguageTabs();
addCopyButtons();
enableSearch();
