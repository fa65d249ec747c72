/** The suggestions of a document in the built package: what one window decides, the other one shows. */
import { Atrium, type AtriumClient, type Permission } from "atrium/client";
import { openDocument, openSuggestions } from "atrium/documents";
import { AtriumServer } from "atrium/server";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import * as Y from "yjs";
import { sharedService } from "../../cli/shared-service.ts";
import { EAGER, type Meeting, meet, next } from "../../sdk/clients.ts";
import { findingsOf } from "../axe.ts";
import { openBrowser } from "../browser.ts";
import { buildComponents } from "./components.ts";

const service = await sharedService();
const browser = await openBrowser();
const components = await buildComponents(service.url);

let meeting: Meeting;
let atrium: AtriumServer;
let agent: AtriumClient;
const complaints: (readonly string[])[] = [];
const people: Atrium[] = [];

afterAll(async () => {
  await Promise.all(people.map((person) => person.close()));
  await components.remove();
  // The browser itself reports a refused review.
  const isOfNetwork = (complaint: string) => /Failed to load resource/.test(complaint);
  expect(complaints.flat().filter((complaint) => !isOfNetwork(complaint))).toEqual([]);
});

/** A document of an editor, a paragraph for each text. */
async function write(name: string, ...texts: readonly string[]): Promise<void> {
  const doc = new Y.Doc();
  const paragraphs = texts.map((text) => {
    const paragraph = new Y.XmlElement("paragraph");
    paragraph.insert(0, [new Y.XmlText(text)]);
    return paragraph;
  });
  doc.getXmlFragment("default").insert(0, paragraphs);
  await atrium.documents.seed(meeting.roomId, name, Y.encodeStateAsUpdate(doc));
}

/** An agent that may suggest, and not write. */
async function enterAsAgent(): Promise<AtriumClient> {
  const { roomId } = meeting;
  const { id } = await atrium.identities.create({
    ...{ customId: `agent-${roomId}`, name: "Proofreader", kind: "agent" },
  });
  const permissions: readonly Permission[] = ["*:read", "documents:suggest"];
  await atrium.updateRoomAccess(roomId, { identitiesAccesses: { [id]: permissions } });
  const { token } = await atrium.identities.createToken(id);
  const person = new Atrium({ serverUrl: service.url, authToken: token }, EAGER);
  people.push(person);
  const room = person.enterRoom(roomId);
  await room.join();
  return room as unknown as AtriumClient;
}

beforeAll(async () => {
  meeting = await meet(service);
  atrium = new AtriumServer({ serverUrl: service.url, ...meeting.customer.organization });
  agent = await enterAsAgent();
});

/** A window with the suggestions of a document. */
async function open(document: string, version: 18 | 19, role: "editor" | "viewer" = "editor"): Promise<Page> {
  const { token } = await atrium.users.create({ roomId: meeting.roomId, name: `Ada ${version}`, role });
  const given = { suggested: document };
  const opened = await components.open(browser, token, version, { given });
  complaints.push(opened.complaints);
  await opened.page.getByText("Connected").waitFor();
  return opened.page;
}

const listOf = (page: Page) => page.getByRole("region", { name: "Suggestions" });
const itemOf = (page: Page, title: string) => listOf(page).getByRole("listitem").filter({ hasText: title });
const says = (page: Page, text: string) => listOf(page).getByRole("status").getByText(text).waitFor();

const TYPO = { at: { quote: "teh" }, replace: "the" } as const;

it.each([18, 19] as const)(
  "with React %i, a suggestion appears, one part is accepted and another rejected, by keyboard alone",
  async (version) => {
    const name = `article-${version}`;
    await write(name, "Put teh tea on.", "And cake.");
    const [page, other] = [await open(name, version), await open(name, version, "viewer")];
    for (const each of [page, other]) await listOf(each).getByText("There are no suggestions.").waitFor();
    const { id } = await openSuggestions(agent, name).create({
      title: "Typos",
      type: "xml",
      edits: [TYPO, { at: "end", insert: "And milk.", block: { name: "paragraph" } }],
    });
    const item = itemOf(page, "Typos");
    await item.getByText("Proofreader").waitFor();
    await item.getByText("Agent", { exact: true }).waitFor();
    await item.getByRole("button", { name: "Show changes" }).press("Enter");
    const parts = item.getByRole("list", { name: "Suggested changes" }).getByRole("listitem");
    await expect.poll(() => parts.count()).toBe(2);
    expect(await parts.first().getByRole("deletion").textContent()).toBe("teh");
    expect(await parts.first().getByRole("insertion").textContent()).toBe("the");
    expect(await parts.last().getByRole("insertion").textContent()).toBe("And milk.");
    expect(await findingsOf(page)).toEqual([]);
    await parts.last().getByRole("checkbox").press("Space");
    await item.getByRole("button", { name: "Accept selected" }).press("Enter");
    await says(page, "The changes were accepted.");
    await item.getByText(`Accepted by Ada ${version}`).waitFor();
    await page.waitForFunction(() => document.activeElement?.textContent === "Show changes");
    expect(await parts.locator("small").allTextContents()).toEqual(["Accepted", "Rejected"]);
    await itemOf(other, "Typos").getByText(`Accepted by Ada ${version}`).waitFor();
    expect(await atrium.documents.content(meeting.roomId, name, { type: "xml" })).toBe(
      "<paragraph>Put the tea on.</paragraph><paragraph>And cake.</paragraph>",
    );
    expect((await openSuggestions(agent, name).read(id)).suggestion.status).toBe("approved");
    for (const each of [page, other]) await each.close();
  },
);

