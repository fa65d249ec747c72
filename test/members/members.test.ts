/** Members of an organization: invitations by link, and the rights of owners. */
import { env } from "cloudflare:workers";
import type { Invitation, Member } from "@atrium/contract/rest/members.ts";
import type { Me } from "@atrium/contract/rest/people.ts";
import { describe, expect, it } from "vitest";
import { invitationLink } from "../../src/features/people/links.ts";
import { runScheduledTasks } from "../../src/scheduled.ts";
import { account, ORIGIN, refusalOf } from "../support/api.ts";
import {
  addMember,
  DashboardBrowser,
  freshEmail,
  invite,
  PASSWORD,
  type SignedUp,
  signUp,
  tokenIn,
} from "../support/person.ts";

type Invited = { readonly invitation: Invitation; readonly url: string };

const inviteBy = ({ browser, organization }: SignedUp, body: object = {}) =>
  browser.api(organization.id).post<Invited>("/invitations", body);

const membersOf = async ({ browser, organization }: SignedUp) =>
  (await browser.api(organization.id).get<{ members: Member[] }>("/members")).data.members;

describe("an invitation", () => {
  it("names its organization and makes one new person a member", async () => {
    const owner = await signUp({ name: "Ada", organization: "Analytical Engines" });
    const made = await inviteBy(owner);
    expect(made).toMatchObject({ status: 201, data: { invitation: { role: "member" } } });
    const { url, invitation } = made.data;
    expect(url).toMatch(new RegExp(`^${ORIGIN}/dashboard/invitations/[\\w-]{43}$`));
    expect(Date.parse(invitation.expires_at) - Date.parse(invitation.created_at)).toBe(
      invitationLink.lifetimeMs,
    );
    const stranger = new DashboardBrowser();
    expect((await stranger.get(`/invitations/${tokenIn(url)}`)).data).toEqual({
      organization: { name: "Analytical Engines" },
      invited_by: "Ada",
    });
    const body = { name: "Bo", email: freshEmail(), password: PASSWORD, invitation: tokenIn(url) };
    const joined = await stranger.post<Me>("/sign-up", body);
    expect(joined.data.organizations).toEqual([{ ...owner.organization, role: "member" }]);
    expect((await stranger.get<Me>("/me")).data).toEqual(joined.data);
    expect((await membersOf(owner)).map(({ name, role }) => [name, role])).toEqual([
      ["Bo", "member"],
      ["Ada", "owner"],
    ]);
  });

  it("makes an existing person a member, once", async () => {
    const [owner, guest] = [await signUp(), await signUp()];
    const path = `/invitations/${tokenIn((await inviteBy(owner, { role: "owner" })).data.url)}`;
    const accepted = await guest.browser.post(`${path}/accept`);
    expect(accepted).toMatchObject({
      status: 200,
      data: { organization: { ...owner.organization, role: "owner" } },
    });
    expect((await guest.browser.api(owner.organization.id).get("/rooms")).status).toBe(200);
    for (const answer of [
      await guest.browser.get(path),
      await (await signUp()).browser.post(`${path}/accept`),
      await new DashboardBrowser().post("/sign-up", {
        name: "Cleo",
        email: freshEmail(),
        password: PASSWORD,
        invitation: path.split("/")[2],
      }),
    ]) {
      expect(refusalOf(answer)).toEqual([404, "Accounts", "NOT_FOUND"]);
    }
  });

  it("is not used up by an existing member", async () => {
    const owner = await signUp();
    const path = `/invitations/${tokenIn((await inviteBy(owner)).data.url)}`;
    expect((await owner.browser.post(`${path}/accept`)).error?.code).toBe("CONFLICT");
    expect((await new DashboardBrowser().get(path)).status).toBe(200);
  });

  it("makes one of several people who use it at once a member, and creates none of the others", async () => {
    const owner = await signUp();
    const invitation = tokenIn((await inviteBy(owner)).data.url);
    const emails = Array.from({ length: 4 }, freshEmail);
    const answers = await Promise.all(
      emails.map((email) =>
        new DashboardBrowser().post("/sign-up", { name: "Bo", email, password: PASSWORD, invitation }),
      ),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 404, 404, 404]);
    expect(await membersOf(owner)).toHaveLength(2);
    const { results } = await env.DB.prepare("SELECT email FROM people").all<{ email: string }>();
    expect(results.filter(({ email }) => emails.includes(email))).toHaveLength(1);
  });

  it("for an address is accepted by the person who has it, in any case, and by no one else", async () => {
    const [owner, email] = [await signUp(), freshEmail()];
    const { url, invitation } = (await inviteBy(owner, { email: email.toUpperCase() })).data;
    expect(invitation.email).toBe(email);
    const [token, stranger] = [tokenIn(url), await signUp()];
    expect(JSON.stringify((await stranger.browser.get(`/invitations/${token}`)).data)).not.toContain(email);
    const signUpWith = (address: string) =>
      new DashboardBrowser().post<Me>("/sign-up", {
        ...{ name: "Bo", email: address, password: PASSWORD },
        invitation: token,
      });
    for (const refused of [
      await stranger.browser.post(`/invitations/${token}/accept`),
      await signUpWith(freshEmail()),
    ]) {
      expect([refused.status, refused.error?.code]).toEqual([403, "FORBIDDEN"]);
      expect(refused.error?.message).toMatch(/^email: this invitation is for another address; /);
    }
    expect((await signUpWith(email)).data.organizations).toEqual([{ ...owner.organization, role: "member" }]);
    const member = await inviteBy(owner, { email: stranger.email });
    const accepted = await stranger.browser.post(`/invitations/${tokenIn(member.data.url)}/accept`);
    expect(accepted.status).toBe(200);
  });

  it("is listed without its link, and can be withdrawn", async () => {
    const owner = await signUp();
    const { url, invitation } = (await inviteBy(owner)).data;
    const listed = await owner.api.get<{ invitations: Invitation[] }>("/invitations");
    expect(listed.data).toEqual({ invitations: [invitation], total: 1, limit: 50, offset: 0, cursor: null });
    const { results } = await env.DB.prepare("SELECT * FROM invitations").all();
    expect(JSON.stringify([listed.data, results])).not.toContain(tokenIn(url));
    const other = await signUp();
    const byOther = await other.api.delete(`/invitations/${invitation.id}`);
    expect(byOther.status).toBe(404);
    expect((await new DashboardBrowser().get(`/invitations/${tokenIn(url)}`)).status).toBe(200);
    expect((await owner.api.delete(`/invitations/${invitation.id}`)).data).toEqual({});
    expect((await new DashboardBrowser().get(`/invitations/${tokenIn(url)}`)).status).toBe(404);
    expect((await owner.api.delete(`/invitations/${invitation.id}`)).status).toBe(404);
  });

  it("expires after seven days and is deleted", async () => {
    const owner = await signUp();
    const { url, invitation } = (await inviteBy(owner)).data;
    const guest = await signUp();
    await env.DB.prepare("UPDATE invitations SET expires_at = ? WHERE id = ?")
      .bind(Date.now(), invitation.id)
      .run();
    const path = `/invitations/${tokenIn(url)}`;
    expect((await guest.browser.get(path)).status).toBe(404);
    expect((await guest.browser.post(`${path}/accept`)).status).toBe(404);
    expect((await owner.api.get<{ total: number }>("/invitations")).data.total).toBe(0);
    await runScheduledTasks(env, Date.now());
    const left = env.DB.prepare("SELECT id FROM invitations WHERE id = ?").bind(invitation.id);
    expect(await left.first()).toBeNull();
  });

  it.each([
    ["was removed", "DELETE FROM memberships WHERE person_id = ?"],
    ["is no owner any more", "UPDATE memberships SET role = 'member' WHERE person_id = ?"],
  ])("ends when its inviter %s, even if it was made at that very moment", async (_, change) => {
    const owner = await signUp();
    const second = await addMember(owner.organization.id, "owner");
    const { data } = await second.browser.api(owner.organization.id).post<Invited>("/invitations", {});
    const path = `/invitations/${tokenIn(data.url)}`;
    const guest = await signUp();
    expect((await guest.browser.get(path)).status).toBe(200);
    await env.DB.prepare(change).bind(second.id).run();
    expect((await owner.api.get<{ total: number }>("/invitations")).data.total).toBe(0);
    expect((await guest.browser.get(path)).status).toBe(404);
    expect((await guest.browser.post(`${path}/accept`)).status).toBe(404);
    const body = { name: "Bo", email: freshEmail(), password: PASSWORD, invitation: tokenIn(data.url) };
    expect((await new DashboardBrowser().post("/sign-up", body)).status).toBe(404);
  });

  it("created by an API key names the organization as the inviter", async () => {
    const { api } = await account();
    const { data } = await api.post<Invited>("/invitations", {});
    expect((await new DashboardBrowser().get(`/invitations/${tokenIn(data.url)}`)).data).toEqual({
      organization: { name: "An organization" },
      invited_by: null,
    });
  });
});

