/** The organization's API keys. */
import { useQuery } from "@tanstack/react-query";
import { useCurrent, useKey } from "../data/organization.tsx";
import { useAct } from "../data/use-action.ts";

export function useKeys(page: { readonly limit: number; readonly offset: number }) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useQuery({ queryKey: key("keys", page), queryFn: () => atrium.organization.listKeys(page) });
}

export function useCreateKey() {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAct((name: string) => atrium.organization.createKey(name), {
    touches: [key("keys")],
    isForm: true,
  });
}

export function useRevokeKey(keyId: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAct(() => atrium.organization.revokeKey(keyId), {
    done: "API key revoked",
    touches: [key("keys")],
    isForm: true,
  });
}
