/** Accessibility of the dashboard: themes, screen sizes, keyboard, and hostile names. */

import { AtriumClient } from "atrium/client";
import { openDocument } from "atrium/documents";
import { afterAll, describe, expect, it } from "vitest";
import { pathPartOf } from "../../../packages/dashboard/data/address.ts";
import { eventually } from "../cli/processes.ts";
import { expectAccessible } from "./axe.ts";
import { openDesk } from "./browser.ts";
import { pressInComposition } from "./chromium.ts";
import { Desk, newAddress, PASSWORD } from "./dashboard.ts";

const EVIL = '<img src=x onerror="document.title=1"><b>Ada</b>';

const { service, browser, desk } = await openDesk({ name: EVIL, organization: EVIL });
const roomId = await desk.createRoom({ name: EVIL, customId: EVIL });
const user = { name: EVIL, roomId, customId: EVIL, profilePicture: "https://elsewhere.test/ada.png" };
const { user: made } = await desk.ask<{ user: { id: string; token: string } }>("POST", "/users", user);
const userId = made.id;
const client = new AtriumClient({ serverUrl: service.url, authToken: made.token });
await client.join();
client.presence.update({ tool: EVIL });
await client.store(EVIL).set(EVIL, { title: EVIL });
await client.comments.create({ text: EVIL, anchor: EVIL });
await client.storage.upload({ file: new File([EVIL], `${EVIL}.html`, { type: "text/html" }) });
const hostile = openDocument(client, EVIL);
hostile.doc.getMap(EVIL).set(EVIL, EVIL);
hostile.doc.getText("text").insert(0, EVIL);
await hostile.flush();
await desk.ask("POST", `/rooms/${roomId}/documents/${encodeURIComponent(EVIL)}/versions`, { name: EVIL });
const named = { name: EVIL, customId: EVIL + "w".repeat(200) };
const identity = { ...named, profilePicture: user.profilePicture, email: "ada@example.com" };
const { identity: ada } = await desk.ask<{ identity: { id: string } }>("POST", "/identities", identity);
await desk.ask("POST", "/users", { name: EVIL, roomId, identityId: ada.id });
await desk.ask("PATCH", "/notification-defaults", { webPush: { sender: "webhook", delay: 0 } });
const invoice = { identityId: ada.id, kind: "$invoice", subjectId: EVIL, data: { title: EVIL } };
await desk.ask("POST", "/inbox-notifications/trigger", invoice);
const webhook = { url: "http://127.0.0.1:9/?name=<b>Ada</b>", events: ["user.created"] };
const { webhook: hook } = await desk.ask<{ webhook: { id: string } }>("POST", "/webhooks", webhook);
const webhookId = hook.id;
await desk.ask("POST", `/webhooks/${webhookId}/test`);
const code = `export default () => ${JSON.stringify(EVIL)};`;
const workflow = { name: EVIL, events: ["user.created"], code };
const { workflow: greeting } = await desk.ask<{ workflow: { id: string } }>("POST", "/workflows", workflow);
const workflowId = greeting.id;
const { group } = await desk.ask<{ group: { id: string } }>("POST", "/groups", named);
await desk.ask("PUT", `/groups/${group.id}/members/${ada.id}`);
const access = { identitiesAccesses: { [ada.id]: ["*:read", "stores:write"] } };
await desk.ask("PUT", `/rooms/${roomId}/access`, { ...access, groupsAccesses: { [group.id]: "editor" } });
await desk.ask("POST", `/rooms/${roomId}/links`, { permissions: "commenter", maxUses: 20 });
await desk.ask("POST", "/api-keys", { name: EVIL });
await desk.ask("POST", "/api-keys", {
  ...{ name: "Narrowed", permissions: ["comments:write", "stores:write"] },
  rooms: [roomId, EVIL, "board-*", "x".repeat(255)],
});
await desk.ask("POST", "/invitations", {});

afterAll(async () => {
  client?.disconnect();
});

interface Stop {
  readonly path: string;
  /** Text that appears once the page has loaded. */
  readonly shows: string;
  /** Done before the page is checked. */
  readonly act?: (desk: Desk) => Promise<void>;
}

