/** The page of the first owner, on a service that no one can sign in to, with the code that `npm run deploy` makes. */
import { afterAll, expect, it } from "vitest";
import { codeForFirstOwner, type FirstOwner } from "../../../src/cli/person.ts";
import { query } from "../cli/database.ts";
import { startService } from "../cli/service.ts";
import { preparedState } from "../cli/shared-service.ts";
import { expectAccessible } from "./axe.ts";
import { openBrowser } from "./browser.ts";
import { Desk, newAddress, PASSWORD } from "./dashboard.ts";

const service = await startService({ preparedState: await preparedState() });
afterAll(() => service.stop());
const browser = await openBrowser();

const makeCode = (): Promise<FirstOwner | null> =>
  codeForFirstOwner({ kind: "local", persistTo: service.persistTo }, "Boards", new AbortController().signal);

it("signs the first owner up by the code, after a wrong one, and no one after that", async () => {
  expect(await makeCode()).toBeNull();
  query(service.persistTo, "DELETE FROM memberships");
  const [earlier, first] = [await makeCode(), await makeCode()];
  expect(first?.accountId).toBe(service.accountId);
  const { page, ...owner } = await Desk.open(browser, service.url);
  await page.goto(`${service.url}/setup`);
  await owner.heading("First owner").waitFor();
  await expectAccessible(page);
  await page.getByLabel("Code").fill(earlier?.code ?? "");
  await page.getByLabel("Your name").fill("Ada");
  await page.getByLabel("Email").fill(newAddress());
  await page.getByLabel("Password").fill(PASSWORD);
  await owner.button("Sign up").click();
  await page.getByText("this code is wrong, was used, or has expired").waitFor();
  await page.getByLabel("Code").fill(first?.code.toLowerCase() ?? "");
  await owner.button("Sign up").click();
  await owner.heading("Overview").waitFor();
  expect(page.url()).toContain(service.accountId);
  expect(await makeCode()).toBeNull();
  expect(owner.complaints).toEqual([]);
});
