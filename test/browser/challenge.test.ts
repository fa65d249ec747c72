/** Turnstile's widget on the pages for signing in and up, with stand-ins for the widget and for the deployment's keys. */
import type { Browser, Page, Route } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type SharedService, useSharedService } from "../cli/shared-service.ts";
import { launchChromium } from "./chromium.ts";
import { Desk, newAddress } from "./dashboard.ts";

const CHALLENGES = "https://challenges.cloudflare.com";

/** A widget that everyone passes: it numbers its responses, and adds them to the form as the real one does. */
const WIDGET = `
  let count = 0;
  window.turnstile = {
    render(place, { sitekey, "response-field-name": name }) {
      const field = Object.assign(document.createElement("input"), { type: "hidden", name });
      field.value = sitekey + "-" + ++count;
      place.append("Verified", field);
      return String(count);
    },
    remove() { document.querySelector('[name="challenge"]').parentElement.replaceChildren(); },
  };`;

let service: SharedService;
let browser: Browser;

beforeAll(async () => {
  service = await useSharedService();
  browser = await launchChromium();
});
afterAll(() => browser?.close());

/** As a deployment with keys answers; that the real policy allows this is tested beside it. */
async function withKeys(page: Page): Promise<void> {
  await page.route("**/dashboard/sign-*", async (route: Route) => {
    const response = await route.fetch();
    const policy = response.headers()["content-security-policy"] ?? "";
    const widened = policy.replace("script-src 'self'", `script-src 'self' ${CHALLENGES}`);
    await route.fulfill({
      response,
      headers: { ...response.headers(), "content-security-policy": widened },
    });
  });
  await page.route("**/dashboard/api/challenge", (route) =>
    route.fulfill({ json: { data: { site_key: "site" }, error: null, requestId: "1" } }),
  );
}

it("a form has the widget's response, and another one after each refusal", async () => {
  const desk = await Desk.open(browser, service.url);
  const { page } = desk;
  await withKeys(page);
  await page.route(`${CHALLENGES}/**`, (route) =>
    route.fulfill({ contentType: "text/javascript", body: WIDGET }),
  );
  await desk.go("/sign-in");
  for (const challenge of ["site-1", "site-2"]) {
    await page.locator(`input[value="${challenge}"]`).waitFor({ state: "attached" });
    await page.getByLabel("Email").fill(newAddress());
    await page.getByLabel("Password").fill("a wrong password");
    const sent = page.waitForRequest((request) => request.method() === "POST");
    await desk.button("Sign in").click();
    expect((await sent).postDataJSON()).toMatchObject({ challenge });
  }
  await page.getByText("The email address or the password is wrong").waitFor();
  expect(desk.complaints).toEqual([]);
});

it("a page whose widget is blocked says what to allow", async () => {
  const desk = await Desk.open(browser, service.url);
  await withKeys(desk.page);
  await desk.page.route(`${CHALLENGES}/**`, (route) => route.abort());
  await desk.go("/sign-up");
  await desk.page.getByText("allow scripts of challenges.cloudflare.com").waitFor();
});

it("without keys, a page loads nothing from elsewhere", async () => {
  const desk = await Desk.open(browser, service.url);
  await desk.go("/sign-in");
  await desk.page.getByLabel("Password").waitFor();
  await desk.page.waitForLoadState("networkidle");
  expect(desk.requested.filter((url) => !url.startsWith(service.url))).toEqual([]);
});