const STOPS: Readonly<Record<string, Stop>> = {
  overview: { path: "", shows: "Usage" },
  rooms: { path: "/rooms", shows: "1 online" },
  "several rooms, selected": {
    path: "/rooms",
    shows: "1 online",
    act: async ({ field, button }) => {
      await field("Select all on this page").click();
      await button("Delete 1 room").waitFor();
    },
  },
  "a new room": {
    path: "/rooms",
    shows: "1 online",
    act: async ({ button }) => button("New room").click(),
  },
  "a room": { path: `/rooms/${roomId}`, shows: "tool:" },
  "the menu of a room": {
    path: `/rooms/${roomId}`,
    shows: "tool:",
    act: async ({ button }) => button("More actions").click(),
  },
  "a room's users": { path: `/rooms/${roomId}/users`, shows: "online" },
  "a user": { path: `/rooms/${roomId}/users/${userId}`, shows: "Duration" },
  "a room's stores": { path: `/rooms/${roomId}/stores`, shows: "title" },
  "a room's documents": { path: `/rooms/${roomId}/documents`, shows: "In it now" },
  "a document": {
    path: `/rooms/${roomId}/documents/${pathPartOf(EVIL)}?version=1&compare=now`,
    shows: "Both show the same",
  },
  "a room's comments": { path: `/rooms/${roomId}/comments`, shows: "Delete" },
  "a room's files": { path: `/rooms/${roomId}/files`, shows: "text/html" },
  "a room's access": { path: `/rooms/${roomId}/access?check=${ada.id}`, shows: "Its own entry" },
  "custom access": {
    path: `/rooms/${roomId}/access`,
    shows: "Choose an identity",
    act: async ({ button }) => button(`Custom access of ${EVIL}`).last().click(),
  },
  "a new link": {
    path: `/rooms/${roomId}/access`,
    shows: "0 of 20",
    act: async ({ button }) => button("New link").click(),
  },
  identities: { path: "/people", shows: "ada@example.com" },
  groups: { path: "/people/groups", shows: "Custom ID" },
  "an identity": { path: `/people/identities/${ada.id}`, shows: "sent" },
  "a group": { path: `/people/groups/${group.id}`, shows: "Remove" },
  "a new member of a group": {
    path: `/people/groups/${group.id}`,
    shows: "Remove",
    act: async ({ page }) => {
      await page.keyboard.press("n");
      await page.getByRole("option").first().waitFor();
    },
  },
  "the files of all rooms": { path: "/files", shows: "text/html" },
  webhooks: { path: "/webhooks", shows: "user.created" },
  "a webhook": {
    path: `/webhooks/${webhookId}`,
    shows: "attempt",
    act: async ({ page }) => page.locator("summary").first().click(),
  },
  "a webhook's configuration": { path: `/webhooks/${webhookId}/configuration`, shows: "Events per request" },
  "a webhook's deletion": {
    path: `/webhooks/${webhookId}`,
    shows: "attempt",
    act: async (desk) => desk.choose("Delete…"),
  },
  workflows: { path: "/workflows", shows: "enabled" },
  "a workflow": { path: `/workflows/${workflowId}`, shows: "No runs yet" },
  "a workflow's code": { path: `/workflows/${workflowId}/code`, shows: "Retries" },
  "a new workflow": { path: "/workflows/new", shows: "export default" },
  "API keys": { path: "/settings", shows: "never" },
  "a key to be narrowed": {
    path: "/settings",
    shows: "never",
    act: async ({ button, field }) => {
      await button("New API key").click();
      await field("Permissions").selectOption("custom");
      await field("Documents").waitFor();
    },
  },
  "a key shown once": {
    path: "/settings",
    shows: "never",
    act: async ({ button, field }) => {
      await button("New API key").click();
      await field("Name").fill("Back end");
      await button("Create key").click();
      await button("Done").waitFor();
    },
  },
  "the request log": { path: "/logs?show=all", shows: "Member" },
  "the audit log": { path: "/logs/audit", shows: "Create API key" },
  members: { path: "/settings/members", shows: "Withdraw" },
  quotas: { path: "/settings/quotas", shows: "Stored files" },
  organization: { path: "/settings/organization", shows: "Delete the organization" },
  profile: { path: "/settings/profile", shows: "Your data" },
  "sign-in": { path: "/settings/sign-in", shows: "Change password" },
  shortcuts: {
    path: "/rooms",
    shows: "1 online",
    act: async ({ page }) => page.keyboard.press("?"),
  },
  "going anywhere": {
    path: "/rooms",
    shows: "1 online",
    act: async ({ page }) => {
      await page.keyboard.press("Control+k");
      await page.getByRole("listbox").getByRole("option").first().waitFor();
    },
  },
};

