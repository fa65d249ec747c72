/** The one service that all test files share which neither stop it nor look at its files: each gets its own organization. */
import { inject } from "vitest";
import { askFor } from "./made-once.ts";
import { bearerOf, type Organization, type Service } from "./service.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Where to ask for the running service. */
    sharedServiceUrl: string;
  }
}

/** Where the shared service listens, and an organization that no other test file uses. */
export interface SharedService extends Organization, Address {}

type Address = Pick<Service, "url" | "port">;

/** The shared service, with a new organization on it. */
export async function useSharedService(): Promise<SharedService> {
  const { url, port } = await askFor<Address>(inject("sharedServiceUrl"));
  return { url, port, ...(await signUp(url)) };
}

/** Makes a person with an organization and its first API key, as the dashboard does. */
async function signUp(url: string): Promise<Organization> {
  const id = crypto.randomUUID();
  const person = { name: "Owner", email: `${id}@example.com`, password: id, organization: "Tested" };
  const { data, cookie } = await post<{ organizations: { id: string }[] }>(
    url,
    "/dashboard/api/sign-up",
    person,
  );
  const accountId = data.organizations[0]?.id ?? "";
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
