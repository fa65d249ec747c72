/** `AtriumServer.organization`: the organization itself, its API keys, tokens, members, invitations, quotas, metrics and audit log. */
import type { Rest } from "../core/rest.ts";
import type {
  ApiKey,
  AuditEntry,
  Invitation,
  Member,
  OrganizationRecord,
  Overview,
  Quota,
  Usage,
} from "../wire/resources.ts";
import type { AuditFilter } from "./audit-filter.ts";
import {
  eachOf,
  type Filter,
  type KeySearch,
  type MemberSearch,
  type Scroll,
  type ScrollShown,
} from "./pages.ts";

export class Organization {
  readonly #rest: Rest;

  constructor(rest: Rest) {
    this.#rest = rest;
  }

  /** The organization itself. */
  async get(): Promise<OrganizationRecord> {
    const { organization } = await this.#rest.request<{ organization: OrganizationRecord }>({
      ...{ method: "GET", path: ["organization"] },
    });
    return organization;
  }

  async rename(name: string): Promise<OrganizationRecord> {
    const { organization } = await this.#rest.request<{ organization: OrganizationRecord }>({
      ...{ method: "PATCH", path: ["organization"], body: { name } },
    });
    return organization;
  }

  /**
   * Deletes the organization and everything that it owns, for good; `confirm` is its name. This API key ends at once,
   * and what the organization owns is removed in the background.
   */
  async delete(confirm: string): Promise<void> {
    await this.#rest.request({ method: "DELETE", path: ["organization"], body: { confirm } });
  }

  /** Current totals, and what happened in each of the last 24 hours. */
  overview(): Promise<Overview> {
    return this.#rest.request({ method: "GET", path: ["overview"] });
  }

  /** Events and workflow runs of the last hour, 24 hours (the default), 7 days or 30 days, point by point. */
  async usage(range?: Usage["range"]): Promise<Usage> {
    const request = { method: "GET", path: ["usage"], query: { range } } as const;
    return (await this.#rest.request<{ usage: Usage }>(request)).usage;
  }

  /** How much of each quota is used, and its limit. Requests beyond one throw `FORBIDDEN`. */
  listQuotas(): Promise<{ readonly quotas: Quota[] }> {
    return this.#rest.request({ method: "GET", path: ["quotas"] });
  }

  /** Who changed what, newest first. For owners and API keys. */
  listAuditEntries(
    filter: AuditFilter = {},
  ): Promise<{ readonly entries: AuditEntry[]; readonly cursor: string | null }> {
    return this.#rest.request({ method: "GET", path: ["audit"], query: { ...filter } });
  }

  /** Newest first, or in the order of `sort`. */
  listKeys(page: KeySearch = {}): Promise<{ readonly api_keys: ApiKey[] } & ScrollShown> {
    return this.#rest.request({ method: "GET", path: ["api-keys"], query: { ...page } });
  }

  /** All of them, 100 at a time. */
  eachKey(search: Filter<KeySearch> = {}): AsyncGenerator<ApiKey, void, void> {
    return eachOf(async (part) => {
      const { api_keys, cursor } = await this.listKeys({ ...search, ...part });
      return { items: api_keys, cursor };
    });
  }

  /** Creates an API key. Store the `key`: it is shown only once. */
  createKey(name?: string): Promise<{ readonly api_key: ApiKey; readonly key: string }> {
    const body = name === undefined ? {} : { name };
    return this.#rest.request({ method: "POST", path: ["api-keys"], body });
  }

  /** Revokes a key. It stops working everywhere within 10 seconds. */
  async revokeKey(keyId: string): Promise<void> {
    await this.#rest.request({ method: "DELETE", path: ["api-keys", keyId] });
  }

  /** Ends the tokens of all users, for example after a leak, and disconnects them. Each user's `token` is a new one then. */
  async endAllTokens(): Promise<void> {
    await this.#rest.request({ method: "DELETE", path: ["tokens"] });
  }

  /** The most recent first, or in the order of `sort`. */
  listMembers(page: MemberSearch = {}): Promise<{ readonly members: Member[] } & ScrollShown> {
    return this.#rest.request({ method: "GET", path: ["members"], query: { ...page } });
  }

  /** All of them, 100 at a time: `for await (const member of atrium.organization.eachMember())`. */
  eachMember(search: Filter<MemberSearch> = {}): AsyncGenerator<Member, void, void> {
    return eachOf(async (part) => {
      const { members, cursor } = await this.listMembers({ ...search, ...part });
      return { items: members, cursor };
    });
  }

  /** Removes a person from the organization. Throws `CONFLICT` for the last owner. */
  async removeMember(personId: string): Promise<void> {
    await this.#rest.request({ method: "DELETE", path: ["members", personId] });
  }

  /** Makes a member an owner, or an owner a member. Throws `CONFLICT` for the last owner. */
  async setRole(personId: string, role: Member["role"]): Promise<Member> {
    const path = ["members", personId];
    return (await this.#rest.request<{ member: Member }>({ method: "PATCH", path, body: { role } })).member;
  }

  /**
   * Makes a link by which a member who forgot their password chooses a new one, once and within an hour. Send its `url`
   * to the person: it is shown only once. Throws `FORBIDDEN` for a member of organizations that you do not own.
   */
  createPasswordLink(personId: string): Promise<{ readonly url: string; readonly expires_at: string }> {
    return this.#rest.request({ method: "POST", path: ["members", personId, "password-link"] });
  }

  /** The invitations that can still be accepted. */
  listInvitations(page: Scroll = {}): Promise<{ readonly invitations: Invitation[] } & ScrollShown> {
    return this.#rest.request({ method: "GET", path: ["invitations"], query: { ...page } });
  }

  /** All of them, 100 at a time. */
  eachInvitation(): AsyncGenerator<Invitation, void, void> {
    return eachOf(async (part) => {
      const { invitations, cursor } = await this.listInvitations(part);
      return { items: invitations, cursor };
    });
  }

  /**
   * Creates an invitation, for the person with this address or for anyone who has its link. Unless it was `mailed`, send
   * its `url` to the person: it is shown only once.
   */
  invite(
    role: Member["role"] = "member",
    email: string | null = null,
  ): Promise<{ readonly invitation: Invitation; readonly url: string; readonly mailed: boolean }> {
    return this.#rest.request({ method: "POST", path: ["invitations"], body: { role, email } });
  }

  /** Withdraws an invitation. Its link stops working. */
  async withdrawInvitation(invitationId: string): Promise<void> {
    await this.#rest.request({ method: "DELETE", path: ["invitations", invitationId] });
  }
}
