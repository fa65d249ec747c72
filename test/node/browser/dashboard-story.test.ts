/** A person's way through the dashboard: sign-up, the first room, keys, members and settings. */

import { AtriumClient } from "atrium/client";
import { type ApiRequest, AtriumServer } from "atrium/server";
import { describe, expect, it } from "vitest";
import { sharedService } from "../cli/shared-service.ts";
import { openBrowser } from "./browser.ts";
import { Desk, newAddress, PASSWORD } from "./dashboard.ts";

const email = newAddress();

const service = await sharedService();
const browser = await openBrowser();
const desk = await Desk.open(browser, service.url);

describe("a new person", () => {
  it("is redirected to sign in, and signs up with an organization", async () => {
    await desk.go("");
    await desk.heading("Sign in").waitFor();
    await desk.link("Sign up").click();
    await desk.field("Your name").fill("Ada");
    await desk.field("Email").fill(email);
    await desk.field("Password").fill(PASSWORD);
    await desk.field("Organization").fill("Ada's Boards");
    await desk.button("Sign up").click();
    await desk.heading("Get started in three steps").waitFor();
    await desk.button("Organization: Ada's Boards").waitFor();
  });

  it("creates a room", async () => {
    await desk.button("New room").click();
    await desk.field("Name").fill("Weekly planning");
    await desk.button("Create room").click();
    await desk.heading("Weekly planning").waitFor();
    await desk.heading("No one has joined yet").waitFor();
  });

  it("connects by a sample that is filled in, and sees who has connected where the page waited for it", async () => {
    await desk.link("Overview").click();
    const steps = desk.page.getByRole("region", { name: "Get started in three steps" });
    await steps.getByRole("listitem").filter({ hasText: "Create a room" }).getByText("done").waitFor();
    const waiting = desk.page.getByText("Waiting for your first connection");
    await waiting.waitFor();
    await desk.page.getByRole("tab", { name: "TypeScript" }).click();
    // The panel of the other language leaves a moment later.
    const panel = desk.page.getByRole("tabpanel", { name: "TypeScript" });
    await panel.getByRole("button", { name: "Create a test user" }).click();
    await desk.page.getByText('authToken: "ey').waitFor();
    const [, authToken = ""] = /authToken: "(.+)"/.exec(await desk.copy("the TypeScript sample")) ?? [];
    const client = new AtriumClient({ serverUrl: service.url, authToken });
    await client.join();
    await waiting.waitFor({ state: "detached" });
    const joined = steps.getByRole("listitem").filter({ hasText: "Connect the first person" });
    await joined.getByText("done").waitFor();
    await joined.getByText("Ada joined Weekly planning").waitFor();
    await steps.getByRole("listitem").filter({ hasText: "Call the API" }).getByText("API keys").waitFor();
    client.disconnect();
    await desk.link("Rooms").click();
    await desk.link("Weekly planning").click();
    await desk.heading("Weekly planning").waitFor();
  });

  it("creates a user, and sees them join and leave", async () => {
    await desk.page.getByRole("navigation", { name: "Room", exact: true }).getByText("Users").click();
    await desk.button("New user").click();
    await desk.field("Name").fill("Bo");
    await desk.button("Create user").click();
    const bo = new AtriumClient({ serverUrl: service.url, authToken: await desk.copy("the token of Bo") });
    await desk.link("Live").click();
    await bo.join();
    bo.presence.update({ tool: "pencil" });
    await desk.page.getByRole("region", { name: "Participants" }).getByText("tool: pencil").waitFor();
    await desk.page.getByText("1 online").waitFor();
    bo.disconnect();
    await desk.page.getByText("No one is online right now.").waitFor();
  });

  it("creates an API key, which is shown once and works", async () => {
    await desk.link("Settings").click();
    await desk.button("New API key").click();
    await desk.field("Name").fill("Back end");
    await desk.button("Create key").click();
    await desk.dialog().getByText("You will not see it again").waitFor();
    const apiKey = await desk.copy("the API key");
    await desk.page.keyboard.press("Escape");
    await desk.button("Done").click();
    await desk.dialog().waitFor({ state: "detached" });
    await desk.row("Back end").getByText("never").waitFor();
    expect(await desk.page.content()).not.toContain(apiKey);
    const accountId = await desk.copy("the account ID");
    desk.accountId = accountId;
    const atrium = new AtriumServer({ serverUrl: service.url, accountId, apiKey });
    const { rooms } = await atrium.rooms.list();
    expect(rooms.map(({ name }) => name)).toEqual(["Weekly planning"]);
    await desk.button("Revoke Back end").click();
    await desk.button("Revoke key").click();
    await desk.heading("No API keys yet").waitFor();
  });

  it("creates an API key for comments in certain rooms, which its list says, and which opens no other", async () => {
    await desk.button("New API key").click();
    await desk.field("Name").fill("Agent");
    await desk.field("Permissions").selectOption("chosen levels in rooms");
    await desk.button("Create key").click();
    await desk.dialog().getByText("Choose at least one level").waitFor();
    await desk.field("Comments").selectOption("write");
    await desk.field("Rooms").fill("board-*\n\n  plan  ");
    await desk.button("Create key").click();
    const apiKey = await desk.copy("the API key");
    await desk.dialog().getByText("/rooms/ROOM_ID/comments").waitFor();
    await desk.button("Done").click();
    await desk.row("Agent").getByText("comments:write in board-*, plan").waitFor();
    const atrium = new AtriumServer({ serverUrl: service.url, accountId: desk.accountId, apiKey });
    const [plan, other] = [
      await desk.createRoom({ name: "Plan", customId: "plan" }),
      await desk.createRoom({ name: "Other" }),
    ];
    expect((await atrium.comments.list(plan)).comments).toEqual([]);
    await expect(atrium.comments.list(other)).rejects.toMatchObject({ code: "FORBIDDEN" });
    await expect(atrium.rooms.list()).rejects.toMatchObject({ code: "FORBIDDEN" });
    await desk.button("Revoke Agent").click();
    await desk.button("Revoke key").click();
    await desk.heading("No API keys yet").waitFor();
  });

  it("signs out, which leaves no draft in the tab, and returns to the requested page after signing in", async () => {
    const wanted = desk.page.url();
    await desk.enter("/workflows");
    await desk.link("New workflow").first().click();
    await desk.field("Name").fill("A draft");
    const drafts = () => desk.page.evaluate(() => Object.keys(sessionStorage).join());
    expect(await drafts()).toContain("atrium.draft");
    await desk.page.goto(wanted);
    await desk.button("Account: Ada").click();
    await desk.page.getByRole("menuitem", { name: "Sign out" }).click();
    await desk.heading("Sign in").waitFor();
    expect(await drafts()).not.toContain("atrium.draft");
    await desk.page.goto(wanted);
    await desk.field("Email").fill(email);
    await desk.field("Password").fill("not the password");
    await desk.button("Sign in").click();
    await desk.page.getByRole("alert").getByText("The email address or the password is wrong").waitFor();
    expect(await desk.page.getByText("Request ID").count()).toBe(0);
    await desk.field("Password").fill(PASSWORD);
    await desk.button("Sign in").click();
    await desk.heading("Settings").waitFor();
    await desk.page.waitForURL(wanted);
  });
});

