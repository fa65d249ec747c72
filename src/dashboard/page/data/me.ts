/** The signed-in person; signing up, in and out. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { Me } from "../../../features/people/schema.ts";
import { callDashboard, ME } from "./api.ts";

async function findMe(): Promise<Me | null> {
  const { me } = await callDashboard<{ readonly me: Me | null }>("GET", "session");
  return me;
}

/** `me` is null when no one is signed in. */
export function useMe() {
  const { data = null, error, isPending } = useQuery({ queryKey: ME, queryFn: findMe, staleTime: 60_000 });
  return { me: data, error, isPending };
}

interface SignUpInput {
  readonly name: string;
  readonly email: string;
  readonly password: string;
  readonly organization?: string;
  readonly invitation?: string;
  /** The response of the Turnstile widget, where there is one. */
  readonly challenge?: string | undefined;
}

/** Clears the query cache with every change of the signed-in person. */
function useSignInRequest<Input extends object>(path: string, onDone: () => void) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (input: Input) => callDashboard<Me>("POST", path, input),
    onSuccess: () => {
      queries.clear();
      onDone();
    },
  });
}

export const useSignUp = (onDone: () => void) => useSignInRequest<SignUpInput>("sign-up", onDone);
export const useSignIn = (onDone: () => void) =>
  useSignInRequest<Pick<SignUpInput, "email" | "password" | "challenge">>("sign-in", onDone);
/** Chooses a new password by a link, which also signs in. */
export const usePasswordLink = (path: string, onDone: () => void) =>
  useSignInRequest<{ readonly password: string }>(path, onDone);

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
