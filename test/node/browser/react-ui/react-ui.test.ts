/** The components of `atrium/react-ui` from the built package: what one window does, the other one shows. */

import type { Comment } from "atrium/client";
import type { Page, Route } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Doc, encodeStateAsUpdate } from "yjs";
import { Deferred } from "../../../../packages/sdk/core/runtime.ts";
import { sharedService } from "../../cli/shared-service.ts";
import { type Meeting, meet } from "../../sdk/clients.ts";
import { findingsOf } from "../axe.ts";
import { openBrowser } from "../browser.ts";
import { pressInComposition } from "../chromium.ts";
import { buildComponents } from "./components.ts";

const service = await sharedService();
const browser = await openBrowser();
const components = await buildComponents(service.url);
afterAll(() => components.remove());

const complaints: (readonly string[])[] = [];
const isOfNetwork = (complaint: string) =>
  /Failed to load resource|ERR_INTERNET_DISCONNECTED|AtriumError: No access/.test(complaint);
const expectNoComplaints = () =>
  expect(complaints.flat().filter((complaint) => !isOfNetwork(complaint))).toEqual([]);
afterAll(expectNoComplaints);

/** As the SDK has it. */
const UNDO_MS = 6_000;
let meeting: Meeting;
let ada: Page;
let bo: Page;
let adaId: string;
let boId: string;

interface Commented {
  readonly comment: { readonly id: string };
}

interface Identified {
  readonly identity: { readonly id: string };
  readonly token: string;
}

declare global {
  interface Window {
    held: (() => void)[];
    release: () => void;
  }
}

/** A window of a new user of the room. */
async function enter(
  name: string,
  version: 18 | 19,
  role = "editor",
  given = {},
): Promise<{ page: Page; id: string }> {
  const body = { name, roomId: meeting.roomId, role };
  const { user } = (
    await meeting.customer.send<{ user: { id: string; token: string } }>("POST", "/users", body)
  ).data;
  const opened = await components.open(browser, user.token, version, { given });
  complaints.push(opened.complaints);
  await opened.page.getByText("Connected").waitFor();
  return { page: opened.page, id: user.id };
}

