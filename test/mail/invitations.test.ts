/** Invitations by mail. */
import { env } from "cloudflare:workers";
import type { Invitation } from "@atrium/contract/rest/members.ts";
import { describe, expect, it } from "vitest";
import { type Account, type Answer, account, freshAddress, ORIGIN } from "../support/api.ts";
import { expectLogged } from "../support/log-guard.ts";
import { addMember, DashboardBrowser, freshEmail, signUp } from "../support/person.ts";
import { LINKS, Mailbox, tokenOf } from "./mailbox.ts";

interface Invited {
  readonly invitation: Invitation;
  readonly url: string;
  readonly mailed: boolean;
}

const invite = (mailbox: Mailbox, { api }: Pick<Account, "api">, email: string | null) =>
  mailbox.fetch<Invited>(
    api.request("POST", "/invitations", {
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ role: "member", email }),
    }),
  );

it("an invitation for an address is mailed to it with the same link, and one for anyone is not", async () => {
  const [mailbox, owner, email] = [new Mailbox(), await account(), freshEmail()];
  const { status, data } = await invite(mailbox, owner, email);
  expect([status, data.mailed, data.invitation.email]).toEqual([201, true, email]);
  const [mail] = mailbox.to(email);
  if (mail === undefined) throw new Error("No mail was sent");
  expect([mail.subject, data.url]).toEqual([
    "Invitation to An organization",
    `${ORIGIN}/dashboard/invitations/${tokenOf(mail, "invitations")}`,
  ]);
  expect(mail.text).toContain("You are invited to An organization on Atrium.");
  expect((await invite(mailbox, owner, null)).data.mailed).toBe(false);
  expect(mailbox.sent).toHaveLength(1);
  expect((await invite(new Mailbox({ MAIL_FROM: "" }), owner, email)).data.mailed).toBe(false);
});

it("names the person who invites", async () => {
  const [mailbox, owner, email] = [new Mailbox(), await account(), freshEmail()];
  const { browser } = await addMember(owner.id);
  await invite(mailbox, { api: browser.api(owner.id) }, email);
  expect(mailbox.to(email)[0]?.text).toContain("Cleo invites you to An organization on Atrium.");
});

it("an organization mails few invitations to one address and a bounded number a day: others are links only", async () => {
  const [mailbox, owner, email] = [new Mailbox(), await account(), freshEmail()];
  const mailed: boolean[] = [];
  for (let n = 0; n < 4; n += 1) mailed.push((await invite(mailbox, owner, email)).data.mailed);
  expect(mailed).toEqual([true, true, true, false]);
  await env.DB.prepare(
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 96)
     INSERT INTO mails (id, recipient, account_id, topic, key_id, sealed, created_at, expires_at)
     SELECT ? || i, i || '@example.com', ?, 'invitation', '', '', ?, ? FROM n`,
  )
    .bind(crypto.randomUUID(), owner.id, Date.now(), Date.now() + 60_000)
    .run();
  expect((await invite(mailbox, owner, freshEmail())).data.mailed).toBe(true);
  const { data } = await invite(mailbox, owner, freshEmail());
  expect([data.mailed, data.url.startsWith(ORIGIN)]).toEqual([false, true]);
  expect((await invite(mailbox, await account(), email)).data.mailed).toBe(true);
});

const NEW_PASSWORD = "another password of the tests";
const PATH = "/password-links";

const shown = ({ status, description, data, error }: Answer<unknown>) => [status, description, data, error];

describe("a person who forgot their password", () => {
  it("gets a link by mail, under the deployment's own origin, that works once", async () => {
    const mailbox = new Mailbox();
    const { email } = await signUp();
    expect((await mailbox.page("GET", PATH)).data).toEqual({ by_mail: true });
    expect((await mailbox.page("POST", PATH, { email: email.toUpperCase() })).status).toBe(200);
    const [mail] = mailbox.to(email);
    if (mail === undefined) throw new Error("No mail was sent");
    expect([mail.from, mail.subject]).toEqual([
      { email: "atrium@mail.test", name: "Atrium" },
      "Choose a new password for Atrium",
    ]);
    const link = `${PATH}/${tokenOf(mail, "password-links")}`;
    expect(mail.html).toContain(`href="${LINKS}/dashboard${link}"`);
    const browser = new DashboardBrowser();
    expect((await browser.get(link)).data).toEqual({ name: "Ada", email });
    expect((await browser.post(link, { password: NEW_PASSWORD })).status).toBe(200);
    expect((await browser.get("/me")).status).toBe(200);
    expect((await browser.post(link, { password: NEW_PASSWORD })).status).toBe(404);
  });

  it("gets the same answer as a stranger, to whom nothing is sent, and keeps an earlier link", async () => {
    const mailbox = new Mailbox();
    const [{ email }, unknown] = [await signUp(), freshEmail()];
    const answer = await mailbox.page("POST", PATH, { email });
    expect(shown(await mailbox.page("POST", PATH, { email: unknown }))).toEqual(shown(answer));
    expect([mailbox.to(email).length, mailbox.to(unknown).length]).toEqual([1, 0]);
    await mailbox.page("POST", PATH, { email });
    for (const mail of mailbox.to(email))
      expect((await new DashboardBrowser().get(`${PATH}/${tokenOf(mail, "password-links")}`)).status).toBe(
        200,
      );
    expect(mailbox.to(email)).toHaveLength(2);
  });

  it("gets few mails, however many networks ask for them, and no network asks for many people", async () => {
    const mailbox = new Mailbox();
    const [{ email }, unknown, address] = [await signUp(), freshEmail(), freshAddress()];
    const statuses = async (to: () => string, count: number, from: () => string) => {
      const found: number[] = [];
      for (let n = 0; n < count; n += 1)
        found.push((await mailbox.page("POST", PATH, { email: to() }, from())).status);
      return found;
    };
    for (const to of [email, unknown])
      expect(await statuses(() => to, 4, freshAddress)).toEqual([200, 200, 200, 429]);
    expect(mailbox.to(email)).toHaveLength(3);
    expect(await statuses(freshEmail, 11, () => address)).toEqual([...Array(10).fill(200), 429]);
  });
});

it("a deployment without mail says so, and one that is set up by halves says what it lacks", async () => {
  const without = new Mailbox({ MAIL_FROM: "" });
  expect((await without.page("GET", PATH)).data).toEqual({ by_mail: false });
  const refused = await without.page("POST", PATH, { email: freshEmail() });
  expect([refused.status, refused.error?.message]).toEqual([
    404,
    "This service sends no mail; ask an owner of your organization for a link",
  ]);
  for (const settings of [{ MAIL_ORIGIN: "" }, { MAIL_FROM: "nowhere" }])
    expect((await new Mailbox(settings).page("GET", PATH)).status).toBe(500);
  expectLogged("The setting MAIL_FROM needs PUBLIC_ORIGIN", "The setting MAIL_FROM must be an email address");
});
