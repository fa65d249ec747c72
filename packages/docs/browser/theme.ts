/** The reader's choice of a theme, kept with the dashboard's. Loaded before the page is painted. */
const KEY = "theme";
const THEMES = ["system", "light", "dark"];

const root = document.documentElement;
root.dataset.theme = localStorage.getItem(KEY) ?? "system";

addEventListener("DOMContentLoaded", () => {
  const button = document.querySelector<HTMLButtonElement>(".theme");
  if (!button) return;
  const show = (theme: string) => {
    root.dataset.theme = theme;
    button.ariaLabel = `Theme: ${theme}`;
    button.title = button.ariaLabel;
  };
  show(root.dataset.theme ?? "system");
  button.hidden = false;
  button.addEventListener("click", () => {
    const next = THEMES[(THEMES.indexOf(root.dataset.theme ?? "") + 1) % THEMES.length] ?? "system";
    localStorage.setItem(KEY, next);
    show(next);
  });
});
