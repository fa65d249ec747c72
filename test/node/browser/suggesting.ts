/** Two people with a starter's editor: one suggests changes, and the other accepts some of them. */
import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";

const EDITABLE = "main [contenteditable=true]:not(.bn-thread *)";

const textOf = async (page: Page): Promise<string> => (await page.locator(EDITABLE).textContent()) ?? "";

const partsOf = (page: Page): Locator =>
  page
    .locator("[aria-label=Suggestions]")
    .getByRole("listitem")
    .filter({ has: page.getByRole("checkbox") });

/** `unfold` shows the parts of Ada's suggestion to Bo. */
export async function suggest(
  ada: Page,
  bo: Page,
  unfold: (page: Page) => Promise<void> = async () => {},
): Promise<void> {
  await ada.getByRole("button", { name: "Suggest changes" }).click();
  const done = ada.getByRole("button", { name: "Done" });
  await done.waitFor();
  await ada
    .getByRole("status")
    .filter({ hasText: /saved|Connected/ })
    .waitFor();
  const { length } = await textOf(bo);
  await expect.poll(async () => (await textOf(ada)).length).toBeGreaterThan(length / 2);
  await ada.locator(EDITABLE).click();
  await ada.keyboard.press("Control+Home");
  await ada.keyboard.type("First, ");
  await ada.keyboard.press("Control+End");
  await ada.keyboard.type("and last");
  await unfold(bo);
  await partsOf(bo).getByRole("insertion").getByText("and last").waitFor();
  await partsOf(bo).getByRole("insertion").getByText("First,").waitFor();
  expect(await textOf(bo)).not.toContain("First,");
  await partsOf(bo).filter({ hasText: "and last" }).last().getByRole("checkbox").uncheck();
  await bo.getByRole("button", { name: "Accept selected" }).click();
  await done.waitFor({ state: "detached" });
  for (const page of [ada, bo]) {
    await expect.poll(() => textOf(page)).toContain("First, ");
    expect(await textOf(page)).not.toContain("and last");
  }
}
