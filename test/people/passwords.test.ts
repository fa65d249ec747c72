/** Links by which people who forgot their password choose a new one. */
import { env } from "cloudflare:workers";
import { scryptSync } from "node:crypto";
import type { Me } from "@atrium/contract/rest/people.ts";
import { describe, expect, it } from "vitest";
import { passwordLink } from "../../src/features/people/links.ts";
import { hashPassword, verifyPassword } from "../../src/features/people/password.ts";
import { passwordBuckets } from "../../src/features/people/password-buckets.ts";
import { runScheduledTasks } from "../../src/scheduled.ts";
import { account, ORIGIN } from "../support/api.ts";
import {
  addMember,
  DashboardBrowser,
  invite,
  PASSWORD,
  type SignedUp,
  signUp,
  tokenIn,
} from "../support/person.ts";

const NEW_PASSWORD = "another password of the tests";

type Link = { readonly url: string; readonly expires_at: string };

const linkFor = (owner: Pick<SignedUp, "browser" | "organization">, personId: string) =>
  owner.browser.api(owner.organization.id).post<Link>(`/members/${personId}/password-link`);

const pathOf = ({ url }: Link) => `/password-links/${tokenIn(url)}`;

describe("a link for a new password", () => {
  it("names the person, changes the password once, signs in, and ends every other session", async () => {
    const owner = await signUp();
    const member = await invite(owner);
    const { status, data } = await linkFor(owner, member.id);
    expect([status, data.url.startsWith(`${ORIGIN}/dashboard/password-links/`)]).toEqual([201, true]);
    const left = Date.parse(data.expires_at) - Date.now();
    expect(left > passwordLink.lifetimeMs - 60_000 && left <= passwordLink.lifetimeMs).toBe(true);
    const browser = new DashboardBrowser();
    const asBefore = () => member.browser.api(owner.organization.id).get("/rooms");
    expect((await asBefore()).status).toBe(200);
    expect((await browser.get(pathOf(data))).data).toEqual({ name: "Bo", email: member.email });
    const short = await browser.post(pathOf(data), { password: "short" });
    expect([short.status, short.error?.code]).toEqual([400, "VALIDATION_ERROR"]);
    expect((await browser.post(pathOf(data), { password: NEW_PASSWORD })).status).toBe(200);
    // The API first: reading the session for `/me` would correct the memory.
    expect((await asBefore()).status).toBe(401);
    expect((await browser.get<Me>("/me")).data.person.id).toBe(member.id);
    expect((await member.browser.get("/me")).status).toBe(401);
    const again = await browser.post(pathOf(data), { password: PASSWORD });
    expect([again.status, again.error?.code]).toEqual([404, "NOT_FOUND"]);
    const signIn = (password: string) =>
      new DashboardBrowser().post("/sign-in", { email: member.email, password });
    expect((await signIn(PASSWORD)).status).toBe(401);
    expect((await signIn(NEW_PASSWORD)).status).toBe(200);
  });

  it("is stored as a hash only, expires, and ends with a newer one, a changed password or its maker's role", async () => {
    const owner = await signUp();
    const member = await invite(owner);
    const second = await addMember(owner.organization.id, "owner");
    const isOpen = async (link: Link) => (await new DashboardBrowser().get(pathOf(link))).status === 200;
    const first = (await linkFor(owner, member.id)).data;
    const rows = await env.DB.prepare("SELECT * FROM password_links").all();
    expect(JSON.stringify(rows.results)).not.toContain(tokenIn(first.url));
    const newer = (await linkFor(owner, member.id)).data;
    expect([await isOpen(first), await isOpen(newer)]).toEqual([false, true]);
    await member.browser.post("/password", { current: PASSWORD, next: NEW_PASSWORD });
    expect(await isOpen(newer)).toBe(false);
    const theirs = (await linkFor({ ...owner, browser: second.browser }, member.id)).data;
    expect(await isOpen(theirs)).toBe(true);
    await owner.browser.api(owner.organization.id).patch(`/members/${second.id}`, { role: "member" });
    expect(await isOpen(theirs)).toBe(false);
    const last = (await linkFor(owner, member.id)).data;
    await env.DB.prepare("UPDATE password_links SET expires_at = ?").bind(Date.now()).run();
    expect(await isOpen(last)).toBe(false);
    await runScheduledTasks(env, Date.now());
    expect(
      await env.DB.prepare("SELECT 1 FROM password_links WHERE person_id = ?").bind(member.id).first(),
    ).toBe(null);
  });

  it("is made by owners and API keys only, for members of the organization only, and not for oneself", async () => {
    const owner = await signUp();
    const member = await invite(owner);
    const code = async (answer: Promise<{ error: { code: string } | null }>) => (await answer).error?.code;
    expect(await code(linkFor({ ...member, organization: owner.organization }, owner.id))).toBe("FORBIDDEN");
    expect(await code(linkFor(owner, crypto.randomUUID()))).toBe("NOT_FOUND");
    expect(await code(linkFor(owner, owner.id))).toBe("CONFLICT");
    const keyed = await account();
    const { id } = await addMember(keyed.id, "owner");
    const made = await keyed.api.post<Link>(`/members/${id}/password-link`);
    expect((await new DashboardBrowser().get(pathOf(made.data))).status).toBe(200);
  });

  it("is refused, and ends, for a member of an organization that its maker does not own", async () => {
    const [owner, other] = [await signUp(), await signUp()];
    const member = await invite(owner);
    const join = async (role: "member" | "owner", by: SignedUp, who: SignedUp) => {
      const { data } = await by.browser
        .api(by.organization.id)
        .post<{ url: string }>("/invitations", { role });
      await who.browser.post(`/invitations/${tokenIn(data.url)}/accept`);
    };
    const before = (await linkFor(owner, member.id)).data;
    await join("member", other, member);
    expect((await new DashboardBrowser().get(pathOf(before))).status).toBe(404);
    const password = { password: NEW_PASSWORD };
    expect((await new DashboardBrowser().post(pathOf(before), password)).status).toBe(404);
    const refused = await linkFor(owner, member.id);
    expect([refused.status, refused.error?.code]).toEqual([403, "FORBIDDEN"]);
    await join("owner", other, owner);
    const made = await linkFor(owner, member.id);
    expect((await new DashboardBrowser().post(pathOf(made.data), password)).status).toBe(200);
  });
});