describe("a member", () => {
  it("can do everything except manage members, invitations and keys", async () => {
    const owner = await signUp();
    const member = await invite(owner);
    const api = member.api;
    const room = await api.createRoom();
    await api.createUser(room.id);
    expect((await api.get("/api-keys")).status).toBe(200);
    const { id: keyId } = (await owner.api.post<{ api_key: { id: string } }>("/api-keys")).data.api_key;
    const { id } = (await inviteBy(owner)).data.invitation;
    for (const answer of [
      await api.post("/api-keys"),
      await api.delete(`/api-keys/${keyId}`),
      await api.post("/invitations", { role: "owner" }),
      await api.delete(`/invitations/${id}`),
      await api.delete(`/members/${owner.id}`),
    ]) {
      expect(refusalOf(answer)).toEqual([403, "Auth", "FORBIDDEN"]);
    }
  });

  it("can be removed by an owner and loses access at once", async () => {
    const owner = await signUp();
    const member = await invite(owner);
    expect((await member.api.get("/rooms")).status).toBe(200);
    const path = `/members/${member.id}`;
    expect((await owner.api.delete(path)).data).toEqual({});
    expect((await member.api.get("/rooms")).status).toBe(403);
    expect((await member.browser.get<Me>("/me")).data.organizations).toEqual([]);
    expect((await owner.api.delete(path)).error?.code).toBe("NOT_FOUND");
  });

  it("who is removed cannot come back by an invitation made before the removal; those of others stay", async () => {
    const owner = await signUp();
    const second = await invite(owner, "owner");
    const own = (await inviteBy(second)).data;
    const others = (await inviteBy(owner)).data;
    await owner.api.delete(`/members/${second.id}`);
    const accept = ({ url }: Invited) => second.browser.post(`/invitations/${tokenIn(url)}/accept`);
    expect((await accept(own)).status).toBe(404);
    const left = await env.DB.prepare("SELECT id FROM invitations WHERE account_id = ?")
      .bind(owner.organization.id)
      .all();
    expect(left.results).toEqual([{ id: others.invitation.id }]);
    expect((await accept(others)).status).toBe(200);
  });

  it("can leave", async () => {
    const owner = await signUp();
    const member = await invite(owner);
    const answer = await member.api.delete(`/members/${member.id}`);
    expect(answer.status).toBe(200);
    expect((await membersOf(owner)).map(({ id }) => id)).toEqual([owner.id]);
  });
});

