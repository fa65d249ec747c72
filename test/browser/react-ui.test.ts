/** The components of `atrium/react-ui` from the built package: what one window does, the other one shows. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { sharedService } from "../cli/shared-service.ts";
import { type Meeting, meet } from "../sdk/clients.ts";
import { findingsOf } from "./axe.ts";
import { openBrowser } from "./browser.ts";
import { buildComponents } from "./components.ts";

const service = await sharedService();
const browser = await openBrowser();
const components = await buildComponents(service.url);
afterAll(() => components.remove());

const complaints: (readonly string[])[] = [];
afterAll(() => expect(complaints.flat()).toEqual([]));

let meeting: Meeting;
let ada: Page;
let bo: Page;
let boId: string;

/** A window of a new user of the room. */
async function enter(name: string, version: 18 | 19, role = "editor"): Promise<{ page: Page; id: string }> {
  const body = { name, roomId: meeting.roomId, role };
  const { user } = (
    await meeting.customer.send<{ user: { id: string; token: string } }>("POST", "/users", body)
  ).data;
  const opened = await components.open(browser, user.token, version);
  complaints.push(opened.complaints);
  await opened.page.getByText("Connected").waitFor();
  return { page: opened.page, id: user.id };
}

beforeAll(async () => {
  meeting = await meet(service);
  ({ page: ada } = await enter("Ada", 18));
  ({ page: bo, id: boId } = await enter("Bo Berg", 19));
});

const button = (page: Page, name: string | RegExp) => page.getByRole("button", { name });

it("a comment with a mention, a reply and a reaction, by keyboard alone, are in the other window", async () => {
  const field = ada.getByRole("textbox", { name: "Comment" });
  await field.focus();
  await ada.keyboard.type("Can you bring tea, @be");
  const option = ada.getByRole("option", { name: "Bo Berg", selected: true });
  await option.waitFor();
  expect(await field.getAttribute("aria-activedescendant")).toBe(await option.getAttribute("id"));
  await ada.keyboard.press("Escape");
  await option.waitFor({ state: "detached" });
  await ada.keyboard.press("Backspace");
  await ada.keyboard.press("Backspace");
  await ada.keyboard.press("b");
  await ada.keyboard.press("ArrowDown");
  await ada.keyboard.press("Enter");
  await ada.keyboard.type("please?");
  await ada.keyboard.press("Shift+Enter");
  await ada.keyboard.type("And cake.");
  expect(await field.inputValue()).toBe("Can you bring tea, @Bo Berg please?\nAnd cake.");
  await ada.keyboard.press("Enter");
  await bo.locator(".atrium-mention", { hasText: "@Bo Berg" }).waitFor();
  expect(await field.inputValue()).toBe("");
  const { data } = await meeting.customer.send<{ comments: { mentions: string[] }[] }>(
    "GET",
    `/rooms/${meeting.roomId}/comments`,
  );
  expect(data.comments.map(({ mentions }) => mentions)).toEqual([[boId]]);

  await bo.getByRole("textbox", { name: "Reply" }).fill("Yes, both");
  await bo.keyboard.press("Enter");
  const reply = ada.getByRole("article", { name: "Bo Berg" });
  await reply.getByText("Yes, both").waitFor();
  await reply.getByRole("button", { name: "Add reaction" }).press("Enter");
  await ada.keyboard.press("Tab");
  await ada.keyboard.press("Enter");
  await button(bo, "❤️ 1, by Ada").waitFor();
  await button(bo, "❤️ 1, by Ada").click();
  await ada.getByRole("button", { name: "❤️ 2, by Ada, Bo Berg", pressed: true }).waitFor();
});

it("authors change and delete their comments, and a thread is resolved for everyone", async () => {
  const own = bo.getByRole("article", { name: "Bo Berg" });
  await own.getByRole("button", { name: "Edit" }).click();
  await own.getByRole("textbox", { name: "Comment" }).fill("Yes, tea and cake");
  await bo.keyboard.press("Enter");
  await ada.getByText("Yes, tea and cake").waitFor();
  await bo.waitForFunction(() => document.activeElement?.textContent === "Edit");
  expect(await button(ada, "Delete").count()).toBe(0); // the thread has a reply
  await own.getByRole("button", { name: "Delete" }).click();
  await bo.getByRole("group", { name: "Delete this comment?" }).waitFor();
  await bo.keyboard.press("Enter");
  await ada.getByText("Yes, tea and cake").waitFor({ state: "detached" });
  await button(ada, "Resolve").click();
  await button(bo, "Reopen").waitFor();
});

it("a file is uploaded with a comment, and a refused comment stays with its reason", async () => {
  const picture = Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=",
    "base64",
  );
  const composer = ada.locator("main > .atrium-composer");
  await composer
    .locator("input[type=file]")
    .setInputFiles({ name: "plan.png", mimeType: "image/png", buffer: picture });
  await composer.getByRole("button", { name: "Remove plan.png" }).waitFor();
  const field = composer.getByRole("textbox", { name: "Comment" });
  await field.fill("The plan");
  const send = composer.getByRole("button", { name: "Send" });
  await expect.poll(() => send.isEnabled()).toBe(true);
  await send.click();
  await bo.getByRole("link", { name: "plan.png" }).getByRole("img", { name: "plan.png" }).waitFor();

  await field.evaluate((element) => element.removeAttribute("maxlength"));
  await field.fill("x".repeat(10_001));
  await field.press("Enter");
  const alert = composer.getByRole("alert");
  await expect.poll(() => alert.textContent()).toContain("10000");
  expect(await field.inputValue()).toHaveLength(10_001);
  await field.fill("");
  await expect.poll(() => alert.textContent()).toBe("");
});

it("pointers and avatars are those of the others", async () => {
  await ada.mouse.move(200, 120);
  await bo.waitForFunction(() => {
    const box = document.querySelector(".atrium-cursor:not([hidden])")?.getBoundingClientRect();
    const place = document.querySelector(".atrium-cursors")?.getBoundingClientRect();
    return box && place && Math.round(box.left) === 200 && Math.round(box.top - place.top - scrollY) === 120;
  });
  const people = bo.getByRole("list", { name: "Online users" });
  expect(await people.getByRole("listitem").allTextContents()).toEqual(["BBBo Berg", "AAda"]);
});

it("a viewer reads without any control, in light and dark, and from right to left", async () => {
  const { page: viewer } = await enter("Vi", 19, "viewer");
  await viewer.getByText("The plan").waitFor();
  expect(await viewer.getByRole("textbox").count()).toBe(0);
  expect(await viewer.getByRole("button").count()).toBe(0);

  await ada.getByRole("textbox", { name: "Reply" }).first().fill("@");
  await ada.getByRole("listbox").waitFor();
  await ada.emulateMedia({ reducedMotion: "reduce", colorScheme: "light" });
  for (const [theme, colorScheme, dir] of [
    ["", "light", "ltr"],
    ["", "dark", "ltr"],
    ["dark", "light", "rtl"],
    ["light", "dark", "rtl"],
  ] as const) {
    await ada.emulateMedia({ colorScheme });
    await ada.evaluate(
      ([name, direction]) => {
        document.documentElement.dataset.theme = name;
        document.documentElement.dir = direction;
      },
      [theme, dir] as const,
    );
    expect([theme, colorScheme, await findingsOf(ada)]).toEqual([theme, colorScheme, []]);
  }
  await ada.setViewportSize({ width: 360, height: 740 });
  expect(await ada.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
  expect(await findingsOf(viewer)).toEqual([]);
});
