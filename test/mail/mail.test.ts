/** What mails look like: text that customers chose stays text. */
import { expect, it } from "vitest";
import { layOut, nameInMail } from "../../src/features/mail/mail.ts";

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

it("shows a name on one line, and cuts a long one", () => {
  expect(nameInMail(" An\r\norganization\u202e ")).toBe("An organization");
  expect(nameInMail("x".repeat(60))).toBe("x".repeat(60));
  expect(nameInMail(`${"x".repeat(58)} ${"y".repeat(60)}`)).toBe(`${"x".repeat(58)}…`);
});