interface Identities {
  readonly identities: readonly { readonly id: string }[];
}

/** Finds something by the field with this label, and chooses it. */
async function pick(label: string, name: string): Promise<void> {
  await desk.field(label).fill(name);
  await desk.page.locator(".found").getByRole("option", { name }).waitFor();
  await desk.page.keyboard.press("Enter");
}

describe("identities and groups", () => {
  it("are created; a change is taken back, and a taken custom ID refused beside its field", async () => {
    await desk.link("People").click();
    await desk.button("Create an identity").click();
    await desk.field("Name").fill("  ");
    await desk.button("Create identity").click();
    await desk.dialog().getByText("Fill out this field.").waitFor();
    await desk.field("Name").fill("Dinah");
    await desk.button("Create identity").dblclick();
    await desk.heading("Dinah").waitFor();
    expect((await desk.ask<Identities>("GET", "/identities")).identities).toHaveLength(1);
    await desk.button("Edit").click();
    await desk.field("Custom ID").fill("dinah-1");
    await desk.button("Save").click();
    await desk.toast("Identity saved").getByRole("button", { name: "Dismiss" }).click();
    await desk.ask("POST", "/identities", { name: "Emil", customId: "emil-1", kind: "agent" });
    await desk.button("Edit").click();
    await desk.field("Custom ID").fill("emil-1");
    await desk.button("Save").click();
    await desk.page.locator(".field-error").getByText("already used by another identity").waitFor();
    await desk.field("Custom ID").fill("");
    await desk.field("Name").fill("Dinah B.");
    await desk.button("Save").click();
    await desk.heading("Dinah B.").waitFor();
    await desk.undo("Identity saved");
    await desk.heading("Dinah").waitFor();
    await desk.page.getByRole("region", { name: "Profile" }).getByText("dinah-1").waitFor();
  });

  it("are put together by name from both sides, and each step is taken back", async () => {
    await desk.ask("POST", "/groups", { name: "Designers" });
    await pick("Add to a group by name", "Designers");
    await desk.link("Designers").waitFor();
    await pick("Add to a group by name", "Designers");
    await desk.toast("Dinah is in Designers already").getByRole("button", { name: "Dismiss" }).click();
    await desk.page.keyboard.press("Control+k");
    await desk.dialog().locator("input:focus").waitFor();
    await pick("Page, room, person or file", "Designers");
    await desk.heading("Members").waitFor();
    await pick("Add a member by name", "Emil");
    await desk.row("Emil").getByText("agent").waitFor();
    await desk.undo("Emil added to Designers");
    await desk.row("Emil").waitFor({ state: "detached" });
    await desk.button("Remove Dinah").click();
    await desk.heading("No members yet").waitFor();
    await desk.undo("Dinah removed from Designers");
    await desk.link("Dinah").click();
    await desk.link("Designers").click();
    await desk.heading("Designers").waitFor(); // the page before it has such a button, too
    await desk.button("Delete").click();
    await desk.button("Delete group").click();
    await desk.heading("No groups yet").waitFor();
  });

  it("are paged in the order of the list, and several are deleted", async () => {
    for (let index = 0; index < 25; index += 1)
      await desk.ask("POST", "/identities", { name: `Guest ${index}` });
    await desk.enter("/people?sort=-name");
    await desk.link("Guest 9").waitFor();
    await desk.button("Next").click();
    await desk.link("Dinah").waitFor();
    await desk.button("Previous").click();
    await desk.link("Guest 9").waitFor();
    await desk.enter("/people?page=9");
    await desk.link("Dinah").waitFor();
    await desk.page.goBack();
    await desk.link("Guest 9").waitFor();
    await desk.page.keyboard.press("/");
    await desk.page.keyboard.type("guest 9");
    await desk.link("Guest 8").waitFor({ state: "detached" });
    await desk.field("Select Guest 9").click();
    await desk.button("Delete 1 identity").click();
    await desk.field("Type “1 identity” to confirm").fill("1 identity");
    await desk.dialog().getByRole("button", { name: "Delete 1 identity" }).click();
    await desk.heading("No matching identities").waitFor();
    await desk.enter("/people/identities/none");
    await desk.heading("Not available").waitFor();
    await desk.page.locator(".above").getByRole("link", { name: "People" }).click();
    await desk.heading("People").waitFor();
  });
});

