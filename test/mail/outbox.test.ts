/** Mails on their way: none is lost, and what may have been sent is sent at most once more. */

import { env } from "cloudflare:workers";
import { sql } from "drizzle-orm";
import { expect, it } from "vitest";
import { layOut, type Mail, nameInMail } from "../../src/features/mail/mail.ts";
import { continueMails, MailOutbox } from "../../src/features/mail/outbox.ts";
import { claimDueMails, insertMail } from "../../src/features/mail/statements.ts";
import { sealerFor } from "../../src/platform/crypto/sealer.ts";
import { openDatabase } from "../../src/platform/d1/d1.ts";
import { expectLogged } from "../support/log-guard.ts";
import { freshEmail } from "../support/person.ts";

const MAIL: Mail = { subject: "A subject", text: "a secret link", html: "<p>a secret link</p>" };
const MINUTE_MS = 60_000;
const db = openDatabase(env.DB);

/** An outbox with one mail, whose mailer answers as the test says. Its time is its own: no other test's mails are due. */
async function outboxWithMail(
  start: number,
  { secret = "a secret of the deployment", recipients = [freshEmail()] } = {},
) {
  const sent: string[] = [];
  let answer: () => Promise<void> = async () => undefined;
  const mailer = {
    send: async (to: string, { text }: Mail) => {
      await answer();
      sent.push(`${to} ${text}`);
    },
  };
  const outbox = new MailOutbox("https://atrium.test", sealerFor([secret], "tests"), mailer);
  const [id, to] = [crypto.randomUUID(), JSON.stringify(recipients)];
  const facts = {
    id,
    accountId: null,
    topic: "tests",
    createdAt: start,
    expiresAt: start + 24 * 60 * MINUTE_MS,
  };
  const stored = await outbox.seal(facts, MAIL);
  const store = () => db.run([insertMail(stored, sql`SELECT value AS recipient FROM json_each(${to})`)]);
  await store();
  const row = () =>
    env.DB.prepare("SELECT sealed, due_at FROM mails WHERE id = ?").bind(id).first<Record<string, unknown>>();
  return {
    ...{ outbox, sent, store, row, expected: `${recipients[0]} ${MAIL.text}` },
    answer: (next: () => Promise<void>) => {
      answer = next;
    },
  };
}

/** Long ago, and each test in a year of its own. */
const year = (number: number): number => Date.UTC(number, 0);

/** An attempt that a crash cuts off. */
const cutOff = (now: number) => db.run([claimDueMails(now, now + 5 * MINUTE_MS, 20)]);

it("stores a mail encrypted and once, sends it once, and forgets what it said", async () => {
  const start = year(1971);
  const { outbox, sent, store, row, expected } = await outboxWithMail(start);
  await store();
  expect(JSON.stringify(await row())).not.toContain("secret");
  await Promise.all([outbox.send(db, start), outbox.send(db, start)]);
  await outbox.send(db, start + 60 * MINUTE_MS);
  expect(sent).toEqual([expected]);
  expect(await row()).toEqual({ sealed: "", due_at: null });
});

it("sends a mail again whose attempt was cut off, and not a third time", async () => {
  const start = year(1972);
  const { outbox, sent, row, expected } = await outboxWithMail(start);
  await cutOff(start);
  await outbox.send(db, start + 4 * MINUTE_MS);
  expect(sent).toEqual([]);
  await outbox.send(db, start + 5 * MINUTE_MS);
  expect(sent).toEqual([expected]);
  const other = await outboxWithMail(start);
  await cutOff(start);
  await cutOff(start + 5 * MINUTE_MS);
  await other.outbox.send(db, start + 23 * 60 * MINUTE_MS);
  expect([other.sent, (await row())?.due_at]).toEqual([[], null]);
});

it("tries again what was refused, ever later, logs no address, and gives up", async () => {
  const start = year(1973);
  const { outbox, sent, answer, row, expected } = await outboxWithMail(start);
  const [recipient] = expected.split(" ");
  answer(() => Promise.reject(new Error(`${recipient} is not allowed`)));
  await outbox.send(db, start);
  expectLogged("A mail could not be sent yet: Error: the recipient is not allowed");
  await outbox.send(db, start + MINUTE_MS - 1);
  answer(async () => undefined);
  await outbox.send(db, start + MINUTE_MS);
  expect(sent).toEqual([expected]);
  const refused = await outboxWithMail(start);
  refused.answer(() => Promise.reject(new Error("refused")));
  for (let hour = 0; hour < 23; hour += 2) await refused.outbox.send(db, start + hour * 60 * MINUTE_MS);
  expectLogged("A mail could not be sent yet: Error: refused", "A mail could not be sent, and was given up");
  expect([(await row())?.due_at, await refused.row()]).toEqual([null, { sealed: "", due_at: null }]);
});

