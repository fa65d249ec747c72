/** Webhooks in the dashboard: creation, tests, deliveries and changes. */

import { verifyWebhook } from "atrium/server";
import { afterAll, expect, it } from "vitest";
import { eventually } from "../cli/processes.ts";
import { Receiver } from "../stories/receiver.ts";
import { expectAccessible } from "./axe.ts";
import { openDesk } from "./browser.ts";

let secret: string;

const { desk } = await openDesk();
const receiver = await Receiver.start();
await desk.enter("/webhooks");

afterAll(async () => {
  await receiver.stop();
});

const first = () => desk.page.locator(".records summary").first();
const status = () => desk.page.getByRole("region", { name: "Status" });

/** Creates a webhook and opens its page. */
async function open(url: string): Promise<void> {
  const events = ["user.created"];
  const { webhook } = await desk.ask<{ webhook: { id: string } }>("POST", "/webhooks", { url, events });
  await desk.enter(`/webhooks/${webhook.id}`);
}

it("shows the service's error for an invalid endpoint beside it", async () => {
  await desk.heading("No webhooks yet").waitFor();
  await desk.button("New webhook").click();
  await desk.field("Endpoint").fill("https://10.0.0.1/hook");
  await desk.field("Search events").fill("created user");
  await desk.page.getByRole("checkbox", { name: /^user\.created/ }).click();
  await desk.button("Create webhook").click();
  await desk.dialog().locator(".field", { hasText: "Endpoint" }).locator(".field-error").waitFor();
});

it("offers presets and every event with all of its name, and Save stays in view", async () => {
  await desk.field("Search events").fill("");
  const chosen = (name: RegExp) => desk.page.getByRole("checkbox", { name }).isChecked();
  await desk.button("Comments").click();
  expect([await chosen(/^comment\.created/), await chosen(/^thread\.deleted/)]).toEqual([true, true]);
  await desk.button("Comments").click();
  expect([await chosen(/^comment\.created/), await chosen(/^user\.created/)]).toEqual([false, true]);
  await desk.dialog().getByText("Notifications have stayed unread").scrollIntoViewIfNeeded();
  await desk.page.evaluate(() => document.querySelector(".dialog")?.scrollTo(0, 0));
  const [box, button] = [
    await desk.dialog().boundingBox(),
    await desk.button("Create webhook").boundingBox(),
  ];
  if (box === null || button === null) throw new Error("The dialog is not shown");
  expect(button.y + button.height).toBeLessThanOrEqual(box.y + box.height);
  await expectAccessible(desk.page);
  await desk.page.setViewportSize({ width: 1280, height: 800 });
});

it("creates a webhook and shows its secret once", async () => {
  await desk.field("Endpoint").fill(receiver.url);
  await desk.button("Create webhook").click();
  await desk.heading("Signing secret").waitFor();
  secret = await desk.copy("the secret");
  expect(secret).toMatch(/^whsec_/);
  await desk.page.keyboard.press("Escape");
  await desk.button("Done").click();
  await desk.dialog().waitFor({ state: "detached" });
  await desk.heading(receiver.url).waitFor();
  expect(await desk.page.content()).not.toContain(secret);
});

it("sends a test event, signed with that secret", async () => {
  await status().getByText("No event yet.").waitFor();
  await desk.button("Send test event").click();
  await desk.toast("Test delivered").waitFor();
  const [arrival] = receiver.arrivals;
  expect(verifyWebhook(arrival?.body ?? "", arrival?.headers ?? {}, secret).event).toBe("user.created");
  await first().getByText("success").waitFor();
  await status().getByText("The only attempt of the last 24 hours arrived").waitFor();
});

it("shows deliveries live, with their attempts and payloads", async () => {
  const roomId = await desk.createRoom({ name: "Board" });
  await desk.ask("POST", "/users", { name: "Bo", roomId });
  await eventually("both have arrived", () => receiver.events.length === 2);
  await eventually("both are shown", async () => (await desk.page.locator(".records summary").count()) === 2);
  await first().click();
  // Also a duration can have these digits.
  await desk.page.getByRole("region", { name: "Attempts" }).getByText("200", { exact: true }).waitFor();
  await desk.page.getByRole("region", { name: "Payload" }).getByText('"name": "Bo"').waitFor();
});