describe("the access to a room", () => {
  const why = (reason: string) => desk.page.getByRole("row", { name: new RegExp(`^stores ${reason}`) });

  it("is given to everyone, to a group and to a person, of whom it says what they may do and why", async () => {
    const { identities } = await desk.ask<Identities>("GET", "/identities?search=dinah");
    const { group } = await desk.ask<{ group: { id: string } }>("POST", "/groups", { name: "Editors" });
    await desk.ask("PUT", `/groups/${group.id}/members/${identities[0]?.id}`);
    await desk.link("Rooms").click();
    await desk.link("Weekly planning").click();
    await desk.link("Access").click();
    await desk.field("Access of every identity").selectOption("viewer");
    await desk.toast("Access of every identity changed").waitFor();
    await pick("Check an identity by name", "Dinah");
    await why("read The default of the room").waitFor();
    await desk.field("Access of those who are added").selectOption("as editor");
    await pick("Add a person or group by name", "Editors");
    await why("write Editors").waitFor();
    await pick("Add a person or group by name", "Dinah");
    await desk.button("Custom access of Dinah").click();
    await desk.field("Everything").selectOption("no level");
    await desk.button("Save").click();
    await desk.dialog().getByText("Choose a level.").waitFor();
    await desk.field("Everything").selectOption("read");
    await desk.field("Comments").selectOption("write");
    await desk.button("Save").click();
    await why("read Its own entry").waitFor();
    await desk.field("Access of Dinah").selectOption("banned");
    await why("none Its own entry").waitFor();
    await desk.button("Remove Dinah").click();
    await why("write Editors").waitFor();
    await desk.undo("Access of Dinah removed");
    await why("none Its own entry").waitFor();
    await pick("Add a person or group by name", "Dinah");
    await desk.toast("Dinah has an entry already").getByRole("button", { name: "Dismiss" }).click();
  });

  it("is given to guests by a link, which ends them all", async () => {
    const link = desk.page.getByRole("region", { name: "Links for guests" }).getByRole("row");
    await desk.button("New link").click();
    await desk.field("Access").selectOption("commenter");
    await desk.field("Expires").fill("2020-01-31T09:30");
    await desk.field("Guests at most").fill("1");
    await desk.button("Create link").click();
    await desk.dialog().getByText("Must be at least a minute from now").waitFor();
    await desk.field("Expires").fill("");
    await desk.button("Create link").click();
    const secret = await desk.copy("the secret");
    await desk.button("Done").click();
    await link.filter({ hasText: "commenter" }).filter({ hasText: "open" }).getByText("0 of 1").waitFor();
    await desk.ask("POST", "/links/redeem", { secret, name: "Gus" });
    await desk.page.reload();
    await link.filter({ hasText: "used up" }).getByText("1 of 1").waitFor();
    await desk.row("Gus").waitFor();
    await link.getByRole("button", { name: /^Revoke/ }).click();
    await desk.page.getByText("1 guest has come by it").waitFor();
    await desk.button("Revoke link").click();
    await desk.heading("No links yet").waitFor();
    await desk.row("Gus").waitFor({ state: "detached" });
    await desk.enter("/people?sort=-name");
    await desk.link("Guest 8").waitFor();
    await desk.field("Kinds to show").selectOption("Agents only");
    await desk.link("Guest 8").waitFor({ state: "detached" });
  });

  it("is led to from the rooms of an identity, whose tokens can be ended", async () => {
    const { identities } = await desk.ask<Identities>("GET", "/identities?search=dinah");
    const { rooms } = await desk.ask<{ rooms: { id: string }[] }>("GET", "/rooms?search=weekly");
    const dinah = { name: "Dinah", roomId: rooms[0]?.id, identityId: identities[0]?.id };
    await desk.enter(`/people/identities/${dinah.identityId}`);
    await desk.page.getByText("Dinah has joined no room.").waitFor();
    await desk.ask("POST", "/users", dinah);
    await desk.page.reload();
    await desk.link("Access to Weekly planning").click();
    await why("none Its own entry").waitFor();
    await desk.page
      .getByRole("region", { name: "Access of an identity" })
      .getByRole("link", { name: "Dinah" })
      .click();
    await desk.button("End tokens").click();
    await desk.dialog().getByRole("button", { name: "End tokens" }).click();
    await desk.toast("Tokens ended").waitFor();
  });
});

