/** People at the dashboard, as their browsers speak for them. */
import { exports } from "cloudflare:workers";
import type { Me, OwnOrganization } from "../../src/people/schema.ts";
import { COOKIE_NAME } from "../../src/people/session-cookie.ts";
import { type Answer, Api, freshAddress, ORIGIN } from "./api.ts";

export const PASSWORD = "a password of the tests";

/** A browser with its cookie. It says of what it sends that one of our own pages does, unless told otherwise. */
export class Browser {
  readonly address = freshAddress();
  /** `name=value`; empty without one. */
  cookie = "";
  /** The latest `Set-Cookie`, whole. */
  setCookie: string | null = null;

  async raw(method: string, path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers({ Origin: ORIGIN, "Sec-Fetch-Site": "same-origin", Cookie: this.cookie });
    for (const [name, value] of new Headers(init.headers)) headers.set(name, value);
    headers.set("CF-Connecting-IP", this.address);
    if (headers.get("Cookie") === "") headers.delete("Cookie");
    const response = await exports.default.fetch(new Request(ORIGIN + path, { ...init, method, headers }));
    this.#keep(response.headers.get("Set-Cookie"));
    return response;
  }

  async send<Data = Record<string, unknown>>(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer<Data>> {
    const init = body === undefined ? {} : { body: JSON.stringify(body) };
    const type = body === undefined ? {} : { "Content-Type": "application/json" };
    const response = await this.raw(method, `/dashboard/api${path}`, { ...init, headers: { ...type, ...headers } });
    const envelope = await response.json<Omit<Answer<Data>, "status" | "headers">>();
    return { ...envelope, status: response.status, headers: response.headers };
  }

  get = <Data = Record<string, unknown>>(path: string) => this.send<Data>("GET", path);
  post = <Data = Record<string, unknown>>(path: string, body?: unknown) => this.send<Data>("POST", path, body);

  #keep(setCookie: string | null): void {
    if (setCookie === null) return;
    this.setCookie = setCookie;
    const [pair = "", ...attributes] = setCookie.split("; ");
    this.cookie = attributes.includes("Max-Age=0") ? "" : pair;
  }

  /** The API of an organization, asked with this browser's cookie as one of our own pages asks it. */
  api(accountId: string, headers: Record<string, string> = {}): Api {
    return new Api(accountId, null, {
      Origin: ORIGIN,
      "Sec-Fetch-Site": "same-origin",
      ...headers,
      Cookie: this.cookie,
    });
  }
}

let people = 0;
export const freshEmail = (): string => {
  people += 1;
  return `person-${people}-${crypto.randomUUID()}@example.com`;
};

export interface SignedUp {
  readonly browser: Browser;
  readonly id: string;
  readonly email: string;
  readonly organization: OwnOrganization;
}

/** A new person, signed in, with an organization of its own or the one that it is invited to. */
export async function signUp(
  input: { readonly invitation?: string; readonly name?: string; readonly organization?: string } = {},
): Promise<SignedUp> {
  const browser = new Browser();
  const email = freshEmail();
  const body = { name: "Ada", email, password: PASSWORD, ...input };
  const answer = await browser.post<Me>("/sign-up", body);
  if (answer.status !== 201) throw new Error(`${answer.status}: ${answer.error?.message}`);
  const [organization] = answer.data.organizations;
  if (organization === undefined || !browser.cookie.startsWith(`${COOKIE_NAME}=`)) throw new Error("Not signed in");
  return { browser, id: answer.data.person.id, email, organization };
}

/** Another member of somebody's organization. */
export async function invite(owner: SignedUp, role: "owner" | "member" = "member"): Promise<SignedUp> {
  const api = owner.browser.api(owner.organization.id);
  const { data } = await api.post<{ url: string }>("/invitations", { role });
  return signUp({ name: "Bo", invitation: tokenIn(data.url) });
}

/** The token in an invitation's link. */
export const tokenIn = (url: string): string => url.split("/").at(-1) ?? "";
