/** The one service that all test files share which neither stop it nor look at its files: each gets its own organization. */
import { inject } from "vitest";
import { askFor } from "./made-once.ts";
import { createOrganization } from "./owner.ts";
import type { Organization, Service } from "./service.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Where to ask for the running service. */
    sharedServiceUrl: string;
    /** Where to ask for the path of {@link preparedState}. */
    preparedStateUrl: string;
  }
}

/** Where the shared service listens, and an organization that no other test file uses. */
export interface SharedService extends Organization, Address {}

type Address = Pick<Service, "url" | "port" | "pid" | "persistTo">;

/** Shared by the tests: the service, and the cookie of the owner of all their organizations. */
interface Shared extends Address {
  readonly cookie: string;
}

/** The shared service, with a new organization on it. */
export async function sharedService(): Promise<SharedService> {
  const { url, port, pid, persistTo, cookie } = await askFor<Shared>(inject("sharedServiceUrl"));
  return { url, port, pid, persistTo, ...(await createOrganization(url, cookie)) };
}

/** The state folder of a service that was started once and stopped, to be copied. */
export const preparedState = (): Promise<string> => preparedStateAt(inject("preparedStateUrl"));

export const preparedStateAt = (url: string): Promise<string> => askFor<string>(url);
