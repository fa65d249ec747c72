/** The reader's choice of a theme, kept with the dashboard's. Loaded before the page is painted. */
import { element } from "./elements.ts";

const KEY = "theme";
const THEMES = ["system", "light", "dark"];

const root = document.documentElement;
root.dataset.theme = localStorage.getItem(KEY) ?? "system";

addEventListener("DOMContentLoaded", () => {
  const options = THEMES.map((theme) => new Option(theme.charAt(0).toUpperCase() + theme.slice(1), theme));
  const select = element("select", ...options);
  select.value = root.dataset.theme ?? "system";
  select.addEventListener("change", () => {
    localStorage.setItem(KEY, select.value);
    root.dataset.theme = select.value;
  });
  document.querySelector(".theme")?.appendChild(select);
});