beforeAll(async () => {
  meeting = await meet(service);
  ({ page: ada, id: adaId } = await enter("Ada", 18));
  ({ page: bo, id: boId } = await enter("Bo Berg", 19, "editor", { follow: "1" }));
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
  const path = `/rooms/${meeting.roomId}/comments`;
  const mentions = async () => {
    const { data } = await meeting.customer.send<{ comments: Pick<Comment, "mentions" | "mentioned">[] }>(
      "GET",
      path,
    );
    return data.comments.map((comment) => [...comment.mentions, ...(comment.mentioned ?? [])]);
  };
  expect(await mentions()).toEqual([[boId]]);
  const group = { kind: "group", id: "1" };
  const asked = { userId: boId, text: "Or shall @Group 1 bring it?", mentions: [group] };
  const { comment } = (await meeting.customer.send<Commented>("POST", path, asked)).data;
  await ada.locator(".atrium-mention", { hasText: "@Group 1" }).waitFor();
  const own = bo.getByRole("article", { name: "Bo Berg" });
  const edit = async (before: string, after: string, choose = async () => {}) => {
    await own.getByRole("button", { name: "Edit" }).click();
    const edited = own.getByRole("textbox", { name: "Comment" });
    await edited.evaluate((element: HTMLTextAreaElement, text) => {
      const start = element.value.indexOf(text);
      element.setSelectionRange(start, start + text.length);
    }, before);
    await bo.keyboard.insertText(after);
    await choose();
    await bo.keyboard.press("Enter");
    await own.getByRole("button", { name: "Edit" }).waitFor();
  };
  await edit("it?", "it, @ad", () => bo.getByRole("option", { name: "Ada" }).click());
  expect(await mentions()).toEqual([[boId], [adaId, group]]);
  await edit("@Group 1", "Ada");
  expect(await mentions()).toEqual([[boId], [adaId]]);
  await meeting.customer.send("DELETE", `${path}/${comment.id}`);
  for (const page of [ada, bo]) await page.getByText("bring it?").waitFor({ state: "detached" });

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

const focused = (page: Page) => page.evaluate(() => document.activeElement?.textContent);

const turn = (page: Page, dir: string) =>
  page.evaluate((direction) => {
    document.documentElement.dir = direction;
  }, dir);

/** Keeps in `held` what the page sends, of this type or all of it, until the returned function is called. */
async function holdBack(page: Page, type = ""): Promise<() => Promise<void>> {
  await page.evaluate((kept) => {
    const { send } = WebSocket.prototype;
    window.held = [];
    WebSocket.prototype.send = function (data) {
      const sendNow = () => Reflect.apply(send, this, [data]);
      if (String(data).includes(kept)) window.held.push(sendNow);
      else sendNow();
    };
    window.release = () => {
      WebSocket.prototype.send = send;
      for (const sendNow of window.held) sendNow();
    };
  }, type);
  return () => page.evaluate(() => window.release());
}

const picture = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=",
  "base64",
);
const fileOf = (name: string) => ({ name, mimeType: "image/png", buffer: picture });

interface Stored {
  readonly files: readonly { readonly filename: string }[];
}

/** The names of the room's files. */
const stored = async (): Promise<string[]> => {
  const { data } = await meeting.customer.send<Stored>("GET", `/files?roomId=${meeting.roomId}`);
  return data.files.map(({ filename }) => filename).sort();
};

interface Named {
  readonly comments: readonly Pick<Comment, "mentions" | "text">[];
}

it("keys of a composition send nothing and choose no one, and a mention is that of the user who was chosen", async () => {
  const [{ page, id }, ann, lee, sato] = await Promise.all([
    enter("Writer", 19),
    meeting.customer.createUser(meeting.roomId, "Ann"),
    meeting.customer.createUser(meeting.roomId, "Ann Lee"),
    meeting.customer.createUser(meeting.roomId, "佐藤"),
  ]);
  const composer = page.locator("main > .atrium-composer");
  const field = composer.getByRole("textbox", { name: "Comment" });
  const written = async () => {
    const { data } = await meeting.customer.send<Named>("GET", `/rooms/${meeting.roomId}/comments`);
    return data.comments.map(({ text, mentions }) => [text, mentions]);
  };
  const before = (await written()).length;
  await field.focus();
  const session = await page.context().newCDPSession(page);
  const compose = async (text: string) => {
    const [selectionStart, selectionEnd] = [text.length, text.length];
    await session.send("Input.imeSetComposition", { text, selectionStart, selectionEnd });
    await session.send("Input.insertText", { text });
  };
  await page.keyboard.insertText("今日は@佐");
  const option = page.getByRole("option", { name: "佐藤" });
  await option.waitFor();
  for (const key of ["Enter", "Tab", "Escape", "ArrowDown"]) await pressInComposition(field, key);
  await option.waitFor();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Backspace");
  await compose("さん");
  for (const key of ["Enter", "Escape"]) await pressInComposition(field, key);
  await page.keyboard.insertText("、(@ann");
  await page.getByRole("option", { name: "Ann", exact: true }).click();
  for (let count = 0; count < 5; count += 1) await page.keyboard.press("Backspace");
  await page.keyboard.insertText("@ann l");
  await page.getByRole("option", { name: "Ann Lee" }).click();
  await page.keyboard.press("Backspace");
  await page.keyboard.insertText(")");
  expect(await field.inputValue()).toBe("今日は@佐藤さん、(@Ann Lee)");
  expect((await written()).length).toBe(before);
  await page.keyboard.press("Enter");
  const mention = ada.locator(".atrium-mention", { hasText: "@Ann Lee" });
  await mention.waitFor();
  await ada.locator(".atrium-mention", { hasText: "@佐藤" }).waitFor();
  expect((await written()).at(-1)).toEqual(["今日は@佐藤さん、(@Ann Lee)", [sato.id, lee.id]]);
  expect((await written()).flatMap(([, mentions]) => mentions)).not.toContain(ann.id);
  await page.close();
  for (const user of [id, ann.id, lee.id, sato.id])
    await meeting.customer.send("DELETE", `/users/${user}?roomId=${meeting.roomId}`);
});

it("files that were chosen and not sent leave the room: by their button, with their form, and with the page", async () => {
  const { page } = await enter("Uploader", 18);
  const composer = page.locator("main > .atrium-composer");
  const choose = async (...names: string[]) => {
    await composer.locator("input[type=file]").setInputFiles(names.map(fileOf));
    for (const name of names) await composer.getByRole("button", { name: `Remove ${name}` }).waitFor();
    await expect.poll(() => composer.getByRole("button", { name: "Send" }).isEnabled()).toBe(true);
  };
  expect(await stored()).toEqual([]);
  await choose("a.png", "b.png");
  expect(await stored()).toEqual(["a.png", "b.png"]);
  await composer.getByRole("button", { name: "Remove a.png" }).click();
  await expect.poll(stored).toEqual(["b.png"]);
  await page.reload();
  await expect.poll(stored).toEqual([]);
  await choose("c.png");
  const deleted = page.waitForResponse((response) => response.request().method() === "DELETE");
  await page.evaluate(() => Object(window).leave());
  await expect.poll(stored).toEqual([]);
  // A page that is closed earlier reports the request that this cuts off.
  await (await deleted).finished();
  await page.close();
});

it("files are shown to readers who have another address of the service, whatever their names are", async () => {
  const names = ["photo (1).png", "a[1] 100%.png", "写真（１）.txt"];
  const composer = ada.locator("main > .atrium-composer");
  await composer.locator("input[type=file]").setInputFiles(names.map(fileOf));
  await expect.poll(() => composer.getByRole("button", { name: "Send" }).isEnabled()).toBe(true);
  await composer.getByRole("button", { name: "Send" }).click();
  const other = service.url.replace("localhost", "127.0.0.1");
  const { user } = (
    await meeting.customer.send<{ user: { token: string } }>("POST", "/users", {
      ...{ name: "Reader", roomId: meeting.roomId, role: "viewer" },
    })
  ).data;
  const opened = await components.open(browser, user.token, 19, { given: { service: other } });
  complaints.push(opened.complaints);
  const links = opened.page.getByRole("list", { name: "Attached files" }).getByRole("link");
  await expect.poll(() => links.count()).toBe(3);
  expect(await links.evaluateAll((all) => all.map((link) => new URL(Object(link).href).origin))).toEqual([
    ...names.map(() => other),
  ]);
  const shown = links.getByRole("img");
  expect(await shown.evaluateAll((all) => all.map((image) => Object(image).alt))).toEqual(names.slice(0, 2));
  const isLoaded = () => shown.evaluateAll((all) => all.every((image) => Object(image).naturalWidth === 1));
  await shown.last().scrollIntoViewIfNeeded();
  await expect.poll(isLoaded).toBe(true);
  expect(await links.last().textContent()).toBe("写真（１）.txt");
  await opened.page.close();
  const photo = ada.getByRole("link", { name: "photo (1).png" });
  const own = ada.getByRole("article", { name: "Ada" }).filter({ has: photo });
  await own.getByRole("button", { name: "Delete" }).click();
  await ada.keyboard.press("Enter");
  await photo.waitFor({ state: "detached" });
});

type UserRecords = readonly { readonly id: string; readonly name: string }[];

/** Has a page receive other users than the service answers, for the newest ones and for searches. */
const answerUsers = (
  page: Page,
  answer: (users: UserRecords, search: string | undefined) => UserRecords | Promise<UserRecords>,
) =>
  page.routeWebSocket(/\/socket/, (socket) => {
    const server = socket.connectToServer();
    const asked = new Map<string, string | undefined>();
    socket.onMessage((message) => {
      const { type, requestId, data } = JSON.parse(String(message).replace(/^ping$/, "{}"));
      if (type === "USERS_GET" && data.userIds === undefined) asked.set(requestId, data.search);
      server.send(message);
    });
    server.onMessage(async (message) => {
      const frames = String(message) === "pong" ? "pong" : [JSON.parse(String(message))].flat();
      if (frames === "pong") return socket.send(message);
      for (const frame of frames) {
        if (asked.has(frame.requestId))
          frame.data.users = await answer(frame.data.users, asked.get(frame.requestId));
        socket.send(JSON.stringify([frame]));
      }
    });
  });

it("authors and mentioned users have their names and kinds although they are not among the loaded users", async () => {
  const { customer, roomId } = meeting;
  const agent = { name: "Old Olga", kind: "agent" };
  const { identity } = (await customer.send<{ identity: { id: string } }>("POST", "/identities", agent)).data;
  const asUser = { name: "Old Olga", roomId, identityId: identity.id };
  const { user: old } = (await customer.send<{ user: { id: string } }>("POST", "/users", asUser)).data;
  const path = `/rooms/${meeting.roomId}/comments`;
  const text = "By @Old Olga";
  const comment = { userId: old.id, text, mentions: [old.id] };
  const { id } = (await meeting.customer.send<Commented>("POST", path, comment)).data.comment;
  const { user } = (
    await meeting.customer.send<{ user: { token: string } }>("POST", "/users", {
      ...{ name: "Newcomer", roomId: meeting.roomId },
    })
  ).data;
  const page = await browser.newPage();
  // The room has so many users that the first page is without this one.
  await answerUsers(page, (users) => users.filter(({ id }) => id !== old.id));
  await components.openIn(page, user.token, 19);
  const shown = page.getByRole("article", { name: "Old Olga" });
  await shown.getByText("By").waitFor();
  await shown.getByText("Agent", { exact: true }).waitFor();
  await page.locator(".atrium-mention", { hasText: "@Old Olga" }).waitFor();
  await page.close();
  await meeting.customer.send("DELETE", `${path}/${id}`);
});

it("anyone of a room with more users than are loaded can be mentioned, while late answers change nothing", async () => {
  const old = await meeting.customer.createUser(meeting.roomId, "Al");
  const { user } = (
    await meeting.customer.send<{ user: { token: string } }>("POST", "/users", {
      ...{ name: "Writer", roomId: meeting.roomId },
    })
  ).data;
  const page = await browser.newPage();
  const searches: string[] = [];
  const held = new Deferred();
  await answerUsers(page, async (users, search) => {
    if (search !== undefined) searches.push(search);
    if (search === "a") await held.promise;
    if (search !== undefined) return users;
    // The first page is full of newer users, whose names begin in the same way.
    const newer = (_: unknown, at: number) => ({ ...users[0], id: `newer ${at}`, name: `Alice ${at}` });
    return Array.from({ length: 1_000 }, newer);
  });
  await components.openIn(page, user.token, 19);
  await page.getByText("Connected").waitFor();
  const field = page.locator("main > .atrium-composer").getByRole("textbox");
  await field.focus();
  await page.keyboard.type("@a");
  await expect.poll(() => searches).toEqual(["a"]);
  await page.keyboard.type("l");
  const option = page.getByRole("option", { name: "Al", exact: true, selected: true });
  await option.waitFor();
  held.resolve();
  await page.keyboard.type("i");
  await option.waitFor({ state: "detached" });
  await expect.poll(() => searches).toEqual(["a", "al", "ali"]); // a slow page searches after it has filtered
  await page.keyboard.press("Backspace");
  await option.waitFor();
  await expect.poll(() => searches).toEqual(["a", "al", "ali", "al"]);
  await page.keyboard.press("Enter");
  await page.keyboard.type("hello");
  await page.keyboard.press("Enter");
  await page.locator(".atrium-mention", { hasText: "@Al" }).waitFor();
  const { data } = await meeting.customer.send<{ comments: Pick<Comment, "id" | "mentions">[] }>(
    "GET",
    `/rooms/${meeting.roomId}/comments`,
  );
  const written = data.comments.filter(({ mentions }) => mentions.includes(old.id));
  expect(written).toHaveLength(1);
  await page.close();
  await meeting.customer.send("DELETE", `/rooms/${meeting.roomId}/comments/${written[0]?.id}`);
});

it("a comment with a file stands in its place while it is sent, and a refused one comes back with its reason", async () => {
  const composer = ada.locator("main > .atrium-composer");
  await composer
    .locator("input[type=file]")
    .setInputFiles({ name: "plan.png", mimeType: "image/png", buffer: picture });
  await composer.getByRole("button", { name: "Remove plan.png" }).waitFor();
  const field = composer.getByRole("textbox", { name: "Comment" });
  await field.fill("The plan");
  const send = composer.getByRole("button", { name: "Send" });
  await expect.poll(() => send.isEnabled()).toBe(true);
  const release = await holdBack(ada);
  await send.click();
  const sending = composer.getByRole("article").filter({ hasText: "Sending…" });
  await sending.getByText("The plan", { exact: true }).waitFor();
  expect(await field.inputValue()).toBe("");
  await release();
  await sending.waitFor({ state: "detached" });
  const files = bo.getByRole("list", { name: "Attached files" });
  await files.getByRole("link", { name: "plan.png" }).getByRole("img", { name: "plan.png" }).waitFor();
  const shared = ada.getByRole("article", { name: "Ada" }).last();
  await shared.getByRole("button", { name: "Edit" }).click();
  expect(await shared.getByRole("textbox").inputValue()).toBe("The plan");
  await ada.keyboard.press("Escape");

  await field.evaluate((element) => element.removeAttribute("maxlength"));
  await field.fill("x".repeat(10_001));
  await field.press("Enter");
  const alert = composer.getByRole("alert");
  await expect.poll(() => alert.textContent()).toContain("10000");
  expect(await field.inputValue()).toHaveLength(10_001);
  await composer.getByRole("button", { name: "Try again" }).waitFor();
  await field.fill("");
  await expect.poll(() => alert.textContent()).toBe("");
});

it("pointers and avatars are those of the others, also in a zoomed area, and an avatar can be a button", async () => {
  await ada.evaluate(() => scrollTo(0, 0));
  await ada.mouse.move(200, 120);
  await bo.waitForFunction(() => {
    const box = document.querySelector(".atrium-cursor:not([hidden])")?.getBoundingClientRect();
    const place = document.querySelector(".atrium-cursors")?.getBoundingClientRect();
    return box && place && Math.round(box.left) === 410 && Math.round(box.top - place.top) === 260;
  });
  const zoomed = (zoom: string) =>
    ada
      .locator(".atrium-cursors")
      .evaluate((area, to) => Object.assign((area as HTMLElement).style, { zoom: to }), zoom);
  await zoomed("2");
  await ada.mouse.move(300, 120);
  await bo.waitForFunction(() => {
    const box = document.querySelector(".atrium-cursor:not([hidden])")?.getBoundingClientRect();
    return box && Math.round(box.left) === 10 + 2 * 150;
  });
  await zoomed("1");
  const people = bo.getByRole("list", { name: "Online users" });
  // Those of earlier windows leave by and by.
  await expect
    .poll(() => people.getByRole("listitem").allTextContents())
    .toEqual(["BBFollow Bo Berg", "AFollow Ada"]);
  await people.getByRole("button", { name: "Follow Ada", pressed: false }).press("Enter");
  await people.getByRole("button", { name: "Follow Ada", pressed: true }).waitFor();
  await bo.locator(".atrium-cursor", { hasText: "Following Ada" }).waitFor();
  expect(await findingsOf(bo)).toEqual([]);
});

it("the deletion of a thread before its reader is marked as having read it is no error of the page", async () => {
  const release = await holdBack(bo, "THREAD_READ");
  const path = `/rooms/${meeting.roomId}/comments`;
  const comment = { userId: adaId, text: "In the wrong room" };
  const { id } = (await meeting.customer.send<Commented>("POST", path, comment)).data.comment;
  const written = bo.getByText("In the wrong room");
  await written.scrollIntoViewIfNeeded();
  await bo.waitForFunction(() => window.held.length > 0);
  await meeting.customer.send("DELETE", `${path}/${id}`);
  await written.waitFor({ state: "detached" });
  await release();
  const reaction = button(bo, "👍 1, by Bo Berg");
  const plan = bo.getByRole("article", { name: "Ada" }).last();
  await plan.getByRole("button", { name: "Add reaction" }).press("Enter");
  await bo.keyboard.press("Enter");
  await reaction.waitFor(); // answered after the mark
  expectNoComplaints();
  await reaction.click();
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
    await ada.evaluate((name) => {
      document.documentElement.dataset.theme = name;
    }, theme);
    await turn(ada, dir);
    expect([theme, colorScheme, await findingsOf(ada)]).toEqual([theme, colorScheme, []]);
  }
  await ada.setViewportSize({ width: 360, height: 740 });
  expect(await ada.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
  expect(await findingsOf(viewer)).toEqual([]);
});

it("an inbox shows who has commented where, pages, and what fails", async () => {
  const identify = async (name: string): Promise<Identified> => {
    const body = { customId: `${name}-${meeting.roomId}`, name };
    return (await meeting.customer.send<Identified>("POST", "/identify", body)).data;
  };
  const [cleo, dan] = [await identify("Cleo"), await identify("Dan")];
  await meeting.customer.send("PUT", `/rooms/${meeting.roomId}/access`, {
    identitiesAccesses: { [cleo.identity.id]: ["*:write"], [dan.identity.id]: ["*:write"] },
  });
  const notify = (subjectId: string) =>
    meeting.customer.send("POST", "/inbox-notifications/trigger", {
      ...{ identityId: cleo.identity.id, kind: "$invoice", subjectId, data: { amount: 12 } },
    });
  for (let number = 1; number <= 51; number += 1) await notify(`${number}`);
  const open = async ({ token }: Identified, version: 18 | 19) => {
    const given = { room: meeting.roomId, known: JSON.stringify({ [dan.identity.id]: "Dan" }) };
    const opened = await components.open(browser, token, version, { given });
    complaints.push(opened.complaints);
    await opened.page.getByText("Connected").waitFor();
    return opened.page;
  };
  const page = await open(cleo, 19);
  await page.evaluate((undoMs) => {
    const { setTimeout } = window;
    // An undo is offered for as long as the test needs, however slow the machine is.
    const patient = (work: () => void, ms?: number) => setTimeout(work, ms === undoMs ? 100 * undoMs : ms);
    Object.assign(window, { setTimeout: patient });
  }, UNDO_MS);
  const inbox = page.getByRole("region", { name: "Notifications" });
  await inbox.getByRole("status").getByText("51 unread").waitFor();
  const items = inbox.getByRole("article");
  await expect.poll(() => items.count()).toBe(50);
  await inbox.getByRole("button", { name: "Show older" }).press("Enter");
  await expect.poll(() => items.count()).toBe(51);
  await page.waitForFunction(() => document.activeElement?.closest("li:last-child") !== null);
  await page.keyboard.press("Enter");
  await inbox.getByText("50 unread").waitFor();
  expect(await focused(page)).toBe("Delete");
  await page.keyboard.press("Enter");
  await expect.poll(() => items.count()).toBe(50);
  const behind = () => document.activeElement?.closest("li")?.nextElementSibling?.textContent;
  expect(await page.evaluate(behind)).toBe("Notification deletedUndo");
  await page.keyboard.press("Tab");
  expect(await focused(page)).toBe("Undo");
  const leave = () => page.evaluate(() => window.dispatchEvent(new Event("pagehide")));
  await leave();
  await expect.poll(() => focused(page)).toBe("Delete");
  expect(await page.evaluate(behind)).toBe(undefined);

  const writer = await open(dan, 18);
  await writer.locator("main > .atrium-composer").getByRole("textbox").fill("Cake");
  await writer.keyboard.press("Enter");
  const cake = writer.getByRole("article", { name: "Dan" });
  await cake.getByRole("button", { name: "Edit" }).click();
  await cake.getByRole("textbox").fill("Cake, @cl");
  await writer.getByRole("option", { name: "Cleo" }).click();
  await writer.keyboard.press("Enter");
  const mention = items.filter({ hasText: "Dan commented in Weekly planning" });
  await mention.getByText("Cake, @Cleo").waitFor();
  await mention.getByRole("link").press("Enter");
  await mention.getByText("Unread").waitFor({ state: "detached" });
  await page.waitForURL(({ hash }) => /^#[0-9a-f-]{36}$/.test(hash));
  await page.goBack(); // to the address with the token
  const thread = writer.getByRole("article", { name: /^Thread/ }).filter({ hasText: "Cake, @Cleo" });
  await thread.getByRole("textbox", { name: "Reply" }).fill("And tea");
  await writer.keyboard.press("Enter");
  await mention.getByText("And tea").waitFor();
  await mention.getByText("Unread").waitFor();
  await page
    .getByRole("article", { name: /^Thread/ })
    .getByText("And tea")
    .scrollIntoViewIfNeeded();
  await mention.getByText("Unread").waitFor({ state: "detached" });

  await page.emulateMedia({ reducedMotion: "reduce" });
  const remove = mention.getByRole("button", { name: "Delete" });
  await remove.press("Enter");
  await mention.waitFor({ state: "detached" });
  await inbox.getByRole("status").getByText("Notification deleted").waitFor();
  for (const [colorScheme, dir] of [
    ["dark", "ltr"],
    ["light", "rtl"],
  ] as const) {
    await page.emulateMedia({ colorScheme });
    await turn(page, dir);
    expect([colorScheme, await findingsOf(page)]).toEqual([colorScheme, []]);
  }
  for (const name of ["Mark as read", "Undo"]) {
    await page.keyboard.press("Shift+Tab");
    expect(await focused(page)).toBe(name);
  }
  await page.keyboard.press("Enter");
  await mention.waitFor();
  expect(await focused(page)).toBe("Delete");
  await page.context().setOffline(true);
  await remove.click();
  await mention.waitFor({ state: "detached" });
  await leave();
  // The list may say the same.
  await inbox.getByRole("alert").getByText("could not be reached").first().waitFor();
  await page.context().setOffline(false);
  await mention.waitFor();
  const error = { code: "FORBIDDEN", module: "Inbox", message: "No access" };
  const refuse = (route: Route) =>
    route.fulfill({ status: 403, json: { data: null, error, requestId: "1" } });
  await page.route("**/me/inbox-notifications?*", refuse);
  await page.reload();
  await inbox.getByRole("alert").getByText("No access").waitFor();
  await page.unroute("**/me/inbox-notifications?*");
  await inbox.getByRole("button", { name: "Try again" }).click();
  await mention.waitFor();
  await inbox.getByRole("button", { name: "Mark all as read" }).click();
  await inbox.getByText("All read").waitFor();
  await mention.getByText("Unread").waitFor({ state: "detached" });

  // What was deleted stays so, wherever its person goes within the time to undo it.
  await remove.click();
  await page.reload();
  await expect.poll(() => items.count()).toBe(50);
  await mention.waitFor({ state: "detached" });
  const listed = async () => {
    const { data } = await meeting.customer.send<{ notifications: { id: string }[] }>(
      "GET",
      `/identities/${cleo.identity.id}/inbox-notifications?limit=100`,
    );
    return data.notifications.length;
  };
  const before = await listed();
  await items.first().getByRole("button", { name: "Delete" }).click();
  await page.evaluate(() => Object(window).leave());
  await expect.poll(listed).toBe(before - 1);
});

it("threads are pinned to a canvas, follow its shapes, and are opened, answered and resolved there", async () => {
  const token = async (name: string) => (await meeting.customer.createUser(meeting.roomId, name)).token;
  const open = async (name: string, version: 18 | 19) => {
    const opened = await components.open(browser, await token(name), version, { given: { canvas: "1" } });
    complaints.push(opened.complaints);
    await opened.page.getByText("Connected").waitFor();
    return opened.page;
  };
  const change = (page: Page, part: object) =>
    page.evaluate((changed) => Object(window).canvas.change(changed), part);
  const pinOf = (page: Page, by: string) => button(page, new RegExp(`^Thread by ${by}, `));
  /** Where the pin points: at its left lower corner. */
  const isAt = (page: Page, by: string, x: number, y: number) =>
    expect
      .poll(async () => {
        const box = await pinOf(page, by).boundingBox();
        return box && [Math.round(box.x), Math.round(box.y + box.height)];
      })
      .toEqual([x, y]);
  for (const anchor of [{ pageId: 1, x: 1, y: 1 }, { pageId: "page:1", x: 1, y: "1" }, "page:1"])
    await meeting.customer.send("POST", `/rooms/${meeting.roomId}/comments`, {
      userId: boId,
      text: "x",
      anchor,
    });

  const [eve, finn] = [await open("Eve", 18), await open("Finn", 19)];
  await button(eve, "Add a comment").click();
  await eve.mouse.click(310, 240);
  await change(eve, { camera: { x: -100, y: 0 } });
  const isDraftAt = (page: Page, x: number) =>
    expect.poll(async () => (await page.locator(".atrium-draft").boundingBox())?.x).toBe(x);
  await isDraftAt(eve, 210);
  await change(eve, { camera: { x: 0, y: 0 } });
  await eve.keyboard.press("Escape");
  await button(eve, "Add a comment").click();
  await eve.mouse.click(300, 250);
  await isDraftAt(eve, 300);
  await eve.keyboard.type("Too wide?");
  await eve.keyboard.press("Enter");
  await eve.getByRole("dialog", { name: "Thread by Eve, 1 comment", exact: true }).waitFor();
  await button(finn, "Thread by Eve, 1 comment, unread").waitFor();
  await isAt(finn, "Eve", 300, 250);
  const drag = async (x: number, y: number) => {
    const box = (await pinOf(eve, "Eve").boundingBox()) ?? { x: 0, y: 0 };
    const [left, top] = [Math.round(box.x) + 16, Math.round(box.y) + 16];
    await eve.mouse.move(left, top);
    await eve.mouse.down();
    await eve.mouse.move(left + x, top + y, { steps: 3 });
    await eve.mouse.up();
  };
  await drag(120, -100);
  await isAt(finn, "Eve", 420, 150);
  const opened = eve.getByRole("dialog", { name: "Thread by Eve, 1 comment", exact: true });
  expect(await opened.isVisible()).toBe(true);
  await pinOf(eve, "Eve").press("ArrowLeft");
  await pinOf(eve, "Eve").press("Shift+ArrowDown");
  await eve.getByRole("status").getByText("Moved").waitFor();
  await isAt(finn, "Eve", 410, 151);
  await drag(-110, 99);
  await isAt(finn, "Eve", 300, 250);
  await pinOf(finn, "Eve").press("ArrowLeft"); // of another author
  expect(await pinOf(finn, "Eve").getAttribute("aria-describedby")).toBe(null);
  await change(finn, { boxes: { "shape:box": { x: 100, y: 300, w: 400, h: 200 } } });
  await isAt(finn, "Eve", 300, 400);
  await change(finn, { camera: { x: 20, y: -50 } });
  await isAt(finn, "Eve", 320, 350);
  await change(finn, { boxes: {} });
  await isAt(finn, "Eve", 320, 200);
  for (const part of [{ page: "page:2" }, { page: "page:1", camera: { x: -2_000, y: 0 } }]) {
    await change(finn, part);
    await pinOf(finn, "Eve").waitFor({ state: "detached" });
  }
  await change(finn, { camera: { x: 0, y: 0 } });

  await pinOf(finn, "Eve").focus();
  await finn.keyboard.press("Enter");
  await button(finn, "Thread by Eve, 1 comment").waitFor();
  await finn.getByRole("textbox", { name: "Reply" }).fill("A little");
  await finn.keyboard.press("Enter");
  await eve.getByText("A little").waitFor();
  expect(await findingsOf(eve)).toEqual([]);
  await eve.emulateMedia({ colorScheme: "dark" });
  expect(await findingsOf(eve)).toEqual([]);
  await finn.keyboard.press("Escape");
  await finn.getByRole("dialog").waitFor({ state: "detached" });
  expect(await pinOf(finn, "Eve").evaluate((element) => element === document.activeElement)).toBe(true);

  await button(finn, "Add a comment").press("Enter");
  await finn.keyboard.press("Escape");
  expect(await focused(finn)).toBe("Add a comment");
  await finn.keyboard.press("Enter");
  await finn.keyboard.press("Enter"); // the center of the canvas
  await finn.getByRole("dialog", { name: "New comment" }).waitFor();
  await finn.keyboard.type("And here?");
  await finn.keyboard.press("Enter");
  await isAt(eve, "Finn", 640, 360);
  await button(eve, "Resolve").click();
  await pinOf(finn, "Eve").waitFor({ state: "detached" });
  await button(eve, "Reopen").waitFor(); // the thread is shown until it is closed
  await eve.keyboard.press("Escape");
  await pinOf(eve, "Eve").waitFor({ state: "detached" });
  await eve.setViewportSize({ width: 390, height: 740 });
  expect(await eve.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
});

it("the versions of a document show what has changed, and one is restored for everyone", async () => {
  const { page } = await enter("Gil", 18, "editor", { document: "minutes" });
  const history = page.getByRole("region", { name: "Versions" });
  await history.getByText("There are no versions yet.").waitFor();
  const doc = new Doc();
  const write = async (text: string) => {
    doc.getText("default").insert(doc.getText("default").length, text);
    const update = Buffer.from(encodeStateAsUpdate(doc)).toString("base64");
    const path = `/rooms/${meeting.roomId}/documents/minutes`;
    await meeting.customer.send("PUT", path, { update });
    await meeting.customer.send("POST", `${path}/versions`, { name: text });
  };
  for (const text of ["Tea", " and cake"]) await write(text);
  await page.reload();
  const items = history.getByRole("listitem");
  await expect.poll(() => items.count()).toBe(2);
  await items.first().getByRole("button", { name: "Show changes" }).click();
  await items.first().getByRole("insertion").getByText("and cake").waitFor();
  expect(await items.first().locator(".atrium-changes").textContent()).toBe("Tea and cake");
  await items.last().getByRole("button", { name: "Restore" }).press("Enter");
  await history.getByRole("group", { name: "Restore this version for everyone?" }).waitFor();
  for (const dir of ["ltr", "rtl"]) {
    await turn(page, dir);
    expect([dir, await findingsOf(page)]).toEqual([dir, []]);
  }
  await page.keyboard.press("Enter");
  await history.getByRole("status").getByText("The document was restored.").waitFor();
  await page.waitForFunction(() => document.activeElement?.textContent === "Restore");
  const { data } = await meeting.customer.send<{ content: string }>(
    "GET",
    `/rooms/${meeting.roomId}/documents/minutes/content`,
  );
  expect(data.content).toBe("Tea");
});

it("the last version of a page is compared with the one before it, which the page does not show", async () => {
  const path = `/rooms/${meeting.roomId}/documents/long`;
  const doc = new Doc();
  for (let number = 1; number <= 51; number += 1) {
    doc.getText("default").insert(doc.getText("default").length, `${number} `);
    const update = Buffer.from(encodeStateAsUpdate(doc)).toString("base64");
    await meeting.customer.send("PUT", path, { update });
    await meeting.customer.send("POST", `${path}/versions`, { name: `Version ${number}` });
  }
  const { page } = await enter("Hal", 19, "viewer", { document: "long" });
  const items = page.getByRole("region", { name: "Versions" }).getByRole("listitem");
  const insertedBy = async (index: number) => {
    const item = items.nth(index);
    await item.getByRole("button", { name: "Show changes" }).click();
    await item.getByRole("insertion").waitFor();
    return (await item.getByRole("insertion").textContent())?.trim();
  };
  await expect.poll(() => items.count()).toBe(50);
  expect(await insertedBy(49)).toBe("2");
  await page.getByRole("button", { name: "Show older" }).click();
  await expect.poll(() => items.count()).toBe(51);
  expect(await insertedBy(50)).toBe("1");
  await page.close();
});
