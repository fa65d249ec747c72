/** The quotas of members, invitations and API keys: counted in the directory, wherever the organization is placed. */
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { deletePerson } from "../../src/features/privacy/person-store.ts";
import type { Quota } from "../../src/features/quotas/schema.ts";
import { openDirectory } from "../../src/platform/d1/databases.ts";
import { runScheduledTasks } from "../../src/scheduled.ts";
import { type Account, account } from "../support/api.ts";
import {
  addMember,
  Browser,
  freshEmail,
  invite,
  PASSWORD,
  type SignedUp,
  signUp,
  tokenIn,
} from "../support/person.ts";

type Api = Account["api"];

const PEOPLE = ["members", "invitations", "api_keys"];

/** The use of the quotas of people, and the limits. */
async function quotasOf(api: Api): Promise<Record<string, Pick<Quota, "used" | "limit">>> {
  const { data } = await api.get<{ quotas: Quota[] }>("/quotas");
  return Object.fromEntries(
    data.quotas
      .filter(({ name }) => PEOPLE.includes(name))
      .map(({ name, used, limit }) => [name, { used, limit }]),
  );
}

const usesOf = async (api: Api) =>
  Object.fromEntries(Object.entries(await quotasOf(api)).map(([name, { used }]) => [name, used]));

const setLimit = (id: string, quota: string, max: number | null) =>
  env.DB.prepare("UPDATE quotas SET max = ? WHERE account_id = ? AND quota = ?").bind(max, id, quota).run();

const apiOf = ({ browser, organization }: SignedUp) => browser.api(organization.id);

/** The token of a new invitation. */
const inviteOne = async (owner: SignedUp): Promise<string> =>
  tokenIn((await apiOf(owner).post<{ url: string }>("/invitations", {})).data.url);

describe("the use of the quotas of people", () => {
  it("is exact, however someone comes or goes", async () => {
    const owner = await signUp();
    const api = apiOf(owner);
    expect(await usesOf(api)).toEqual({ members: 1, invitations: 0, api_keys: 0 });
    await inviteOne(owner);
    const { data } = await api.post<{ api_key: { id: string } }>("/api-keys");
    expect(await usesOf(api)).toEqual({ members: 1, invitations: 1, api_keys: 1 });
    const [second, third, fourth] = [await invite(owner), await invite(owner, "owner"), await invite(owner)];
    await inviteOne(third);
    expect(await usesOf(api)).toEqual({ members: 4, invitations: 2, api_keys: 1 });
    await api.delete(`/members/${second.id}`);
    await api.delete(`/members/${third.id}`);
    await api.delete(`/api-keys/${data.api_key.id}`);
    expect(await usesOf(api)).toEqual({ members: 2, invitations: 1, api_keys: 0 });
    await openDirectory(env).run(deletePerson(fourth.id, Date.now()));
    expect(await usesOf(api)).toEqual({ members: 1, invitations: 1, api_keys: 0 });
  });

  it("counts an invitation until it is deleted because it has expired", async () => {
    const owner = await signUp();
    await inviteOne(owner);
    await env.DB.prepare("UPDATE invitations SET expires_at = ? WHERE account_id = ?")
      .bind(Date.now(), owner.organization.id)
      .run();
    expect(await usesOf(apiOf(owner))).toMatchObject({ invitations: 1 });
    await runScheduledTasks(env, Date.now());
    expect(await usesOf(apiOf(owner))).toMatchObject({ invitations: 0 });
  });

  it.each(["DB_2", "DB_3"] as const)("is that of an organization in %s, too", async (place) => {
    const owner = await account(place);
    await addMember(owner.id);
    await owner.api.post("/invitations", {});
    await setLimit(owner.id, "members", 7);
    expect(await quotasOf(owner.api)).toEqual({
      members: { used: 1, limit: 7 },
      invitations: { used: 1, limit: 1_000 },
      api_keys: { used: 1, limit: 1_000 },
    });
    await setLimit(owner.id, "api_keys", 1);
    const refused = await owner.api.post("/api-keys", {});
    expect([refused.status, refused.error?.message]).toEqual([
      403,
      expect.stringContaining("The quota api_keys is exceeded: 1 of 1 are used; revoke API keys, "),
    ]);
  });
});

describe("the quota of members", () => {
  it("refuses a person who accepts an invitation, which stays, and shows no figures to them", async () => {
    const [owner, guest] = [await signUp(), await signUp()];
    const token = await inviteOne(owner);
    await setLimit(owner.organization.id, "members", 1);
    const accept = () => guest.browser.post(`/invitations/${token}/accept`);
    const refused = await accept();
    expect([refused.status, refused.error?.module, refused.error?.code]).toEqual([
      403,
      "Accounts",
      "FORBIDDEN",
    ]);
    expect(refused.error?.message).toMatch(/^The organization's quota of members is used up; \D+$/);
    const body = { name: "Bo", email: freshEmail(), password: PASSWORD, invitation: token };
    expect((await new Browser().post("/sign-up", body)).error?.code).toBe("FORBIDDEN");
    const people = env.DB.prepare("SELECT id FROM people WHERE email = ?").bind(body.email);
    expect(await people.first()).toBe(null);
    expect(await usesOf(apiOf(owner))).toMatchObject({ members: 1, invitations: 1 });
    await setLimit(owner.organization.id, "members", null);
    expect((await accept()).status).toBe(200);
    expect(await usesOf(apiOf(owner))).toMatchObject({ members: 2, invitations: 0 });
  });

  it("lets one of several people in who accept at once when one place is left", async () => {
    const owner = await signUp();
    await setLimit(owner.organization.id, "members", 2);
    const guests = [await signUp(), await signUp(), await signUp()];
    const tokens = [await inviteOne(owner), await inviteOne(owner), await inviteOne(owner)];
    const answers = await Promise.all(
      guests.map(({ browser }, index) => browser.post(`/invitations/${tokens[index]}/accept`)),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 403, 403]);
    expect(await usesOf(apiOf(owner))).toMatchObject({ members: 2, invitations: 2 });
  });

  it("refuses an invitation that could not be accepted, and names itself", async () => {
    const owner = await signUp();
    await setLimit(owner.organization.id, "members", 1);
    const refused = await apiOf(owner).post("/invitations", {});
    expect([refused.status, refused.error?.message]).toEqual([
      403,
      expect.stringContaining("The quota members is exceeded: 1 of 1 are used; remove members, "),
    ]);
    expect(await usesOf(apiOf(owner))).toMatchObject({ invitations: 0 });
  });

  it("lets a new organization have its first owner, and an owner change roles, at any limit", async () => {
    const owner = await signUp();
    const member = await invite(owner);
    await setLimit(owner.organization.id, "members", 0);
    const promoted = await apiOf(owner).patch(`/members/${member.id}`, { role: "owner" });
    expect(promoted.status).toBe(200);
  });
});
