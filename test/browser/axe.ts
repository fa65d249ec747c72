/** What axe finds wrong with a page for people who use a keyboard or a screen reader. */
import axe from "axe-core";
import type { Page } from "playwright-core";

declare global {
  interface Window {
    axe: typeof axe;
  }
}

/** The rules that axe runs by default, and one more: names contain the text that one sees, and may speak. */
const ALL: axe.RunOptions = { rules: { "label-content-name-mismatch": { enabled: true } } };

/** The violations on the page as it is, of all rules or of these alone, with their places and reasons. */
export async function findingsOf(page: Page, only?: string[]): Promise<string[]> {
  await page.evaluate(axe.source);
  const options = only === undefined ? ALL : { runOnly: only };
  const { violations } = await page.evaluate((rules) => window.axe.run(rules), options);
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target.join(" ")} ${failureSummary}`),
  );
}
