/** The addresses of the pages of an organization. */
import { useCallback, useContext } from "react";
import { CurrentContext, useCurrent } from "./organization.tsx";

/** Returns a function that prefixes paths such as `/rooms` with the organization. */
export function useAddress(): (path: string) => string {
  const { id } = useCurrent().organization;
  return useCallback((path) => `/${id}${path}`, [id]);
}

/** The same; null outside of an organization, such as on the pages for signing in. */
export function useOrganizationAddress(): ((path: string) => string) | null {
  const current = useContext(CurrentContext);
  return current === null ? null : (path) => `/${current.organization.id}${path}`;
}
