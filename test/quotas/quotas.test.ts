/** Quotas of an organization: exact counts, refusals that name the quota, and limits that the operator sets. */
import { env } from "cloudflare:workers";
import { COUNTERS, eachQuota, isInDirectory } from "@atrium/contract/resources/quota.ts";
import type { Quota } from "@atrium/contract/rest/quotas.ts";
import { describe, expect, it } from "vitest";
import { deletePerson } from "../../src/features/privacy/statements.ts";
import { openDirectory } from "../../src/platform/d1/databases.ts";
import { runScheduledTasks } from "../../src/scheduled.ts";
import { type Account, account, refusalOf } from "../support/api.ts";
import { costOf } from "../support/counting.ts";
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
import { setLimit, usesOf } from "../support/quotas.ts";

const WEBHOOK = { url: "https://hooks.example.com", events: ["user.created"], enabled: false };
const WORKFLOW = { name: "A workflow", code: "export default () => 1;", events: ["session.started"] };
const NOTHING = { ...eachQuota(() => 0), api_keys: 1 };

const fileOf = (bytes: number) => new File(["x".repeat(bytes)], "a.txt", { type: "text/plain" });

const refusal = (quota: string, used: number, limit: number) => ({
  ...{ module: "Accounts", code: "FORBIDDEN" },
  message: expect.stringMatching(
    `^The quota ${quota} is exceeded: ${used} of ${limit} are used; (delete|revoke|withdraw) `,
  ),
});

describe("the use of quotas", () => {
  it("is exact, whatever creates and deletes", async () => {
    const owner = await account();
    expect(await usesOf(owner)).toEqual(NOTHING);
    const [room, other] = [await owner.api.createRoom(), await owner.api.createRoom()];
    const [user, second] = [await owner.api.createUser(room.id), await owner.api.createUser(room.id)];
    await owner.api.createUser(other.id);
    const webhook = await owner.api.post<{ webhook: { id: string } }>("/webhooks", WEBHOOK);
    const workflow = await owner.api.post<{ workflow: { id: string } }>("/workflows", WORKFLOW);
    const upload = (bytes: number) => owner.api.upload({ roomId: room.id, userId: user.id }, fileOf(bytes));
    const { key } = (await upload(5)).data.file;
    await upload(7);
    expect(await usesOf(owner)).toEqual({
      ...NOTHING,
      rooms: 2,
      users: 3,
      webhooks: 1,
      workflows: 1,
      file_bytes: 12,
    });
    await owner.api.deleteFile(key);
    await owner.api.delete(`/users/${second.id}?roomId=${room.id}`);
    await owner.api.delete(`/webhooks/${webhook.data.webhook.id}`);
    expect(await usesOf(owner)).toEqual({ ...NOTHING, rooms: 2, users: 2, workflows: 1, file_bytes: 7 });
    await owner.api.delete(`/rooms/${room.id}`);
    await owner.api.delete(`/workflows/${workflow.data.workflow.id}`);
    expect(await usesOf(owner)).toEqual({ ...NOTHING, rooms: 1, users: 1 });
  });

  it("does not grow by what is refused", async () => {
    const owner = await account();
    const { id } = await owner.api.createRoom({ customId: "taken" });
    await owner.api.post("/rooms", { name: "Again", customId: "taken" });
    await owner.api.post("/users", { name: "Ada", roomId: crypto.randomUUID() });
    await owner.api.upload({ roomId: id, userId: crypto.randomUUID() }, fileOf(5));
    expect(await usesOf(owner)).toEqual({ ...NOTHING, rooms: 1 });
  });

  it("is that of one organization, and goes with it", async () => {
    const [owner, neighbour] = [await account(), await account()];
    await owner.api.createRoom();
    expect(await usesOf(neighbour)).toEqual(NOTHING);
    await env.DB.prepare("DELETE FROM accounts WHERE id = ?").bind(owner.id).run();
    const left = env.DB.prepare("SELECT * FROM quotas WHERE account_id = ?").bind(owner.id);
    expect((await left.all()).results).toEqual([]);
  });
});

describe("a migration", () => {
  it("gives each organization a row for each quota, in the database that counts it", async () => {
    const { id } = await account();
    const rows = env.DB.prepare("SELECT quota, in_directory FROM quotas WHERE account_id = ?").bind(id);
    const { results } = await rows.all<{ quota: string; in_directory: number }>();
    expect(new Map(results.map((row) => [row.quota, row.in_directory === 1]))).toEqual(
      new Map(COUNTERS.map((name) => [name, isInDirectory(name)])),
    );
  });

  it("gives each quota triggers that count it up and down", async () => {
    const { results } = await env.DB.prepare("SELECT sql FROM sqlite_master WHERE type = 'trigger'").all();
    const counting = results
      .map(({ sql }) => String(sql))
      .filter((sql) => /UPDATE `quotas` SET `used` = `used`/.test(sql));
    const countersOf = (name: string) => counting.filter((sql) => sql.includes(`'${name}'`)).length;
    // An object reports the rate of requests.
    const uncounted = COUNTERS.filter((name) => countersOf(name) < 2);
    expect(uncounted).toEqual(["requests_per_second"]);
  });
});

