/** Queries and actions for API keys and users' tokens. */
import { useQuery } from "@tanstack/react-query";
import type { KeySearch } from "atrium/server";
import { useCurrent, useKey } from "../data/organization.tsx";
import { useAction } from "../data/use-action.ts";

export function useKeys(page: KeySearch) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useQuery({ queryKey: key("keys", page), queryFn: () => atrium.organization.listKeys(page) });
}

export function useCreateKey() {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAction((name: string) => atrium.organization.createKey(name), {
    invalidates: [key("keys")],
    isForm: true,
  });
}

/** Ends the tokens of all users of the organization. */
export function useEndAllTokens() {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAction(() => atrium.organization.endAllTokens(), {
    notice: "All user tokens ended",
    invalidates: [key("room")],
    isForm: true,
  });
}

export function useRevokeKey(keyId: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAction(() => atrium.organization.revokeKey(keyId), {
    notice: "API key revoked",
    invalidates: [key("keys")],
    isForm: true,
  });
}