describe("while the service does not answer", () => {
  const REQUESTS = /\/(v1|health|dashboard\/api)(\/|$)/;
  const isGreyed = (one: Element) => Number(getComputedStyle(one).opacity) < 1;
  const expectOnlyLostRequests = () => {
    const lost = /Failed to load resource: net::ERR_FAILED/;
    expect(desk.complaints.filter((complaint) => !lost.test(complaint))).toEqual([]);
    desk.complaints.length = 0;
  };

  it("one banner says so and tries again, what was shown stays, and the page recovers by itself", async () => {
    await desk.link("Rooms").click();
    await desk.link("Weekly planning").waitFor();
    await desk.page.route(REQUESTS, (route) => route.abort());
    await desk.link("Webhooks").click();
    const banner = desk.page.getByRole("region", { name: "Connection", exact: true });
    await banner.getByText("The service does not answer.").waitFor();
    await banner.getByRole("button", { name: "Try now" }).waitFor();
    expect(await desk.page.getByRole("alert").count()).toBe(1);
    await expect.poll(() => desk.page.locator("#main").evaluate(isGreyed)).toBe(true);
    await desk.link("Rooms").click();
    await desk.link("Weekly planning").waitFor();
    await desk.page.unroute(REQUESTS);
    await banner.waitFor({ state: "detached" });
    await desk.link("Settings").click();
    await desk.heading("Settings").waitFor();
    await expect.poll(() => desk.page.locator("#main").evaluate(isGreyed)).toBe(false);
    expectOnlyLostRequests();
  });

  it("a page that is opened then says so, and goes on by itself", async () => {
    await desk.page.route(REQUESTS, (route) => route.abort());
    await desk.page.reload();
    const banner = desk.page.getByRole("region", { name: "Connection", exact: true });
    await banner.getByText("The service does not answer.").waitFor();
    await banner.getByText(/^Next attempt in \d+ s$/).waitFor();
    expect(await desk.page.getByRole("alert").count()).toBe(1);
    expect(await desk.heading("Sign in").count()).toBe(0);
    await desk.page.unroute(REQUESTS);
    await banner.getByRole("button", { name: "Try now" }).click();
    await desk.heading("Settings").waitFor();
    await banner.waitFor({ state: "detached" });
    expectOnlyLostRequests();
  });
});

