/** The current organization and an SDK instance for it. */
import { AtriumServer } from "atrium/server";
import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo } from "react";
import type { Me, OwnOrganization } from "../../../features/people/schema.ts";

export interface Current {
  readonly me: Me;
  readonly organization: OwnOrganization;
  readonly atrium: AtriumServer;
}

export const CurrentContext = createContext<Current | null>(null);

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

/** Returns a function that prefixes query keys with the organization. */
export function useKey(): (...parts: readonly unknown[]) => readonly unknown[] {
  const { id } = useCurrent().organization;
  return useCallback((...parts) => [id, ...parts], [id]);
}
