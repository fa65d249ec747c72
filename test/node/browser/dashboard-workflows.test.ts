/** Workflows in the dashboard: the editor, test runs and the run history. */
import { Webhook } from "standardwebhooks";
import { expect, it } from "vitest";
import { expectAccessible } from "./axe.ts";
import { openDesk } from "./browser.ts";

const { desk } = await openDesk();
const roomId = await desk.createRoom({ name: "Board" });
await desk.ask("POST", "/users", { name: "Bo", roomId });
await desk.enter("/workflows");

const code = () => desk.page.getByRole("textbox", { name: "Code of the workflow" });

const status = () => desk.page.getByRole("region", { name: "Status" });

/** Replaces all of the code. */
async function write(text: string): Promise<void> {
  await code().click();
  await desk.page.keyboard.press("Control+a");
  await desk.page.keyboard.press("Backspace");
  await desk.page.keyboard.insertText(text);
}

it("completes the bindings with their types", async () => {
  await desk.heading("No workflows yet").waitFor();
  await desk.link("New workflow").click();
  await write("room.");
  await desk.page.keyboard.press("Control+End");
  await desk.page.keyboard.press("Control+Space");
  await desk.page.getByRole("option", { name: /getUsers.*Promise<User\[\]>/ }).waitFor();
  await desk.page.keyboard.press("Escape");
});

it("has room for more code than there is", async () => {
  await code().waitFor();
  const box = await desk.page.locator(".code-host").boundingBox();
  expect(box?.height).toBeGreaterThan(300);
});

it("shows a compile error at its line", async () => {
  await write("export default async function () {\n  const = 1;\n}\n");
  await desk.field("Name").fill("Who is here");
  await desk.button("Create workflow").click();
  await desk.page.getByRole("alert").getByText("line 2").waitFor();
  await desk.page
    .locator(".cm-line", { hasText: "const" })
    .locator(".cm-lintRange-error, .cm-lintPoint")
    .waitFor();
  await desk.page.locator(".cm-lint-marker-error").waitFor({ state: "attached" });
});

it("saves code that compiles", async () => {
  await write(
    'export default async function (event, { room }) {\n  console.log("Hello <b>there</b>");\n  return (await room.getUsers()).map(({ name }) => name);\n}\n',
  );
  await desk.page.keyboard.press("Control+s");
  await desk.toast("Workflow created").waitFor();
  await desk.heading("Who is here").waitFor();
  await desk.heading("No runs yet").waitFor();
});

it("keeps code, name and events that are not saved when one leaves the page, until they are discarded", async () => {
  await desk.link("Code and configuration").click();
  await write("export default () => 'unsaved';\n");
  await desk.field("Name").fill("Who was here");
  const left = desk.page.getByRole("checkbox", { name: /^participant\.left/ });
  await left.click();
  await desk.link("Workflows").first().click();
  await desk.link("Who is here").click();
  await desk.link("Code and configuration").click();
  await code().getByText("'unsaved'").waitFor();
  await expect.poll(() => desk.field("Name").inputValue()).toBe("Who was here");
  await expect.poll(() => left.isChecked()).toBe(true);
  await desk.button("Discard it").click();
  await expect.poll(() => desk.field("Name").inputValue()).toBe("Who is here");
  await expect.poll(() => left.isChecked()).toBe(false);
  await code().getByText("Hello <b>there</b>").waitFor();
  await desk.button("Discard it").waitFor({ state: "detached" });
});

it("offers to run once a room is chosen, with a user where the event is about one", async () => {
  const emptyId = await desk.createRoom({ name: "Empty" });
  await desk.page.reload();
  await desk.button("Run…").click();
  const run = desk.button("Run workflow");
  await desk.dialog().getByText("Choose the room of the sample event.").waitFor();
  expect(await run.isDisabled()).toBe(true);
  await desk.field("Event").selectOption("user.created");
  await desk.dialog().getByLabel("Room").selectOption(emptyId);
  await desk.dialog().getByText("The room has no users yet.").waitFor();
  await run.click();
  await desk.dialog().locator(".field-error").getByText("Choose a user.").waitFor();
  await desk.dialog().getByLabel("Room").selectOption("Board");
  const user = () => desk.field("User").locator("option:checked").textContent();
  await expect.poll(user).toBe("Bo");
  await desk.field("Event").selectOption("session.started");
  await desk.field("User").selectOption("None");
  await desk.field("Event").selectOption("user.created");
  expect(await user()).toBe("Bo");
  await expectAccessible(desk.page);
  await desk.page.setViewportSize({ width: 1280, height: 800 });
  await desk.button("Cancel").click();
});

