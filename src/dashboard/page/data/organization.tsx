/** The current organization and an SDK instance for it. */
import { AtriumServer } from "atrium/server";
import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo } from "react";
import type { Me, OwnOrganization } from "../../../people/schema.ts";

export interface Current {
  readonly me: Me;
  readonly organization: OwnOrganization;
  readonly atrium: AtriumServer;
}

const CurrentContext = createContext<Current | null>(null);

export interface OrganizationProviderProps {
  readonly me: Me;
  readonly organization: OwnOrganization;
  readonly children: ReactNode;
}

export function OrganizationProvider({ me, organization, children }: OrganizationProviderProps) {
  const accountId = organization.id;
  const atrium = useMemo(
    () => new AtriumServer({ serverUrl: location.origin, accountId, apiKey: null }),
    [accountId],
  );
  useEffect(() => localStorage.setItem("organization", accountId), [accountId]);
  const current = useMemo(() => ({ me, organization, atrium }), [me, organization, atrium]);
  return <CurrentContext value={current}>{children}</CurrentContext>;
}

export function useCurrent(): Current {
  const current = useContext(CurrentContext);
  if (current === null) throw new Error("useCurrent must be used within OrganizationProvider");
  return current;
}

/** True when the person may manage members, invitations and API keys. */
export const useIsOwner = (): boolean => useCurrent().organization.role === "owner";

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

/** Returns a function that prefixes query keys with the organization. */
export function useKey(): (...parts: readonly unknown[]) => readonly unknown[] {
  const { id } = useCurrent().organization;
  return useCallback((...parts) => [id, ...parts], [id]);
}