describe("an invited person", () => {
  let cleo: Desk;
  let bo: Desk;

  it("signs up with the link and becomes a member, who manages no one", async () => {
    await desk.link("Members").click();
    await desk.button("Invite member").click();
    await desk.button("Create link").click();
    const link = await desk.copy("the link");
    await desk.button("Done").click();
    cleo = await Desk.open(browser, service.url);
    await cleo.page.goto(link);
    await cleo.heading("Join Ada's Boards").waitFor();
    await cleo.field("Your name").fill("Cleo");
    await cleo.field("Email").fill(newAddress());
    await cleo.field("Password").fill(PASSWORD);
    await cleo.button("Sign up and join").click();
    await cleo.button("Organization: Ada's Boards").waitFor();
    await cleo.page.goto(link);
    await cleo.heading("This invitation is no longer valid").waitFor();
    await cleo.go(`/${desk.accountId}/settings/members`);
    await cleo.page.getByText("Only owners can invite members.").waitFor();
    expect(await cleo.button("Invite member").count()).toBe(0);
    expect(await cleo.page.getByLabel(/^Role of /).count()).toBe(0);
    await cleo.link("Organization").click();
    await cleo.page.getByText("Only owners can rename or delete the organization.").waitFor();
    await cleo.page.getByText("may not enter · Only owners can change it.").waitFor();
  });

  it("chooses a new password by a link that an owner has made", async () => {
    await desk.page.reload();
    await expect.poll(() => desk.field("Role of Cleo").inputValue()).toBe("member");
    await desk.button("Reset password of Cleo").click();
    await desk.button("Create link").click();
    await cleo.page.goto(await desk.copy("the link"));
    await desk.button("Done").click();
    await cleo.heading("Choose a new password").waitFor();
    await cleo.field("New password").fill("another horse battery");
    await cleo.button("Save and sign in").click();
    await cleo.button("Organization: Ada's Boards").waitFor();
  });

  it("becomes an owner, and a member again, who can leave; the only owner cannot, and reads why", async () => {
    for (const role of ["owner", "member"]) {
      await desk.field("Role of Cleo").selectOption(role);
      await desk.toast(`Cleo is ${role === "owner" ? "an" : "a"} ${role} now`).waitFor();
    }
    await desk.button("Leave organization").click();
    await desk.dialog().getByRole("button", { name: "Leave organization" }).click();
    await desk.dialog().getByRole("alert").getByText(/owner/).waitFor();
    await desk.button("Cancel").click();
    await cleo.go(`/${desk.accountId}/settings/members`);
    await cleo.button("Leave organization").click();
    await cleo.dialog().getByRole("button", { name: "Leave organization" }).click();
    await cleo.heading("New organization").waitFor();
    await desk.page.reload();
    await desk.row("Ada").waitFor();
    expect(await desk.row("Cleo").count()).toBe(0);
    expect(cleo.complaints).toEqual([]);
  });

  it("joins another organization and switches between the two", async () => {
    bo = await Desk.signedUp(browser, service.url, { name: "Bo", organization: "Bo's Boards" });
    await desk.button("Invite member").click();
    await desk.field("Role").selectOption("owner");
    await desk.button("Create link").click();
    await bo.page.goto(await desk.copy("the link"));
    await desk.button("Done").click();
    await bo.button("Join as Bo").click();
    await bo.page.getByRole("button", { name: /^Organization: / }).click();
    await bo.page.getByRole("menuitem", { name: "Ada's Boards" }).click();
    await bo.button("Organization: Ada's Boards").waitFor();
    await bo.page.getByRole("button", { name: /^Organization: / }).click();
    await bo.page.getByRole("menuitem", { name: "Bo's Boards" }).click();
    await bo.button("Organization: Bo's Boards").waitFor();
  });

  it("renames an organization", async () => {
    await bo.enter("/settings/organization");
    await bo.field("Name").fill("Bo's");
    await bo.button("Rename").click();
    await bo.button("Organization: Bo's").waitFor();
  });

  it("an organization is deleted once its name is typed, and the person can create another one", async () => {
    await bo.page.goto(`${service.url}/dashboard/${desk.accountId}/settings/members`);
    await bo.button("Leave organization").click();
    await bo.dialog().getByRole("button", { name: "Leave organization" }).click();
    await bo.button("Organization: Bo's").waitFor();
    await bo.enter("/settings/organization");
    await bo.button("Delete organization").click();
    const confirm = bo.dialog().getByRole("button", { name: "Delete organization" });
    await expect.poll(() => confirm.isDisabled()).toBe(true);
    await bo.field("Type “Bo's” to confirm").fill("Bo's");
    await confirm.click();
    await bo.heading("New organization").waitFor();
    await bo.field("Name").fill("Bo's second");
    await bo.button("Create organization").click();
    await bo.button("Organization: Bo's second").waitFor();
    expect(bo.complaints).toEqual([]);
  });
});