it("runs the workflow and shows its result and logs", async () => {
  await desk.button("Run…").click();
  await desk.dialog().getByLabel("Room").selectOption("Board");
  await desk.field("User").selectOption("Bo");
  await desk.button("Run workflow").click();
  await desk.toast("Run succeeded").waitFor();
  const run = desk.page.getByRole("region", { name: "Runs" });
  await run.getByRole("region", { name: "Result" }).getByText('"Bo"').waitFor();
  await run.getByText("Hello <b>there</b>").waitFor();
});

it("shows runs live, with the errors of those that failed", async () => {
  await desk.link("Code and configuration").click();
  await write('export default () => {\n  throw new Error("No tea");\n};\n');
  await desk.button("Save").click();
  await desk.toast("Workflow saved").waitFor();
  for (let count = 0; count < 2; count += 1) {
    await desk.button("Run…").click();
    await desk.field("User").selectOption("Bo");
    await desk.button("Run workflow").click();
    await desk.dialog().waitFor({ state: "detached" });
  }
  await desk.toast("Run failed").first().waitFor();
  const latest = desk.page.locator(".records > li").first();
  await latest.getByText("failed").waitFor();
  await latest.getByRole("region", { name: "Error" }).getByText("line 2").waitFor();
  const excerpt = latest.getByRole("region", { name: "Version 2 around line 2" });
  await excerpt
    .locator('[data-line="2"]', { hasText: 'throw new Error("No tea");' })
    .getByText("Error: No tea", { exact: true })
    .waitFor();
  await status()
    .getByText(/^Failing since \d\d:\d\d: Error: No tea at line 2\.$/)
    .waitFor();
  await expectAccessible(desk.page);
  await desk.page.setViewportSize({ width: 1280, height: 800 });
});

it("shows equal errors together, which open to the single ones", async () => {
  await desk.button("Run…").click();
  await desk.field("User").selectOption("Bo");
  await desk.button("Run workflow").click();
  await desk.dialog().waitFor({ state: "detached" });
  const group = desk.page.locator(".group");
  await group.getByText("3 × Error: No tea at line 2").waitFor();
  expect(await group.locator(".records > li").count()).toBe(3);
});

it("is named in the overview while its runs fail", async () => {
  await desk.enter();
  const attention = desk.page.getByRole("region", { name: "Needs attention" });
  await attention.getByText("3 of 4 runs failed.").waitFor();
  await attention.getByRole("link", { name: "Who is here" }).click();
  await desk.heading("Who is here").waitFor();
});

it("shows the metrics of an hour, a day, 7 and 30 days", async () => {
  const metrics = desk.page.getByRole("region", { name: "Activity" });
  await desk.chooseEachRange(metrics, async (range, { stats }) => {
    expect(stats).toMatchObject({ range });
    await metrics.getByText("1 succeeded", { exact: true }).waitFor();
    await metrics.getByText("3 failed", { exact: true }).waitFor();
    await desk.charts(metrics, { succeeded: 1, failed: 3 });
  });
});

it("shows what an earlier version changes, and restores it", async () => {
  await desk.link("Versions").click();
  const versions = desk.page.getByRole("region", { name: "Versions" });
  await versions.getByText("Version 1").click();
  const diff = versions.getByRole("region", { name: "What version 1 changes of the saved code" });
  await diff.getByRole("insertion").getByText("Hello").waitFor();
  await diff.getByRole("deletion").getByText("No tea").waitFor();
  await desk.button("Restore version 1").click();
  await desk.button("Restore version").last().click();
  await desk.toast("Version 1 restored").waitFor();
  await versions.getByText("Version 3").waitFor();
  await desk.link("Code and configuration").click();
  await code().getByText("Hello <b>there</b>").waitFor();
});

