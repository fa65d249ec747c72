/** Shows samples that stand side by side in several languages as tabs; one choice counts for all pages. */
const STORED_AS = "atrium-docs-language";

/** Without this script, the samples stand below each other under their languages. */
export function addLanguageTabs(): void {
  const groups = [...document.querySelectorAll<HTMLElement>(".languages")];
  for (const group of groups) {
    const bar = document.createElement("div");
    bar.className = "tabs";
    for (const figure of figuresOf(group)) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = languageOf(figure);
      button.addEventListener("click", () => {
        localStorage.setItem(STORED_AS, languageOf(figure));
        for (const one of groups) choose(one, languageOf(figure));
      });
      bar.appendChild(button);
    }
    group.insertBefore(bar, group.firstChild);
    choose(group, localStorage.getItem(STORED_AS) ?? "");
  }
}

const figuresOf = (group: HTMLElement): HTMLElement[] => [...group.querySelectorAll<HTMLElement>("figure")];

const languageOf = (figure: HTMLElement): string => figure.querySelector("figcaption")?.textContent ?? "";

/** Shows one language of a group: the first, where the group lacks the one that was chosen. */
function choose(group: HTMLElement, language: string): void {
  const figures = figuresOf(group);
  const shown = figures.find((figure) => languageOf(figure) === language) ?? figures[0];
  for (const figure of figures) figure.hidden = figure !== shown;
  for (const button of group.querySelectorAll(".tabs button"))
    button.setAttribute(
      "aria-pressed",
      String(shown !== undefined && button.textContent === languageOf(shown)),
    );
}
