/** People who use the dashboard, and the browsers that send their requests. */
import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { createHmac } from "node:crypto";
import type { Me, OwnOrganization } from "@atrium/contract/rest/people.ts";
import { app } from "../../src/app.ts";
import { type MemberRole, memberships } from "../../src/features/members/table.ts";
import { cookieSecretOf, tokenHashOf } from "../../src/features/people/cookies.ts";
import { people, signInSessions } from "../../src/features/people/table.ts";
import { SESSION_COOKIE } from "../../src/http/security.ts";
import { jwtSecrets } from "../../src/platform/config.ts";
import { build, openDatabase, statement } from "../../src/platform/d1/d1.ts";
import { type Answer, Api, freshAddress, ORIGIN } from "./api.ts";

export const PASSWORD = "a password of the tests";

/** A browser with its cookie. By default it sends requests as the dashboard's own page does. */
export class DashboardBrowser {
  readonly address = freshAddress();
  /** `name=value`; empty without one. */
  cookie = "";
  /** `name=value` of the cookie of a known browser; empty without one. */
  known = "";
  /** The latest `Set-Cookie` of {@link cookie}, whole. */
  setCookie: string | null = null;

  async raw(method: string, path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers({ Origin: ORIGIN, "Sec-Fetch-Site": "same-origin", Cookie: this.#cookies });
    for (const [name, value] of new Headers(init.headers)) headers.set(name, value);
    headers.set("CF-Connecting-IP", this.address);
    if (headers.get("Cookie") === "") headers.delete("Cookie");
    const response = await exports.default.fetch(new Request(ORIGIN + path, { ...init, method, headers }));
    for (const setCookie of response.headers.getSetCookie()) this.#keep(setCookie);
    return response;
  }

  get #cookies(): string {
    return [this.cookie, this.known].filter((cookie) => cookie !== "").join("; ");
  }

  async send<Data = Record<string, unknown>>(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer<Data>> {
    const init = body === undefined ? {} : { body: JSON.stringify(body) };
    const type = body === undefined ? {} : { "Content-Type": "application/json" };
    const response = await this.raw(method, `/dashboard/api${path}`, {
      ...init,
      headers: { ...type, ...headers },
    });
    const envelope = await response.json<Omit<Answer<Data>, "status" | "headers">>();
    return { ...envelope, status: response.status, headers: response.headers };
  }

  get = <Data = Record<string, unknown>>(path: string) => this.send<Data>("GET", path);
  post = <Data = Record<string, unknown>>(path: string, body?: unknown) =>
    this.send<Data>("POST", path, body);

  #keep(setCookie: string): void {
    const [pair = "", ...attributes] = setCookie.split("; ");
    if (!pair.startsWith(`${SESSION_COOKIE}=`)) {
      this.known = pair;
      return;
    }
    this.setCookie = setCookie;
    this.cookie = attributes.includes("Max-Age=0") ? "" : pair;
  }

  /** The API of an organization, called with this browser's cookie as the dashboard's page does. */
  api(accountId: string, headers: Record<string, string> = {}): Api {
    return new Api(accountId, null, {
      Origin: ORIGIN,
      "Sec-Fetch-Site": "same-origin",
      ...headers,
      Cookie: this.cookie,
    });
  }
}

/** A request as the dashboard's page sends it, from an address of its own. */
export const pageRequest = (
  method: string,
  path: string,
  body?: object,
  headers: Readonly<Record<string, string>> = {},
): Request =>
  new Request(ORIGIN + path, {
    method,
    headers: {
      Origin: ORIGIN,
      "Sec-Fetch-Site": "same-origin",
      "CF-Connecting-IP": freshAddress(),
      "Content-Type": "application/json",
      ...headers,
    },
    ...(body && { body: JSON.stringify(body) }),
  });

/** The answer of a deployment with these bindings and settings, once nothing of its work goes on. */
export async function answerOf<Data = Record<string, unknown>>(
  bindings: object,
  request: Request,
): Promise<Answer<Data>> {
  const execution = createExecutionContext();
  const response = await app.fetch(request, { ...env, ...bindings }, execution);
  await waitOnExecutionContext(execution);
  const envelope = await response.json<Omit<Answer<Data>, "status" | "headers">>();
  return { ...envelope, status: response.status, headers: response.headers };
}

/** An email address that no one uses yet. */
export const freshEmail = (): string => `ada-${crypto.randomUUID()}@example.com`;

export interface SignedUp {
  readonly browser: DashboardBrowser;
  readonly id: string;
  readonly email: string;
  readonly organization: OwnOrganization;
  /** The API of the organization, as this person's page calls it. */
  readonly api: Api;
}

/** A new person, signed in, with their own organization or the one that they are invited to. */
export async function signUp(
  input: { readonly invitation?: string; readonly name?: string; readonly organization?: string } = {},
): Promise<SignedUp> {
  const browser = new DashboardBrowser();
  const email = freshEmail();
  const body = { name: "Ada", email, password: PASSWORD, ...input };
  const answer = await browser.post<Me>("/sign-up", body);
  if (answer.status !== 201) throw new Error(`${answer.status}: ${answer.error?.message}`);
  const [organization] = answer.data.organizations;
  if (organization === undefined || !browser.cookie.startsWith(`${SESSION_COOKIE}=`))
    throw new Error("Not signed in");
  return {
    ...{ browser, id: answer.data.person.id, email, organization },
    get api() {
      return browser.api(organization.id);
    },
  };
}

/** Another member of the owner's organization. */
export async function invite(owner: SignedUp, role: "owner" | "member" = "member"): Promise<SignedUp> {
  const { data } = await owner.api.post<{ url: string }>("/invitations", { role });
  return signUp({ name: "Bo", invitation: tokenIn(data.url) });
}

/** A cookie with the service's signature. */
export function cookieOf(token: string, secret = cookieSecretOf(jwtSecrets(env)[0])): string {
  const signature = createHmac("sha256", secret).update(token).digest("base64");
  return `${SESSION_COOKIE}=${encodeURIComponent(`${token}.${signature}`)}`;
}

/** A member with a sign-in session, written to the database directly, which saves hashing a password. */
export async function addMember(
  accountId: string,
  role: MemberRole = "owner",
  { expiresAt = Date.now() + 3_600_000 }: { readonly expiresAt?: number } = {},
): Promise<{ readonly id: string; readonly browser: DashboardBrowser }> {
  const [id, token, now] = [crypto.randomUUID(), crypto.randomUUID(), Date.now()];
  const times = { createdAt: now, updatedAt: now };
  const session = {
    id: crypto.randomUUID(),
    tokenHash: tokenHashOf(token),
    personId: id,
    expiresAt,
    ...times,
  };
  await openDatabase(env.DB).run([
    statement(build.insert(people).values({ id, name: "Cleo", email: freshEmail(), ...times })),
    statement(build.insert(memberships).values({ accountId, personId: id, role, joinedAt: now })),
    statement(build.insert(signInSessions).values(session)),
  ]);
  const browser = new DashboardBrowser();
  browser.cookie = cookieOf(token);
  return { id, browser };
}

/** The token in an invitation link. */
export const tokenIn = (url: string): string => url.split("/").at(-1) ?? "";
