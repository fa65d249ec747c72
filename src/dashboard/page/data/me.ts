/** The signed-in person; signing up, in and out. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { Me } from "../../../features/people/schema.ts";
import { callDashboard, ME } from "./api.ts";

interface Session {
  readonly me: Me | null;
}

/** `me` is null when no one is signed in. */
export function useMe() {
  const { data, error, isPending } = useQuery({
    queryKey: ME,
    queryFn: async () => (await callDashboard<Session>("GET", "session")).me,
    staleTime: 60_000,
  });
  return { me: data ?? null, error, isPending };
}

/** A request with the fields of a form that signs a person in. It clears the query cache. */
export function useSignInRequest(path: string, onDone: () => void) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (fields: Readonly<Record<string, string>>) => callDashboard<Me>("POST", path, fields),
    onSuccess: () => {
      queries.clear();
      onDone();
    },
  });
}

export function useSignOut() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => callDashboard<object>("POST", "sign-out", {}),
    onSuccess: () => {
      queries.clear();
      location.assign("/dashboard/sign-in");
      sessionStorage.clear(); // drafts of workflows
    },
  });
}
