/** The organization itself, for back ends: its keys, the people who look after it, and how it fares. */

import type { Rest } from "../core/rest.ts";
import type { Page, PageShown } from "./responses.ts";

/** An API key but for the key itself. */
export interface ApiKey {
  readonly id: string;
  readonly account_id: string;
  readonly name: string;
  /** How the key begins, and its last four characters. */
  readonly prefix: string;
  readonly last_four: string;
  readonly created_at: string;
  /** To the minute; null before the first use. */
  readonly last_used_at: string | null;
}

/** A person who may do everything in the organization; an owner may also say who else may. */
export interface Member {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly role: "owner" | "member";
  readonly joined_at: string;
}

/** A link that makes whoever opens it a member, once. */
export interface Invitation {
  readonly id: string;
  readonly role: Member["role"];
  readonly created_at: string;
  readonly expires_at: string;
}

/** What happened in the hour that begins `at`. */
export interface Hour {
  readonly at: string;
  readonly events: number;
  readonly runs: number;
  readonly failed_runs: number;
}

/** The organization at a glance. */
export interface Overview {
  readonly rooms_total: number;
  readonly rooms_online: number;
  readonly participants_online: number;
  readonly users_total: number;
  readonly events_last_day: number;
  readonly runs_last_day: number;
  readonly failed_runs_last_day: number;
  /** The last 24, the current one last. */
  readonly hours: Hour[];
}

export class Organization {
  readonly #rest: Rest;

  constructor(rest: Rest) {
    this.#rest = rest;
  }

  overview(): Promise<Overview> {
    return this.#rest.ask({ method: "GET", path: ["overview"] });
  }

  /** Newest first. */
  listKeys(page: Page = {}): Promise<{ readonly api_keys: ApiKey[] } & PageShown> {
    return this.#rest.ask({ method: "GET", path: ["api-keys"], query: { ...page } });
  }

  /** Keep the `key`: nothing shows it again. */
  createKey(name?: string): Promise<{ readonly api_key: ApiKey; readonly key: string }> {
    return this.#rest.ask({ method: "POST", path: ["api-keys"], body: name === undefined ? {} : { name } });
  }

  /** It is refused everywhere within 30 seconds. */
  async revokeKey(keyId: string): Promise<void> {
    await this.#rest.ask({ method: "DELETE", path: ["api-keys", keyId] });
  }

  listMembers(page: Page = {}): Promise<{ readonly members: Member[] } & PageShown> {
    return this.#rest.ask({ method: "GET", path: ["members"], query: { ...page } });
  }

  /** `CONFLICT` for the last owner. */
  async removeMember(personId: string): Promise<void> {
    await this.#rest.ask({ method: "DELETE", path: ["members", personId] });
  }

  /** Those that are open still. */
  listInvitations(page: Page = {}): Promise<{ readonly invitations: Invitation[] } & PageShown> {
    return this.#rest.ask({ method: "GET", path: ["invitations"], query: { ...page } });
  }

  /** Hand on the `url`: nothing shows it again. */
  invite(
    role: Member["role"] = "member",
  ): Promise<{ readonly invitation: Invitation; readonly url: string }> {
    return this.#rest.ask({ method: "POST", path: ["invitations"], body: { role } });
  }

  /** Its link opens nothing from then on. */
  async withdrawInvitation(invitationId: string): Promise<void> {
    await this.#rest.ask({ method: "DELETE", path: ["invitations", invitationId] });
  }
}
