/** Forgotten passwords where the deployment sends mail. */
import { describe, expect, it } from "vitest";
import { type Answer, freshAddress } from "../support/api.ts";
import { expectLogged } from "../support/log-guard.ts";
import { Browser, freshEmail, signUp } from "../support/person.ts";
import { LINKS, Mailbox, tokenOf } from "./mailbox.ts";

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
    const browser = new Browser();
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
      expect((await new Browser().get(`${PATH}/${tokenOf(mail, "password-links")}`)).status).toBe(200);
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
