/** Webhooks in the dashboard: creation, tests, deliveries and changes. */

import { verifyWebhook } from "atrium/server";
import { afterAll, expect, it } from "vitest";
import { eventually } from "../cli/processes.ts";
import { Receiver } from "../stories/receiver.ts";
import { openDesk } from "./browser.ts";

let secret: string;

const { desk } = await openDesk();
const receiver = await Receiver.start();
await desk.enter("/webhooks");

afterAll(async () => {
  await receiver.stop();
});

const first = () => desk.page.locator(".records summary").first();

it("shows the service's error for an invalid endpoint beside it", async () => {
  await desk.heading("No webhooks yet").waitFor();
  await desk.button("New webhook").click();
  await desk.field("Endpoint").fill("https://10.0.0.1/hook");
  await desk.page.getByRole("checkbox", { name: /^user\.created/ }).click();
  await desk.button("Create webhook").click();
  await desk.dialog().locator(".field", { hasText: "Endpoint" }).locator(".field-error").waitFor();
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
  await desk.button("Send test event").click();
  await desk.toast("Test delivered").waitFor();
  const [arrival] = receiver.arrivals;
  expect(verifyWebhook(arrival?.body ?? "", arrival?.headers ?? {}, secret).event).toBe("user.created");
  await first().getByText("success").waitFor();
});

it("shows deliveries live, with their attempts and payloads", async () => {
  const roomId = await desk.createRoom({ name: "Board" });
  await desk.ask("POST", "/users", { name: "Bo", roomId });
  await eventually("both have arrived", () => receiver.events.length === 2);
  await eventually("both are shown", async () => (await desk.page.locator(".records summary").count()) === 2);
  await first().click();
  await desk.page.getByRole("region", { name: "Attempts" }).getByText("200").waitFor();
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
  const metrics = desk.page.getByRole("region", { name: "Metrics" });
  await desk.chooseEachRange(metrics, async (range, { stats }) => {
    expect(stats).toMatchObject({ range, failed: 0 });
    await metrics.getByText("100 %").waitFor();
  });
});

it("shows why a delivery failed, and filters by status", async () => {
  const { webhook } = await desk.ask<{ webhook: { id: string } }>("POST", "/webhooks", {
    url: "http://127.0.0.1:9/",
    events: ["user.created"],
  });
  await desk.enter(`/webhooks/${webhook.id}`);
  await desk.button("Send test event").click();
  await desk.toast("Test failed").waitFor();
  await first().click();
  await desk.page.getByRole("region", { name: "Attempts" }).getByText("connect:").waitFor();
  await desk.field("Filter by status").selectOption("success");
  await desk.heading("No matching deliveries").waitFor();
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
  await desk.page.getByText("enabled", { exact: true }).waitFor();
  await desk.link("Configuration").click();
  await desk.page.getByRole("checkbox", { name: /^participant\.joined/ }).click();
  const saved = desk.page.waitForResponse((response) => response.request().method() === "PATCH");
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

it("deletes the webhook after a confirmation", async () => {
  await desk.choose("Delete…");
  await desk.button("Delete webhook").click();
  await desk.toast("Webhook deleted").waitFor();
  await desk.link(receiver.url).waitFor();
  await desk.link("http://127.0.0.1:9/").waitFor({ state: "detached" });
});