it("sends a mail to each of its recipients, also to one that was refused before an attempt was cut off", async () => {
  const start = year(1975);
  const recipients = [freshEmail(), freshEmail()];
  const { outbox, sent, answer } = await outboxWithMail(start, { recipients });
  let attempts = 0;
  answer(async () => {
    attempts += 1;
    if (attempts === 1) throw new Error("refused");
  });
  await outbox.send(db, start);
  expectLogged("A mail could not be sent yet: Error: refused");
  expect(sent).toHaveLength(1);
  await cutOff(start + MINUTE_MS);
  await outbox.send(db, start + 6 * MINUTE_MS);
  expect(sent.sort()).toEqual(recipients.map((recipient) => `${recipient} ${MAIL.text}`).sort());
});

it("sends nothing that has expired or that no key opens, and deletes what has expired", async () => {
  const start = year(1974);
  const expired = await outboxWithMail(start);
  await expired.outbox.send(db, start + 24 * 60 * MINUTE_MS);
  expect(expired.sent).toEqual([]);
  await continueMails(env, start + 24 * 60 * MINUTE_MS);
  expect(await expired.row()).toBe(null);
  const sealedByOther = await outboxWithMail(start);
  const { outbox } = await outboxWithMail(start, { secret: "another secret" });
  await outbox.send(db, start);
  expect(sealedByOther.sent).toEqual([]);
  expectLogged("A mail can no longer be decrypted, and is not sent");
});

it("says the same as plain text and as HTML, which loads nothing and escapes all that it is given", () => {
  const url = "https://atrium.test/?a=1&b='2'";
  const { subject, text, html } = layOut({
    subject: 'Invitation to <b>"Ada"</b>',
    paragraphs: ["First & foremost", "<img src=x>"],
    link: { label: "Open", url },
    after: ["At last"],
  });
  expect(subject).toBe('Invitation to <b>"Ada"</b>');
  expect(text).toBe(`First & foremost\n\n<img src=x>\n\n${url}\n\nAt last\n`);
  expect(html).toContain('<a href="https://atrium.test/?a=1&amp;b=&#39;2&#39;"');
  expect(html).toContain("<title>Invitation to &lt;b&gt;&quot;Ada&quot;&lt;/b&gt;</title>");
  expect(html).toContain("&lt;img src=x&gt;");
  expect(html).not.toMatch(/<(img|script|link|iframe)|url\(/);
});

it("keeps the joiners of scripts and emoji in a name, and takes out what turns its direction", () => {
  for (const name of [
    "می\u200cخواهم",
    "ශ්\u200dරී",
    "👩\u200d👩\u200d👧",
    "❤\ufe0f",
    "👍🏽",
    "🇩🇪",
    "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
  ])
    expect(nameInMail(name)).toBe(name);
  expect(nameInMail("a\u202eb\u2066c\u200fd\u061ce\ufefff\u200bg")).toBe("abcdefg");
  expect(nameInMail("a\u2028b\ud83d c\u0000d")).toBe("a b c d");
});

it("cuts a name between letters and emoji, never inside of one", () => {
  for (const letter of ["👩\u200d👩\u200d👧", "👍🏽", "🇩🇪", "e\u0301", "क्षि", "😀"]) {
    for (let before = 0; before < 12; before += 1) {
      const [whole = ""] = nameInMail("x".repeat(before) + letter.repeat(60)).split("…");
      expect(whole.length).toBeLessThan(60);
      expect(whole.slice(before).replaceAll(letter, "")).toBe("");
    }
  }
  expect(nameInMail(`e${"\u0301".repeat(100)}`)).toBe(`e${"\u0301".repeat(58)}…`);
});

it("shows a name on one line, and cuts a long one", () => {
  expect(nameInMail(" An\r\norganization\u202e ")).toBe("An organization");
  expect(nameInMail("x".repeat(60))).toBe("x".repeat(60));
  expect(nameInMail(`${"x".repeat(58)} ${"y".repeat(60)}`)).toBe(`${"x".repeat(58)}…`);
});