it("a change by the author is shown at once, and a decision about what was not shown is refused", async () => {
  await write("plan", "Put teh tea on.");
  const page = await open("plan", 19);
  const suggestions = openSuggestions(agent, "plan");
  const { id, fork } = await suggestions.create({ title: "Plan", type: "xml", edits: [TYPO] });
  const item = itemOf(page, "Plan");
  await item.getByRole("button", { name: "Show changes" }).click();
  await item.getByRole("insertion").getByText("the").waitFor();
  const draft = openDocument(agent, fork);
  await next("the fork", (listener: (isSynced: boolean) => void) => draft.on("sync", listener));
  const text = () => (draft.doc.getXmlFragment("default").get(0) as Y.XmlElement).get(0) as Y.XmlText;
  text().insert(text().length, " Now.");
  await draft.flush();
  await item.getByRole("insertion").getByText("Now.").waitFor();
  await says(page, "The suggestion has changed.");
  const accept = item.getByRole("button", { name: "Accept" });
  expect(await accept.isDisabled()).toBe(true);
  expect(await findingsOf(page)).toEqual([]);
  const again = item.getByRole("button", { name: "Choose again" });
  await again.click();
  await again.waitFor({ state: "detached" });

  // The next change is not shown before the decision.
  await page.route(`**/suggestions/${id}`, (route) => route.abort());
  text().insert(text().length, " Quickly.");
  await draft.flush();
  await accept.click();
  const refusal = item.getByRole("alert").filter({ hasText: "changed" });
  await refusal.waitFor();
  await page.unroute(`**/suggestions/${id}`);
  expect(await atrium.documents.content(meeting.roomId, "plan", { type: "xml" })).toContain("teh");
  draft.destroy();
  await page.close();
});

it("a part whose text is gone cannot be accepted, a rejection asks first, and a viewer only reads", async () => {
  await write("minutes", "Put teh tea on.", "Old news.");
  const [page, viewer] = [await open("minutes", 18), await open("minutes", 19, "viewer")];
  const suggestions = openSuggestions(agent, "minutes");
  const edits = [TYPO, { at: { quote: "news" }, replace: "hat" }] as const;
  await suggestions.create({ title: "Two", type: "xml", edits });
  const { roomId } = meeting;
  await atrium.documents.edit(roomId, "minutes", [{ at: { quote: "news" }, delete: true }], { type: "xml" });
  for (const each of [page, viewer])
    await itemOf(each, "Two").getByRole("button", { name: "Show changes" }).click();
  const parts = itemOf(page, "Two").getByRole("list").getByRole("listitem");
  await parts.last().getByText("Out of date").waitFor();
  expect(await parts.last().getByRole("checkbox").isDisabled()).toBe(true);
  const buttons = itemOf(viewer, "Two").getByRole("button");
  await itemOf(viewer, "Two").getByRole("insertion").first().waitFor();
  expect([await buttons.allTextContents(), await viewer.getByRole("checkbox").count()]).toEqual([
    ["Show changes"],
    0,
  ]);
  await itemOf(page, "Two").getByRole("button", { name: "Reject" }).press("Enter");
  await listOf(page).getByRole("group", { name: "Reject all of these changes?" }).waitFor();
  expect(await findingsOf(page)).toEqual([]);
  await page.keyboard.press("Enter");
  await says(page, "The suggestion was rejected.");
  await itemOf(viewer, "Two").getByText("Rejected by Ada 18").waitFor();
  for (const each of [page, viewer]) await each.close();
});

it("its author withdraws a suggestion, and it is gone everywhere", async () => {
  await write("draft", "Put teh tea on.");
  const [page, other] = [await open("draft", 19), await open("draft", 18)];
  const token = await page.evaluate(() => location.hash.slice(1));
  const path = `${service.url}/v1/accounts/${service.accountId}/rooms/${meeting.roomId}/documents/draft/suggestions`;
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  const body = JSON.stringify({ title: "Mine", type: "xml", edits: [TYPO] });
  expect((await fetch(path, { method: "POST", headers, body })).status).toBe(201);
  await itemOf(other, "Mine").waitFor();
  await itemOf(page, "Mine").getByRole("button", { name: "Show changes" }).click();
  await itemOf(page, "Mine").getByRole("button", { name: "Withdraw" }).press("Enter");
  await page.keyboard.press("Enter");
  await says(page, "The suggestion was withdrawn.");
  await itemOf(other, "Mine").waitFor({ state: "detached" });
  for (const each of [page, other]) await each.close();
});
