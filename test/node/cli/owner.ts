/** Acts as the owner of a service in the dashboard: signs in, and creates organizations. */
import { bearerOf, type Organization, type Service } from "./service.ts";

/** Signs in the person whom `npm start` has created. Signing up for each test file would cost more, and is limited. */
export async function signInOwner({ url, signIn }: Pick<Service, "url" | "signIn">): Promise<string> {
  return (await post(url, "/dashboard/api/sign-in", signIn)).cookie;
}

type Created = { readonly id: string };

/** Makes an organization with its first API key, as the dashboard does. */
export async function createOrganization(url: string, cookie: string): Promise<Organization> {
  type Answer = { readonly organization: Created };
  const { data } = await post<Answer>(url, "/dashboard/api/organizations", { name: "Tested" }, cookie);
  return withKey(url, data.organization.id, cookie);
}

/** The only organization of a new person, with its first API key. */
export async function signUpOrganization(url: string): Promise<Organization> {
  const person = {
    name: "Ada",
    email: `${crypto.randomUUID()}@example.com`,
    password: "correct horse battery",
  };
  type Answer = { readonly organizations: readonly [Created] };
  const { data, cookie } = await post<Answer>(url, "/dashboard/api/sign-up", person);
  return withKey(url, data.organizations[0].id, cookie);
}

async function withKey(url: string, accountId: string, cookie: string): Promise<Organization> {
  const path = `/v1/accounts/${accountId}/api-keys`;
  const { data } = await post<{ key: string }>(url, path, { name: "Tests" }, cookie);
  return { accountId, apiKey: data.key, bearer: bearerOf(accountId, data.key) };
}

async function post<Data>(
  url: string,
  path: string,
  body: object,
  cookie = "",
): Promise<{ readonly data: Data; readonly cookie: string }> {
  const response = await fetch(url + path, {
    method: "POST",
    headers: { Origin: url, Cookie: cookie, "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  const { data, error } = (await response.json()) as { data: Data; error: { message: string } | null };
  if (error !== null) throw new Error(`POST ${path}: ${error.message}`);
  return { data, cookie: response.headers.getSetCookie()[0]?.split(";")[0] ?? "" };
}