describe("a quota that is used up", () => {
  it.each([
    ["rooms", "/rooms", () => ({ name: "A room" })],
    ["users", "/users", (roomId: string) => ({ name: "Ada", roomId })],
    ["identities", "/identities", () => ({ name: "Ada" })],
    ["groups", "/groups", () => ({ name: "Designers" })],
    ["webhooks", "/webhooks", () => WEBHOOK],
    ["workflows", "/workflows", () => WORKFLOW],
    ["api_keys", "/api-keys", () => ({})],
    ["invitations", "/invitations", () => ({})],
  ])(
    "refuses more %s, and accepts one when one was deleted or the limit was raised",
    async (quota, path, body) => {
      const owner = await account();
      const { id: roomId } = await owner.api.createRoom();
      const used = (await usesOf(owner))[quota] ?? 0;
      await setLimit(owner, quota, used + 1);
      expect((await owner.api.post(path, body(roomId))).status).toBe(201);
      const refused = await owner.api.post(path, body(roomId));
      expect([refused.status, refused.error]).toEqual([403, refusal(quota, used + 1, used + 1)]);
      expect((await usesOf(owner))[quota]).toBe(used + 1);
      await setLimit(owner, quota, null);
      expect((await owner.api.post(path, body(roomId))).status).toBe(201);
      await setLimit(owner, quota, 0);
      const lowered = await owner.api.post(path, body(roomId));
      expect(lowered.error).toEqual(refusal(quota, used + 2, 0));
    },
  );

  it("lets exactly one of a hundred concurrent creations through when one is left", async () => {
    const owner = await account();
    await owner.api.createRoom();
    await setLimit(owner, "rooms", 2);
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => owner.api.post("/rooms", { name: "A room" })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 403)).toHaveLength(99);
    expect(await usesOf(owner)).toMatchObject({ rooms: 2 });
  });

  it("refuses a file that does not fit, leaves nothing of it, and refuses the next before its first byte", async () => {
    const owner = await account();
    const { id: roomId } = await owner.api.createRoom();
    const { id: userId } = await owner.api.createUser(roomId);
    const upload = (bytes: number) => owner.api.upload({ roomId, userId }, fileOf(bytes));
    await setLimit(owner, "file_bytes", 10);
    expect((await upload(6)).status).toBe(201);
    const refused = await upload(5);
    expect([refused.status, refused.error]).toEqual([403, refusal("file_bytes", 6, 10)]);
    const rows = env.DB.prepare("SELECT count(*) AS total FROM files WHERE account_id = ?").bind(owner.id);
    expect(await rows.first("total")).toBe(1);
    expect((await upload(4)).status).toBe(201);
    const form = new FormData();
    form.append("roomId", roomId);
    form.append("userId", userId);
    form.append("file", fileOf(1));
    expect(await costOf(owner, "POST", "/upload", form)).toMatchObject({ status: 403, r2Calls: 0 });
  });

  it("replays a creation that went through before it was used up", async () => {
    const owner = await account();
    await setLimit(owner, "rooms", 1);
    const options = { headers: { "Idempotency-Key": crypto.randomUUID() } };
    const first = await owner.api.post("/rooms", { name: "A room" }, options);
    const again = await owner.api.post("/rooms", { name: "A room" }, options);
    expect([first.status, again.status, again.data]).toEqual([201, 201, first.data]);
  });
});

it("the defaults of a deployment are settings", async () => {
  const owner = await account();
  await owner.api.createRoom();
  const cost = await costOf(owner, "POST", "/rooms", { name: "Second" }, { QUOTA_ROOMS: "1" });
  expect(cost.status).toBe(403);
  await setLimit(owner, "rooms", 2);
  const raised = await costOf(owner, "POST", "/rooms", { name: "Second" }, { QUOTA_ROOMS: "1" });
  expect(raised.status).toBe(201);
});

const PEOPLE = ["members", "invitations", "api_keys"];

const usesOfPeople = async (api: Account["api"]) =>
  Object.fromEntries(Object.entries(await usesOf({ api })).filter(([name]) => PEOPLE.includes(name)));

const apiOf = ({ browser, organization }: SignedUp) => browser.api(organization.id);

const inviteOne = async (owner: SignedUp): Promise<string> =>
  tokenIn((await apiOf(owner).post<{ url: string }>("/invitations", {})).data.url);