describe("a stored password", () => {
  it("records its strength and has its own salt", async () => {
    const [one, other] = [await hashPassword("a good password"), await hashPassword("a good password")];
    expect(one).toMatch(/^\$scrypt\$ln=14,r=8,p=5\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    expect(other).not.toBe(one);
    const [, , , salt = "", hash = ""] = one.split("$");
    const key = scryptSync("a good password", Buffer.from(salt, "base64"), 32, { N: 2 ** 14, r: 8, p: 5 });
    expect(hash).toBe(key.toString("base64").replace("=", ""));
  });

  it("matches the password and nothing else", async () => {
    const stored = await hashPassword("a good password ");
    expect(await verifyPassword("a good password ", stored)).toBe(true);
    for (const wrong of ["a good password", "A good password ", "", stored]) {
      expect(await verifyPassword(wrong, stored), wrong).toBe(false);
    }
  });

  it("is verified at the strength recorded in it", async () => {
    const salt = Buffer.alloc(16, 1);
    const key = scryptSync("a good password", salt, 32, { N: 2 ** 4, r: 2, p: 1 });
    const text = (bytes: Buffer) => bytes.toString("base64").replace(/=+$/, "");
    const stored = `$scrypt$ln=4,r=2,p=1$${text(salt)}$${text(key)}`;
    expect(await verifyPassword("a good password", stored)).toBe(true);
    expect(await verifyPassword("another password", stored)).toBe(false);
  });

  it("matches nothing when it is malformed", async () => {
    for (const stored of [
      "",
      "a good password",
      "$scrypt$ln=14,r=8,p=5$$",
      "$argon2id$v=19$m=1,t=1,p=1$AA$AA",
    ]) {
      expect(await verifyPassword("a good password", stored), stored).toBe(false);
    }
  });
});

/** The waits of checks that all start at `now`, in whole seconds; null for a refused one. */
function waits(
  take: ReturnType<typeof passwordBuckets>,
  clients: readonly string[],
  now = 0,
): (number | null)[] {
  return clients.map((client) => {
    const check = take(client, now, false);
    return check.isRefused ? null : Math.round(check.waitMs / 1000);
  });
}

const times = (count: number, client: string): string[] => Array<string>(count).fill(client);

describe("the checks of passwords", () => {
  it("of one client start at once five times, then wait or are refused", () => {
    const take = passwordBuckets();
    expect(waits(take, times(8, "a"))).toEqual([0, 0, 0, 0, 0, 0, null, null]);
    expect(waits(take, ["b"])).toEqual([0]);
    expect(waits(take, times(2, "a"), 6_000)).toEqual([4, null]);
  });

  it("of many clients start at once twenty times, then one a second", () => {
    const clients = Array.from({ length: 28 }, (_, index) => `network ${index}`);
    const first = Array<number>(20).fill(0);
    expect(waits(passwordBuckets(), clients)).toEqual([...first, 0, 1, 2, 3, 4, null, null, null]);
  });

  it("of browsers that are known have a share that strangers cannot use up", () => {
    const take = passwordBuckets();
    const strangers = Array.from({ length: 28 }, (_, index) => `network ${index}`);
    expect(waits(take, strangers).at(-1)).toBeNull();
    const known = Array.from({ length: 3 }, (_, index) => take(`browser ${index}`, 0, true));
    expect(known).toMatchObject([{ waitMs: 0 }, { waitMs: 0 }, { waitMs: 0 }]);
  });

  it("cost nothing when the password is right", () => {
    const take = passwordBuckets();
    for (let count = 0; count < 100; count += 1) {
      const check = take("a", 0, false);
      expect(check).toMatchObject({ waitMs: 0, isRefused: false });
      check.refund(0);
    }
  });
});