it("redelivers an event", async () => {
  await desk.button("Redeliver").click();
  await eventually("it has come again", () => receiver.arrivals.length === 3);
  expect(receiver.arrivals[2]?.event.id).toBe(receiver.arrivals[1]?.event.id);
});

it("sends the events of a time again", async () => {
  await desk.choose("Send again…");
  await desk.dialog().getByRole("button", { name: "Send again" }).click();
  await desk.toast("Sending again").waitFor();
  await eventually("it has come again", () => receiver.arrivals.length === 4);
  expect(receiver.arrivals[3]?.event.id).toBe(receiver.arrivals[1]?.event.id);
  await desk.page.getByText("1 delivery of the events").waitFor();
});

it("shows the metrics of an hour, a day, 7 and 30 days", async () => {
  const metrics = desk.page.getByRole("region", { name: "Activity" });
  await desk.chooseEachRange(metrics, async (range, { stats }) => {
    expect(stats).toMatchObject({ range, failed: 0 });
    await metrics.getByText("4 arrived", { exact: true }).waitFor();
    await desk.charts(metrics, { arrived: 4 });
  });
});

it("shows why a delivery failed, and filters by status", async () => {
  await open("http://127.0.0.1:9/");
  await desk.button("Send test event").click();
  await desk.toast("Test failed").waitFor();
  await first().click();
  const attempts = desk.page.getByRole("region", { name: "Attempts" });
  await attempts.getByText("connect", { exact: true }).waitFor();
  await attempts.getByText("The receiver refused the connection").waitFor();
  await status()
    .getByText(/^Failing since \d\d:\d\d: the receiver refused the connection/)
    .waitFor();
  const guide = await status().getByRole("link", { name: "Open the guide" }).getAttribute("href");
  expect(guide).toBe("/docs/guides/webhooks#retries");
  await desk.field("Filter by status").selectOption("success");
  await desk.heading("No matching deliveries").waitFor();
});

it("says that a retry which is due comes any moment", async () => {
  await desk.page.route("**/deliveries?*", async (route) => {
    const response = await route.fetch();
    const { data, ...rest } = await response.json();
    const deliveries = data.deliveries.map((each: object) => ({ ...each, next_retry_at: new Date(0) }));
    await route.fulfill({ response, json: { ...rest, data: { ...data, deliveries } } });
  });
  await desk.page.reload();
  await desk.field("Filter by status").selectOption("All");
  await first().click();
  await desk.page.getByRole("region", { name: "Attempts" }).getByText("Next try any moment").waitFor();
  await desk.page.unrouteAll({ behavior: "ignoreErrors" });
});

it("is named in the overview while it fails", async () => {
  await desk.enter("/");
  const attention = desk.page.getByRole("region", { name: "Needs attention" });
  await attention.getByText("1 of 1 attempts failed.").waitFor();
  await attention.getByRole("link", { name: "http://127.0.0.1:9/" }).click();
  await desk.heading("http://127.0.0.1:9/").waitFor();
});

it("rotates the secret, disables, enables and edits the webhook", async () => {
  await desk.choose("Rotate secret…");
  await desk.button("Rotate").click();
  await desk.heading("New signing secret").waitFor();
  await desk.button("Done").click();
  await desk.choose("Disable");
  await desk.undo("Webhook disabled");
  await status().getByText("Failing since").waitFor();
  await desk.link("Configuration").click();
  await desk.page.getByRole("checkbox", { name: /^participant\.joined/ }).click();
  const saved = desk.page.waitForResponse(
    (response) => response.request().postDataJSON()?.events?.length === 2,
  );
  await desk.button("Save").click();
  await desk.undo("Webhook saved");
  const { data } = await (await saved).json();
  expect(data.webhook.events).toEqual(["participant.joined", "user.created"]);
  const eventsNow = async () => {
    const { webhooks } = await desk.ask<{ webhooks: { events: string[] }[] }>("GET", "/webhooks");
    return webhooks[0]?.events;
  };
  await eventually("the webhook is as it was", async () => `${await eventsNow()}` === "user.created");
  const joined = desk.page.getByRole("checkbox", { name: /^participant\.joined/ });
  await eventually("the form is as it was", async () => !(await joined.isChecked()));
});