it("sets a secret, which it never shows, and deletes it", async () => {
  await desk.link("Secrets").click();
  await desk.button("Set a secret").click();
  await desk.field("Name of the secret").fill("CHAT_TOKEN");
  await desk.field("Value").fill("a token of another service");
  await desk.button("Save secret").click();
  await desk.toast("CHAT_TOKEN saved").waitFor();
  const secrets = desk.page.getByRole("region", { name: "Secrets" });
  await secrets.getByRole("rowheader", { name: "CHAT_TOKEN" }).waitFor();
  expect(await desk.page.content()).not.toContain("a token of another service");
  await desk.button("Delete CHAT_TOKEN").click();
  await desk.button("Delete secret").click();
  await desk.toast("CHAT_TOKEN deleted").waitFor();
  await secrets.getByText("env.NAME").waitFor();
});

it("is started by the clock and by signed requests, whose secret is shown once", async () => {
  await desk.link("Code and configuration").click();
  await desk.field("Schedule").fill("0 9 * * 1-5");
  await desk.field("Time zone").fill("Europe/Berlin");
  await desk.page.getByRole("checkbox", { name: /^HTTP trigger/ }).click();
  await desk.button("Save").click();
  await desk.page.getByText("Next run").waitFor();
  await desk.button("Create secret").click();
  await desk.button("Create").click();
  await desk.heading("Secret of the HTTP trigger").waitFor();
  const secret = await desk.copy("the secret");
  await desk.button("Done").click();
  await desk.dialog().waitFor({ state: "detached" });
  await desk.button("Rotate secret").waitFor();
  expect(await desk.page.content()).not.toContain(secret);
  const url = await desk.copy("The address of the HTTP trigger");
  const [id, body, now] = [crypto.randomUUID(), JSON.stringify({ order: 8731 }), new Date()];
  const headers = {
    "Content-Type": "application/json",
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(now.getTime() / 1000)),
    "webhook-signature": new Webhook(secret).sign(id, now, body),
  };
  const sign = async (sent: string) => (await fetch(url, { method: "POST", headers, body: sent })).status;
  expect(await sign(body)).toBe(202);
  expect(await sign("{}")).toBe(401);
  await desk.link("Runs").click();
  await desk.page.locator(".records > li", { hasText: "workflow.triggered" }).first().waitFor();
});

it("disables the workflow, and deletes it after a confirmation", async () => {
  await desk.choose("Disable");
  await desk.toast("Workflow disabled").waitFor();
  await desk.button("Run…").click();
  await desk.dialog().getByLabel("Room").selectOption("Board");
  await desk.field("User").selectOption("Bo");
  await desk.button("Run workflow").click();
  await desk.page.getByRole("alert").getByText("disabled").waitFor();
  await desk.button("Cancel").click();
  await desk.choose("Delete…");
  await desk.button("Delete workflow").click();
  await desk.heading("No workflows yet").waitFor();
});

it("says why the service has disabled one", async () => {
  const endless = {
    name: "Endless",
    code: "export default () => { for (;;); };",
    events: ["user.created", "file.deleted"],
  };
  const { workflow } = await desk.ask<{ workflow: { id: string } }>("POST", "/workflows", endless);
  const run = { event: "session.started", data: { roomId } };
  for (let count = 0; count < 2; count += 1) await desk.ask("POST", `/workflows/${workflow.id}/run`, run);
  await desk.enter(`/workflows/${workflow.id}`);
  await status()
    .getByText(/^Disabled by the service\. .*had to be killed/)
    .waitFor();
  await status().getByRole("button", { name: "Enable" }).click();
  await status().getByText("Disabled").waitFor({ state: "detached" });
  await desk.link("Code and configuration").click();
  // The events of a draft have another order than those that were saved.
  const joined = desk.page.getByRole("checkbox", { name: /^participant\.joined/ });
  const drafts = () => desk.page.evaluate(() => Object.keys(sessionStorage).join());
  await joined.click();
  expect(await drafts()).toContain("atrium.draft");
  await joined.click();
  expect(await drafts()).not.toContain("atrium.draft");
});