describe("the role of a member", () => {
  it("is changed by an owner, at once, and the invitations of an owner who becomes a member end", async () => {
    const owner = await signUp();
    const second = await addMember(owner.organization.id, "member");
    const [api, theirs] = [owner.browser, second.browser].map((one) => one.api(owner.organization.id));
    const path = `/members/${second.id}`;
    expect((await theirs?.patch(path, { role: "owner" }))?.error?.code).toBe("FORBIDDEN");
    const promoted = await api?.patch<{ member: Member }>(path, { role: "owner" });
    expect(promoted?.data.member).toMatchObject({ id: second.id, role: "owner" });
    expect((await theirs?.post("/invitations", {}))?.status).toBe(201);
    expect((await theirs?.patch(path, { role: "member" }))?.status).toBe(200);
    expect((await theirs?.post("/invitations", {}))?.error?.code).toBe("FORBIDDEN");
    expect((await api?.get<{ total: number }>("/invitations"))?.data.total).toBe(0);
  });

  it("of the last owner stays, even when the last two demote each other at once", async () => {
    const owner = await signUp();
    const demote = { role: "member" };
    const refused = await owner.api.patch(`/members/${owner.id}`, demote);
    expect(refused.error?.code).toBe("CONFLICT");
    expect(refused.error?.message).toMatch(/^role: the last owner cannot become a member; /);
    expect((await owner.api.patch(`/members/${owner.id}`, { role: "owner" })).status).toBe(200);
    const second = await addMember(owner.organization.id, "owner");
    await Promise.all([
      owner.api.patch(`/members/${second.id}`, demote),
      second.browser.api(owner.organization.id).patch(`/members/${owner.id}`, demote),
    ]);
    const roles = env.DB.prepare("SELECT role FROM memberships WHERE account_id = ? AND role = 'owner'");
    expect((await roles.bind(owner.organization.id).all()).results).toHaveLength(1);
    expect((await owner.api.patch(`/members/${crypto.randomUUID()}`, demote)).error?.code).toBe("NOT_FOUND");
  });
});

describe("the last owner", () => {
  it("cannot leave while plain members remain, nor be removed by them, even when the last two remove each other at once", async () => {
    const owner = await signUp();
    const member = await invite(owner);
    const path = `/members/${owner.id}`;
    expect((await owner.api.delete(path)).error?.code).toBe("CONFLICT");
    expect((await owner.api.patch(path, { role: "member" })).error?.code).toBe("CONFLICT");
    expect((await member.api.delete(path)).error?.code).toBe("FORBIDDEN");
    const second = await addMember(owner.organization.id, "owner");
    const answers = await Promise.all([
      owner.api.delete(`/members/${second.id}`),
      second.browser.api(owner.organization.id).delete(path),
    ]);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const roles = env.DB.prepare("SELECT role FROM memberships WHERE account_id = ? ORDER BY role");
    const left = await roles.bind(owner.organization.id).all();
    expect(left.results).toEqual([{ role: "member" }, { role: "owner" }]);
  });
});
