/** What axe finds wrong with a page for people who use a keyboard or a screen reader. */
import axe from "axe-core";
import type { Page } from "playwright-core";
import { expect } from "vitest";

declare global {
  interface Window {
    axe: typeof axe;
  }
}

/** The rules that axe runs by default, and one more: names contain the text that one sees, and may speak. */
const ALL: axe.RunOptions = { rules: { "label-content-name-mismatch": { enabled: true } } };
/** Style sheets would be loaded again for one rule alone, which is experimental and does not run. */
const PRELOAD = { assets: ["media"] };

/** Loads axe into the page, once until the page navigates: it is half a megabyte. */
async function loadAxe(page: Page): Promise<void> {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axe.source);
}

/** The violations in a part of the page as it is, of all rules or of these alone, with their places and reasons. */
export async function findingsOf(
  page: Page,
  { only, within = "html" }: { readonly only?: string[]; readonly within?: string } = {},
): Promise<string[]> {
  await loadAxe(page);
  const options: axe.RunOptions = { ...(only === undefined ? ALL : { runOnly: only }), preload: PRELOAD };
  // What has passed stays in the page: there is a hundred times as much of it.
  const violations = await page.evaluate(
    async ([part, rules]) =>
      (await window.axe.run(part, { ...rules, resultTypes: ["violations"] })).violations,
    [within, options] as const,
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target.join(" ")} ${failureSummary}`),
  );
}

const SCREENS = [
  { width: 1280, height: 800 },
  { width: 360, height: 740 },
] as const;

/** Checks the page on a desk and on a phone, light and dark: what axe finds, that it fits, and more for each screen. */
export async function expectAccessible(
  page: Page,
  check: (width: number) => Promise<void> = async () => {},
): Promise<void> {
  for (const screen of SCREENS) {
    await page.setViewportSize(screen);
    await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
    expect([screen, await findingsOf(page)]).toEqual([screen, []]);
    const excess = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(excess).toBeLessThanOrEqual(0);
    await check(screen.width);
    await page.emulateMedia({ colorScheme: "dark" }); // which changes nothing but colors
    expect([screen, await findingsOf(page, { only: ["color-contrast"] })]).toEqual([screen, []]);
  }
}