describe("the logs", () => {
  it("find a request by the ID that its refusal shows", async () => {
    const refused = desk.page.waitForResponse((response) => response.url().includes("/rooms/no-such-room"));
    await desk.ask("GET", "/rooms/no-such-room").catch(() => undefined);
    const { requestId } = await (await refused).json();
    await desk.link("Logs").click();
    await desk.field("Find a request ID").fill(requestId);
    await desk.row("GET /rooms/:roomId").getByText("404", { exact: true }).waitFor();
    await desk.page.waitForURL((url) => url.searchParams.get("id") === requestId);
  });

  it("leave out the dashboard's own requests until they are chosen", async () => {
    await desk.ask("GET", "/rooms");
    const answered = desk.page.waitForResponse((response) => response.url().includes("byMember=false"));
    await desk.enter("/logs");
    const { data } = await (await answered).json();
    expect(data.requests.map(({ credential }: ApiRequest) => credential.type)).not.toContain("member");
    const member = desk.page.getByRole("link", { name: /^Member / }).first();
    expect(await member.count()).toBe(0);
    await desk.field("Requests to show").selectOption("All requests");
    await member.click();
    await desk.page.waitForURL((url) => url.searchParams.has("credential"));
    await member.waitFor();
  });

  it("say who changed what, and show one person's changes alone", async () => {
    await desk.link("Audit log").click();
    await desk.field("Changes to show").selectOption("API keys");
    await desk.row("Revoke API key").getByRole("link", { name: "Ada" }).first().click();
    await desk.button("Changes by everyone").waitFor();
    await desk.row("Create invitation").first().waitFor();
    await desk.link("Settings").click();
  });
});

describe("the profile", () => {
  it("changes the name", async () => {
    await desk.link("Profile").click();
    await desk.field("Name").fill("Ada L.");
    await desk.button("Save").click();
    await desk.button("Account: Ada L.").waitFor();
  });

  it("changes the password", async () => {
    await desk.link("Sign-in").click();
    await desk.field("Current password").fill(PASSWORD);
    await desk.field("New password").fill("another horse battery");
    await desk.button("Change password").click();
    await desk.toast("Password changed").waitFor();
    const elsewhere = await Desk.open(browser, service.url);
    await elsewhere.go("/sign-in");
    await elsewhere.field("Email").fill(email);
    await elsewhere.field("Password").fill("another horse battery");
    await elsewhere.button("Sign in").click();
    await elsewhere.heading("Overview").waitFor();
  });
});

it("no browser logs errors or warnings", () => {
  expect(desk.complaints).toEqual([]);
});