/** What the page reads, in its order, from the first list on in which all deliveries have arrived. */
async function readAfterArrival(): Promise<readonly ("list" | "stats")[]> {
  const order: ("list" | "stats")[] = [];
  desk.page.on("request", (request) => {
    if (order.length > 0 && request.url().includes("/stats?")) order.push("stats");
  });
  await desk.page.route("**/deliveries?*", async (route) => {
    const response = await route.fetch();
    const { deliveries }: { deliveries: { status: string }[] } = (await response.json()).data;
    if (deliveries.every(({ status: one }) => one === "success")) order.push("list");
    await route.fulfill({ response });
  });
  return order;
}

it("shows equal errors together, and sends all again once the receiver works", async () => {
  const fragile = await Receiver.start();
  fragile.onArrival = () => 503;
  await open(fragile.url);
  const roomId = await desk.createRoom({ name: "Hall" });
  for (let count = 0; count < 4; count += 1) await desk.ask("POST", "/users", { name: "Cleo", roomId });
  const group = desk.page.locator(".group > details > summary");
  await group.getByText("4 × the receiver answered 503").waitFor();
  await status()
    .getByText(/Failing since .*: the receiver answered 503\..* 4\sevents wait\./)
    .waitFor();
  await expectAccessible(desk.page);
  await desk.page.setViewportSize({ width: 1280, height: 800 });
  await group.click();
  await desk.page.locator(".group .records summary").first().click();
  await desk.page
    .getByRole("region", { name: "Attempts" })
    .getByText("503", { exact: true })
    .first()
    .waitFor();
  fragile.onArrival = () => 200;
  const order = await readAfterArrival();
  await desk.button("Send all again").click();
  await desk.toast("Sending again").waitFor();
  await status()
    .getByText(/^Delivering\. /)
    .waitFor();
  const arrived = desk.page.locator(".records summary").getByText("success");
  await eventually("all have arrived", async () => (await arrived.count()) === 4);
  await eventually("the list is read twice", () => order.filter((read) => read === "list").length > 1);
  expect(order.slice(order.indexOf("list"), order.lastIndexOf("list"))).toContain("stats");
  await desk.page.unrouteAll({ behavior: "ignoreErrors" });
  await fragile.stop();
});

it("says why the service has disabled one, and enables it", async () => {
  receiver.onArrival = () => 410;
  await desk.enter("/webhooks");
  await desk.link(receiver.url).click();
  await desk.button("Send test event").click();
  await status()
    .getByText(/^Disabled by the service\. The receiver answered 410 Gone/)
    .waitFor();
  await status().getByRole("button", { name: "Enable" }).click();
  await desk.toast("Webhook enabled").waitFor();
  await status().getByText("Disabled").waitFor({ state: "detached" });
});

it("deletes the webhook after a confirmation", async () => {
  await desk.enter("/webhooks");
  await desk.link("http://127.0.0.1:9/").click();
  await desk.choose("Delete…");
  await desk.button("Delete webhook").click();
  await desk.toast("Webhook deleted").waitFor();
  await desk.link(receiver.url).waitFor();
  await desk.link("http://127.0.0.1:9/").waitFor({ state: "detached" });
});

it("shows the agent of a webhook, and saves it without a choice of events", async () => {
  const { identity } = await desk.ask<{ identity: { id: string } }>("POST", "/identities", {
    ...{ name: "Assistant", kind: "agent" },
  });
  const { webhook } = await desk.ask<{ webhook: { id: string } }>("POST", "/webhooks", {
    ...{ url: receiver.url, events: ["agent.mentioned"], identityId: identity.id },
  });
  const path = `/webhooks/${webhook.id}`;
  await desk.enter(`${path}/configuration`);
  const link = desk.page.getByRole("link", { name: "one agent" });
  expect(await link.getAttribute("href")).toContain(identity.id);
  expect(await desk.field("Search events").count()).toBe(0);
  await desk.field("Endpoint").fill(`${receiver.url}?saved`);
  await desk.button("Save").click();
  await desk.toast("Webhook saved").waitFor();
  const saved = await desk.ask<{ webhook: object }>("GET", path);
  expect(saved.webhook).toMatchObject({
    ...{ identity_id: identity.id, events: ["agent.mentioned"], url: `${receiver.url}?saved` },
  });
});
