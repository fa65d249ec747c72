/** Invitations by mail. */
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import type { Invitation } from "../../src/features/members/schema.ts";
import { type Account, account, ORIGIN } from "../support/api.ts";
import { addMember, freshEmail } from "../support/person.ts";
import { Mailbox, tokenOf } from "./mailbox.ts";

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
