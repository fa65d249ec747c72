/** Colors the samples that the Worker has rendered as plain text, as those of the API reference. */
import { highlighted, type Language } from "./highlighted.ts";

const LANGUAGE = "language-";

export function highlightSamples(): void {
  for (const code of document.querySelectorAll<HTMLElement>(`code[class^="${LANGUAGE}"]`))
    code.innerHTML = highlighted(
      code.textContent ?? "",
      code.className.slice(LANGUAGE.length) as Language, // of `sample` in page.ts
    );
}