let hasActed = false;

async function visit({ path, shows, act }: Stop): Promise<void> {
  const { pathname } = new URL(desk.page.url());
  const next = `/dashboard/${desk.accountId}${path}`;
  const shown = desk.page.locator("#main").getByText(shows).first();
  const isAmbiguous = pathname === next || (await shown.count()) > 0;
  // Another page is shown without loading the dashboard again, unless something is open on the present one.
  if (isAmbiguous || hasActed || !pathname.includes(desk.accountId)) await desk.enter(path);
  else await desk.page.evaluate((address) => history.pushState(null, "", address), next);
  hasActed = act !== undefined;
  await shown.waitFor();
  await act?.(desk);
}

/** The share of the page's width beside everything that is visible on it: text, and what has a border. */
const emptyShare = () =>
  desk.page.evaluate(() => {
    const page = document.querySelector("#main .page") ?? document.body;
    const { left, right: end } = page.getBoundingClientRect();
    const rights = [...page.querySelectorAll(":scope > :not(header, nav) *")].flatMap((one) => {
      if (getComputedStyle(one).borderTopWidth !== "0px") return one.getBoundingClientRect().right;
      if (one.children.length > 0) return [];
      const text = new Range();
      text.selectNodeContents(one);
      return text.getBoundingClientRect().right;
    });
    return (end - Math.max(left, ...rights)) / (end - left);
  });

/** What can be pressed and is smaller than 24 by 24 pixels, except links within sentences. */
const smallTargets = () =>
  desk.page.evaluate(() => {
    const pressed = "a[href], button, input, select, textarea, summary, [role=option]";
    const isInSentence = (one: Element) => {
      const sentence = one.matches("a") ? one.closest("p") : null;
      return (sentence?.textContent ?? "").length > (one.textContent ?? "").length;
    };
    return [...document.querySelectorAll(pressed)].flatMap((one) => {
      const { width, height } = one.getBoundingClientRect();
      const isHidden = width === 0 || one.closest("[aria-hidden=true], [tabindex='-1'].hidden") !== null;
      if (isHidden || isInSentence(one) || (width >= 24 && height >= 24)) return [];
      return [`${one.tagName} ${one.textContent || one.getAttribute("aria-label")}: ${width}×${height}`];
    });
  });

/** What is wider than the box that clips it, or than the window; code and the rows of tabs scroll on purpose. */
const cutOff = () =>
  desk.page.evaluate(() =>
    [...document.querySelectorAll("#main *")].flatMap((one) => {
      const { overflowX, textOverflow } = getComputedStyle(one);
      if (textOverflow === "ellipsis" || one.closest(".hidden, .input, .code-block, .cm-editor, .tabs"))
        return [];
      const isClipped = overflowX !== "visible" && one.scrollWidth > one.clientWidth + 1;
      const isOutside = one.getBoundingClientRect().right > innerWidth + 1;
      return isClipped || isOutside ? [`${one.tagName}.${one.className}: ${one.textContent}`] : [];
    }),
  );

const WIDE = { width: 1920, height: 1080 };
describe("on every screen, light and dark,", () => {
  afterAll(async () => {
    await desk.page.setViewportSize({ width: 1280, height: 800 });
    await desk.page.emulateMedia({ colorScheme: "light" });
  });

  it.each(Object.keys(STOPS))("%s passes axe, does not overflow, and shows names as text", async (name) => {
    const stop = STOPS[name];
    if (stop !== undefined) await visit(stop);
    await expectAccessible(desk.page, async (width) => {
      expect(await smallTargets()).toEqual([]);
      if (width < 400) expect(await cutOff()).toEqual([]);
    });
    await desk.page.setViewportSize(WIDE);
    expect(await emptyShare()).toBeLessThan(1 / 3);
    expect(await desk.page.locator("#root b, #root img[src=x]").count()).toBe(0);
    expect(await desk.page.title()).not.toBe("1");
  });
});

describe("a hostile name", () => {
  it("loads nothing from elsewhere on any of these pages", () => {
    expect(desk.requested.filter((url) => !url.startsWith(service.url))).toEqual([]);
  });

  it("is shown verbatim", async () => {
    await desk.enter(`/rooms/${roomId}`);
    await desk.heading(EVIL).waitFor();
    await desk.page
      .getByRole("region", { name: "Participants" })
      .getByText(`tool: ${EVIL.slice(0, 40)}`)
      .waitFor();
    await desk.enter(`/rooms/${roomId}/comments`);
    await desk.page.locator(".comment-text", { hasText: EVIL }).waitFor();
  });
});