describe("the use of the quotas of people", () => {
  it("is exact, however someone comes or goes", async () => {
    const owner = await signUp();
    const api = apiOf(owner);
    expect(await usesOfPeople(api)).toEqual({ members: 1, invitations: 0, api_keys: 0 });
    await inviteOne(owner);
    const { data } = await api.post<{ api_key: { id: string } }>("/api-keys");
    expect(await usesOfPeople(api)).toEqual({ members: 1, invitations: 1, api_keys: 1 });
    const [second, third, fourth] = [await invite(owner), await invite(owner, "owner"), await invite(owner)];
    await inviteOne(third);
    expect(await usesOfPeople(api)).toEqual({ members: 4, invitations: 2, api_keys: 1 });
    await api.delete(`/members/${second.id}`);
    await api.delete(`/members/${third.id}`);
    await api.delete(`/api-keys/${data.api_key.id}`);
    expect(await usesOfPeople(api)).toEqual({ members: 2, invitations: 1, api_keys: 0 });
    await openDirectory(env).run(deletePerson(fourth.id, Date.now()));
    expect(await usesOfPeople(api)).toEqual({ members: 1, invitations: 1, api_keys: 0 });
  });

  it("counts an invitation until it is deleted because it has expired", async () => {
    const owner = await signUp();
    await inviteOne(owner);
    await env.DB.prepare("UPDATE invitations SET expires_at = ? WHERE account_id = ?")
      .bind(Date.now(), owner.organization.id)
      .run();
    expect(await usesOfPeople(apiOf(owner))).toMatchObject({ invitations: 1 });
    await runScheduledTasks(env, Date.now());
    expect(await usesOfPeople(apiOf(owner))).toMatchObject({ invitations: 0 });
  });

  it.each(["DB_2", "DB_3"] as const)("is that of an organization in %s, too", async (place) => {
    const owner = await account(place);
    await addMember(owner.id);
    await owner.api.post("/invitations", {});
    await setLimit(owner, "members", 7);
    const { data } = await owner.api.get<{ quotas: Quota[] }>("/quotas");
    expect(data.quotas.filter(({ name }) => PEOPLE.includes(name))).toEqual([
      { name: "members", used: 1, limit: 7 },
      { name: "invitations", used: 1, limit: 1_000 },
      { name: "api_keys", used: 1, limit: 1_000 },
    ]);
    await setLimit(owner, "api_keys", 1);
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
    await setLimit(owner.organization, "members", 1);
    const accept = () => guest.browser.post(`/invitations/${token}/accept`);
    const refused = await accept();
    expect(refusalOf(refused)).toEqual([403, "Accounts", "FORBIDDEN"]);
    expect(refused.error?.message).toMatch(/^The organization's quota of members is used up; \D+$/);
    const body = { name: "Bo", email: freshEmail(), password: PASSWORD, invitation: token };
    expect((await new DashboardBrowser().post("/sign-up", body)).error?.code).toBe("FORBIDDEN");
    const people = env.DB.prepare("SELECT id FROM people WHERE email = ?").bind(body.email);
    expect(await people.first()).toBe(null);
    expect(await usesOfPeople(apiOf(owner))).toMatchObject({ members: 1, invitations: 1 });
    await setLimit(owner.organization, "members", null);
    expect((await accept()).status).toBe(200);
    expect(await usesOfPeople(apiOf(owner))).toMatchObject({ members: 2, invitations: 0 });
  });

  it("lets one of several people in who accept at once when one place is left", async () => {
    const owner = await signUp();
    await setLimit(owner.organization, "members", 2);
    const guests = [await signUp(), await signUp(), await signUp()];
    const tokens = [await inviteOne(owner), await inviteOne(owner), await inviteOne(owner)];
    const answers = await Promise.all(
      guests.map(({ browser }, index) => browser.post(`/invitations/${tokens[index]}/accept`)),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 403, 403]);
    expect(await usesOfPeople(apiOf(owner))).toMatchObject({ members: 2, invitations: 2 });
  });

  it("refuses an invitation that could not be accepted, and names itself", async () => {
    const owner = await signUp();
    await setLimit(owner.organization, "members", 1);
    const refused = await apiOf(owner).post("/invitations", {});
    expect([refused.status, refused.error?.message]).toEqual([
      403,
      expect.stringContaining("The quota members is exceeded: 1 of 1 are used; remove members, "),
    ]);
    expect(await usesOfPeople(apiOf(owner))).toMatchObject({ invitations: 0 });
  });

  it("lets a new organization have its first owner, and an owner change roles, at any limit", async () => {
    const owner = await signUp();
    const member = await invite(owner);
    await setLimit(owner.organization, "members", 0);
    const promoted = await apiOf(owner).patch(`/members/${member.id}`, { role: "owner" });
    expect(promoted.status).toBe(200);
  });
});
