/** The organization through the SDK: its API keys, members, invitations and overview. */
import { beforeAll, describe, expect, it } from "vitest";
import { AtriumError, AtriumServer } from "../../src/sdk/server/index.ts";
import { signUpOrganization } from "../cli/owner.ts";
import { type SharedService, useSharedService } from "../cli/shared-service.ts";

let service: SharedService;
let atrium: AtriumServer;

beforeAll(async () => {
  service = await useSharedService();
  const { url: serverUrl, accountId, apiKey } = service;
  atrium = new AtriumServer({ serverUrl, accountId, apiKey });
});

describe("API keys", () => {
  it("are created, listed without their secrets, and revoked", async () => {
    const { api_key, key } = await atrium.organization.createKey("Back end");
    const { serverUrl, accountId } = { serverUrl: service.url, accountId: service.accountId };
    const other = new AtriumServer({ serverUrl, accountId, apiKey: key });
    expect((await other.organization.listKeys()).total).toBe(2);
    const { api_keys } = await atrium.organization.listKeys();
    expect(api_keys[0]).toMatchObject({ id: api_key.id, name: "Back end", last_four: key.slice(-4) });
    expect(JSON.stringify(api_keys)).not.toContain(key);
    await atrium.organization.revokeKey(api_key.id);
    expect((await atrium.organization.listKeys()).api_keys.map(({ id }) => id)).not.toContain(api_key.id);
  });
});

describe("members", () => {
  it("are listed and invited by a link, which can be withdrawn", async () => {
    const { members } = await atrium.organization.listMembers();
    expect(members.map(({ role }) => role)).toEqual(["owner"]);
    const { invitation, url } = await atrium.organization.invite("member");
    expect(url.startsWith(`${service.url}/dashboard/invitations/`)).toBe(true);
    const { invitations } = await atrium.organization.listInvitations();
    expect(invitations).toEqual([invitation]);
    await atrium.organization.withdrawInvitation(invitation.id);
    expect((await atrium.organization.listInvitations()).total).toBe(0);
  });

  it("keep a last owner, and get links for a new password", async () => {
    const { members } = await atrium.organization.listMembers();
    const id = members[0]?.id ?? "";
    await expect(atrium.organization.setRole(id, "member")).rejects.toMatchObject({ code: "CONFLICT" });
    expect((await atrium.organization.setRole(id, "owner")).role).toBe("owner");
    // The organizations of all test files belong to one owner, whom none of them may lock out of the others.
    await expect(atrium.organization.createPasswordLink(id)).rejects.toMatchObject({ code: "FORBIDDEN" });
    const { accountId, apiKey } = await signUpOrganization(service.url);
    const { organization } = new AtriumServer({ serverUrl: service.url, accountId, apiKey });
    const [owner] = (await organization.listMembers()).members;
    const { url } = await organization.createPasswordLink(owner?.id ?? "");
    expect(url.startsWith(`${service.url}/dashboard/password-links/`)).toBe(true);
  });

  it("include at least one owner: the last one cannot be removed", async () => {
    const { members } = await atrium.organization.listMembers();
    const removal = atrium.organization.removeMember(members[0]?.id ?? "");
    await expect(removal).rejects.toMatchObject({ code: "CONFLICT" });
  });
});

it("the organization is renamed, and deleted only by its name", async () => {
  const before = await atrium.organization.get();
  expect(before.id).toBe(service.accountId);
  expect((await atrium.organization.rename("Renamed")).name).toBe("Renamed");
  await atrium.organization.rename(before.name);
  const deletion = atrium.organization.delete("Renamed");
  await expect(deletion).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
});

it("the overview counts rooms and users, and covers 24 hours", async () => {
  const room = await atrium.rooms.create({ name: "Board" });
  await atrium.users.create({ roomId: room.id, name: "Ada" });
  const overview = await atrium.organization.overview();
  expect(overview).toMatchObject({ rooms_total: 1, rooms_online: 0, users_total: 1, participants_online: 0 });
  expect(overview.hours).toHaveLength(24);
});

it("a client without an API key is unauthorized outside a browser", async () => {
  const { url: serverUrl, accountId } = service;
  const listing = new AtriumServer({ serverUrl, accountId, apiKey: null }).rooms.list();
  await expect(listing).rejects.toBeInstanceOf(AtriumError);
  await expect(listing).rejects.toMatchObject({ code: "UNAUTHORIZED" });
});
