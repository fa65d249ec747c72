/** The script of the documentation's pages: search, copy buttons, a language for all samples, and requests to try. */
import { addCopyButtons } from "./copy-buttons.ts";
import { presentAddress } from "./earlier-anchors.ts";
import { addLanguageTabs } from "./language-tabs.ts";
import { enableSearch } from "./search-box.ts";
import { enableTrying } from "./try-it.ts";

const present = presentAddress(location.pathname, location.hash);
if (present !== null) location.replace(present);
addLanguageTabs();
addCopyButtons();
enableSearch();
enableTrying();