describe("a person with only a keyboard", () => {
  it("signs up, creates a room, and finds it again", async () => {
    const ada = await Desk.open(browser, service.url);
    const { keyboard } = ada.page;
    await ada.go("/sign-up");
    await ada.page.locator("input:focus").waitFor();
    for (const text of ["Ada", newAddress(), PASSWORD, "Boards"]) {
      await keyboard.type(text);
      await keyboard.press("Tab");
    }
    await keyboard.press("Enter");
    await ada.heading("Get started in three steps").waitFor();
    await keyboard.press("n");
    await ada.dialog().locator("input:focus").waitFor();
    await keyboard.type("Typed");
    await keyboard.press("Enter");
    await ada.heading("Typed").waitFor();
    // The page is busy between the two keys: what counts is when they are pressed.
    await ada.page.evaluate(() => {
      const beBusy = () => {
        for (const end = Date.now() + 1_600; Date.now() < end; );
      };
      addEventListener("keydown", beBusy, { once: true });
    });
    await Promise.all([keyboard.press("g"), keyboard.press("h")]);
    await ada.heading("Webhooks").waitFor();
    await keyboard.press("Control+k");
    await ada.dialog().locator("input:focus").waitFor();
    await keyboard.type("typ");
    for (const key of ["Enter", "Escape"]) await pressInComposition(ada.dialog().getByRole("combobox"), key);
    await ada.page
      .getByRole("option", { name: "Typed" })
      .and(ada.page.locator("[data-highlighted]"))
      .waitFor();
    await keyboard.press("Enter");
    await ada.heading("Typed").waitFor();
    expect(ada.complaints).toEqual([]);
    await ada.close();
  });

  it("skips the navigation and always sees the focus", async () => {
    await desk.enter("/webhooks");
    // The list has stops of its own: before it is there, four steps lead out of the page.
    await desk.row("user.created").waitFor();
    await desk.page.keyboard.press("Tab");
    const skip = desk.page.locator(":focus", { hasText: "Skip to content" });
    await skip.waitFor();
    await eventually("the link moves into view", async () => ((await skip.boundingBox())?.x ?? -1) >= 0);
    await desk.page.keyboard.press("Enter");
    await desk.page.locator("#main:focus").waitFor();
    for (let step = 0; step < 4; step += 1) {
      await desk.page.keyboard.press("Tab");
      expect(await desk.page.locator(":focus").evaluate((one) => getComputedStyle(one).outlineStyle)).toBe(
        "solid",
      );
    }
  });

  it("returns from a dialog to the button that opened it", async () => {
    await desk.enter("/rooms");
    await desk.button("New room").focus();
    await desk.page.keyboard.press("Enter");
    await desk.dialog().locator("input:focus").waitFor();
    await desk.page.keyboard.press("Escape");
    await desk.dialog().waitFor({ state: "detached" });
    await desk.page.locator(":focus", { hasText: "New room" }).waitFor();
  });

  it("turns single-key shortcuts off", async () => {
    await desk.page.keyboard.press("?");
    await desk.field("Single-key shortcuts").focus();
    await desk.page.keyboard.press("Space");
    await desk.page.keyboard.press("Escape");
    await desk.dialog().waitFor({ state: "detached" });
    await desk.page.keyboard.press("n");
    await desk.page.keyboard.press("Control+k");
    await desk.heading("Go to").waitFor();
    expect(await desk.heading("New room").count()).toBe(0);
    await desk.page.keyboard.press("Escape");
  });
});

describe("the theme", () => {
  const ground = () => desk.page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const groundBecomes = (color: string) => expect.poll(ground).toBe(color);

  it("follows the system until the person chooses one, which is remembered", async () => {
    await desk.enter("/settings/profile");
    await desk.heading("Settings").waitFor();
    await desk.page.emulateMedia({ colorScheme: "light" });
    const light = await ground();
    await desk.page.emulateMedia({ colorScheme: "dark" });
    await expect.poll(ground).not.toBe(light);
    await desk.page.locator(".person").click();
    await desk.page.getByRole("menuitemradio", { name: "Light" }).click();
    await groundBecomes(light);
    await desk.page.reload();
    await desk.heading("Settings").waitFor();
    await groundBecomes(light);
  });
});
