/** What the owner of a service does in the dashboard: signs in, and creates organizations. */
import { bearerOf, type Organization, type Service } from "./service.ts";

/** Signs in the person whom `npm start` has created. Signing up for each test file would cost more, and is limited. */
export async function signInOwner({ url, signIn }: Pick<Service, "url" | "signIn">): Promise<string> {
  return (await post(url, "/dashboard/api/sign-in", signIn)).cookie;
}

/** Makes an organization with its first API key, as the dashboard does. */
export async function createOrganization(url: string, cookie: string): Promise<Organization> {
  type Created = { readonly organization: { readonly id: string } };
  const { data } = await post<Created>(url, "/dashboard/api/organizations", { name: "Tested" }, cookie);
  const accountId = data.organization.id;
  const made = await post<{ key: string }>(
    url,
    `/v1/accounts/${accountId}/api-keys`,
    { name: "Tests" },
    cookie,
  );
  return { accountId, apiKey: made.data.key, bearer: bearerOf(accountId, made.data.key) };
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
