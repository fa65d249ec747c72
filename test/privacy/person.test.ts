/** Persons who sign in to the dashboard: the export of what is kept of them, and the deletion of their account. */
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import type { PersonExport, PersonRecord } from "../../src/features/privacy/schema.ts";
import { Mailbox } from "../mail/mailbox.ts";
import { account } from "../support/api.ts";
import { addMember, type Browser, invite, PASSWORD, signUp } from "../support/person.ts";

async function exported(browser: Browser): Promise<PersonRecord[]> {
  const records: PersonRecord[] = [];
  for (let after: string | null = null, isFirst = true; isFirst || after !== null; isFirst = false) {
    const { data } = (await browser.post<PersonExport>("/me/export", { after })) as { data: PersonExport };
    records.push(...data.records);
    after = data.cursor;
  }
  return records;
}

const countOf = (table: string, column: string, personId: string) =>
  env.DB.prepare(`SELECT count(*) AS n FROM ${table} WHERE ${column} = ?`).bind(personId).first<number>("n");

it("a person exports what is kept of them, without any secret and without others", async () => {
  const owner = await signUp();
  const other = await invite(owner);
  const api = owner.browser.api(owner.organization.id);
  await api.post("/invitations", { role: "member", email: "eve@example.com" });
  await owner.browser.post("/organizations", { name: "Second" });
  const records = await exported(owner.browser);
  expect(records.filter(({ type }) => type !== "change")).toEqual([
    expect.objectContaining({ type: "person", id: owner.id, email: owner.email, name: "Ada" }),
    expect.objectContaining({ type: "password" }),
    expect.objectContaining({ type: "sign_in" }),
    expect.objectContaining({ type: "membership", role: "owner" }),
    expect.objectContaining({ type: "membership", role: "owner" }),
    expect.objectContaining({ type: "invitation", email: "eve@example.com" }),
  ]);
  const changes = records.flatMap((record) => (record.type === "change" ? [record.entry] : []));
  expect(changes.map(({ operation }) => operation).sort()).toEqual([
    "createInvitation",
    "createInvitation",
    "createOrganization",
    "createOrganization",
  ]);
  expect(JSON.stringify(records)).not.toContain(other.id);
  expect((await owner.browser.post("/me/export", { after: "x" })).error?.code).toBe("VALIDATION_ERROR");
});

it("a person exports which mails are kept for them, and not what they say", async () => {
  const [owner, mailbox] = [await signUp(), new Mailbox()];
  await mailbox.page("POST", "/password-links", { email: owner.email });
  expect(mailbox.to(owner.email)).toHaveLength(1);
  const mails = (await exported(owner.browser)).filter(({ type }) => type === "mail");
  expect(mails).toEqual([
    {
      ...{ type: "mail", organization_id: null, topic: "password", state: "done" },
      ...{ created_at: expect.any(String), expires_at: expect.any(String) },
    },
  ]);
});

it("a person exports what they changed in an organization beside the directory", async () => {
  const { id } = await account("DB_2");
  const { browser } = await addMember(id);
  const room = await browser.api(id).createRoom();
  await browser.api(id).delete(`/rooms/${room.id}`);
  await browser.api(id).post("/invitations", {});
  const changes = (await exported(browser)).flatMap((record) => (record.type === "change" ? [record] : []));
  expect(changes.map(({ entry }) => entry.operation)).toEqual(["createInvitation", "deleteRoom"]);
});

it("a person deletes their account, with everything but the organization's own record of it", async () => {
  const owner = await signUp();
  const leaving = await invite(owner, "owner");
  const api = leaving.browser.api(owner.organization.id);
  const { data } = await api.post<{ url: string }>("/invitations", { role: "owner" });
  const wrong = await leaving.browser.post("/me/delete", { password: "wrong" });
  expect([wrong.status, wrong.error?.message]).toEqual([400, "password: this is not your password"]);
  expect((await leaving.browser.post("/me/delete", { password: PASSWORD })).status).toBe(200);
  expect(leaving.browser.cookie).toBe("");
  for (const [table, column] of [
    ["people", "id"],
    ["credentials", "person_id"],
    ["sessions", "person_id"],
    ["memberships", "person_id"],
    ["invitations", "invited_by"],
  ] as const)
    expect(await countOf(table, column, leaving.id), table).toBe(0);
  // An invitation of an API key has no inviter: that of a deleted owner must not become one.
  const token = data.url.split("/").at(-1) ?? "";
  await expect(signUp({ invitation: token })).rejects.toThrow("404");
  const { data: log } = await owner.browser
    .api(owner.organization.id)
    .get<{ entries: { operation: string; resource: object }[] }>("/audit");
  expect(log.entries[0]).toMatchObject({
    operation: "deletePerson",
    resource: { type: "member", id: leaving.id },
  });
});

it("the only owner of an organization hands it over, or deletes it, first", async () => {
  const owner = await signUp({ organization: "Analytical Engines" });
  const refused = await owner.browser.post("/me/delete", { password: PASSWORD });
  expect([refused.status, refused.error?.code]).toEqual([409, "CONFLICT"]);
  expect(refused.error?.message).toContain("Analytical Engines");
  expect((await owner.browser.get("/me")).status).toBe(200);
  const api = owner.browser.api(owner.organization.id);
  await api.json("DELETE", "/organization", { confirm: "Analytical Engines" });
  expect((await owner.browser.post("/me/delete", { password: PASSWORD })).status).toBe(200);
});
