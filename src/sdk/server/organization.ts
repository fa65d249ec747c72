/** `AtriumServer.organization`: the organization, its keys, tokens, members, invitations, quotas, metrics and audit log. */
import type { RoomAccessInput } from "../wire/requests.ts";
import type * as wire from "../wire/resources.ts";
import {
  eachOf,
  type Filter,
  type KeySearch,
  type Listed,
  type MemberSearch,
  Resource,
  type Scroll,
  type ScrollShown,
} from "./pages.ts";

/** Filters the audit log; without a filter, all kept entries. */
export interface AuditFilter {
  /** At most 100; 50 by default. */
  readonly limit?: number | undefined;
  /** The `cursor` of an earlier page: only later entries. */
  readonly after?: string | undefined;
  /** The earliest time: RFC 3339, or a date for the start of that UTC day. */
  readonly from?: string | undefined;
  /** The latest time: RFC 3339, or a date for the end of that UTC day. */
  readonly to?: string | undefined;
  /** Only changes by this person or API key. */
  readonly actorId?: string | undefined;
  /** Only changes by this operation of the API, such as `deleteRoom`. */
  readonly operation?: string | undefined;
  readonly resource?: wire.AuditEntry["resource"]["type"] | undefined;
  readonly resourceId?: string | undefined;
}

export class Organization extends Resource {
  /** The organization itself. */
  get(): Promise<wire.OrganizationRecord> {
    return this.only("organization", this.rest.get(["organization"]));
  }

  rename(name: string): Promise<wire.OrganizationRecord> {
    return this.only("organization", this.rest.patch(["organization"], { name }));
  }

  /** Deletes the organization and everything that it owns, for good; `confirm` is its name. This API key ends at once. */
  delete(confirm: string): Promise<void> {
    return this.rest.delete(["organization"], { body: { confirm } });
  }

  /** Current totals, and the events of each of the last 24 hours. */
  overview(): Promise<wire.Overview> {
    return this.rest.get(["overview"]);
  }

  /** Events and workflow runs of the last hour, 24 hours (the default), 7 days or 30 days, point by point. */
  usage(range?: wire.Usage["range"]): Promise<wire.Usage> {
    return this.only("usage", this.rest.get(["usage"], { range }));
  }

  /** The use of each quota, and its limit. Requests above a quota throw `FORBIDDEN`. */
  listQuotas(): Promise<{ readonly quotas: wire.Quota[] }> {
    return this.rest.get(["quotas"]);
  }

  /** The default access of new rooms. */
  getDefaultAccess(): Promise<wire.Permission[]> {
    return this.only("default_accesses", this.rest.get(["access", "default"]));
  }

  /** Sets it; an empty array closes new rooms for identities. The rooms that there are keep theirs. For owners and API keys. */
  setDefaultAccess(
    defaultAccesses: NonNullable<RoomAccessInput["defaultAccesses"]>,
  ): Promise<wire.Permission[]> {
    return this.only("default_accesses", this.rest.put(["access", "default"], { defaultAccesses }));
  }

  /** The audit log: changes with their actors, newest first. For owners and API keys. */
  listAuditEntries(
    filter: AuditFilter = {},
  ): Promise<Listed<"entries", wire.AuditEntry, Pick<ScrollShown, "cursor">>> {
    return this.rest.get(["audit"], filter);
  }

  /** Newest first, or in the order of `sort`. */
  listKeys(page: KeySearch = {}): Promise<Listed<"api_keys", wire.ApiKey>> {
    return this.rest.get(["api-keys"], page);
  }

  /** All of them, 100 at a time. */
  eachKey(search: Filter<KeySearch> = {}): AsyncGenerator<wire.ApiKey, void, void> {
    return eachOf("api_keys", (part) => this.listKeys({ ...search, ...part }));
  }

  /** Creates an API key. Store the `key`: it is shown only once. */
  createKey(name?: string): Promise<{ readonly api_key: wire.ApiKey; readonly key: string }> {
    return this.rest.post(["api-keys"], name === undefined ? {} : { name });
  }

  /** Revokes a key. It stops working everywhere within 10 seconds. */
  revokeKey(keyId: string): Promise<void> {
    return this.rest.delete(["api-keys", keyId]);
  }

  /** Ends the tokens of all users, for example after a leak, and disconnects them. Each user gets a new `token`. */
  endAllTokens(): Promise<void> {
    return this.rest.delete(["tokens"]);
  }

  /** The most recent first, or in the order of `sort`. */
  listMembers(page: MemberSearch = {}): Promise<Listed<"members", wire.Member>> {
    return this.rest.get(["members"], page);
  }

  /** All of them, 100 at a time: `for await (const member of atrium.organization.eachMember())`. */
  eachMember(search: Filter<MemberSearch> = {}): AsyncGenerator<wire.Member, void, void> {
    return eachOf("members", (part) => this.listMembers({ ...search, ...part }));
  }

  /** Removes a person from the organization. Throws `CONFLICT` for the last owner. */
  removeMember(personId: string): Promise<void> {
    return this.rest.delete(["members", personId]);
  }

  /** Makes a member an owner, or an owner a member. Throws `CONFLICT` for the last owner. */
  setRole(personId: string, role: wire.Member["role"]): Promise<wire.Member> {
    return this.only("member", this.rest.patch(["members", personId], { role }));
  }

  /** Makes a link to a new password, for an hour; `url` is shown once. `FORBIDDEN` for members of others' organizations. */
  createPasswordLink(personId: string): Promise<{ readonly url: string; readonly expires_at: string }> {
    return this.rest.post(["members", personId, "password-link"]);
  }

  /** The invitations that can still be accepted. */
  listInvitations(page: Scroll = {}): Promise<Listed<"invitations", wire.Invitation>> {
    return this.rest.get(["invitations"], page);
  }

  /** All of them, 100 at a time. */
  eachInvitation(): AsyncGenerator<wire.Invitation, void, void> {
    return eachOf("invitations", (part) => this.listInvitations(part));
  }

  /** Invites the person with this address, or anyone with the link. Unless it was `mailed`, send `url`: it is shown once. */
  invite(
    role: wire.Member["role"] = "member",
    email: string | null = null,
  ): Promise<{ readonly invitation: wire.Invitation; readonly url: string; readonly mailed: boolean }> {
    return this.rest.post(["invitations"], { role, email });
  }

  /** Withdraws an invitation. Its link stops working. */
  withdrawInvitation(invitationId: string): Promise<void> {
    return this.rest.delete(["invitations", invitationId]);
  }
}
