/** The signed-in person; signing up, in and out. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { Me } from "../../../features/people/schema.ts";
import type { SignUpPolicy } from "../../../features/people/sign-up-policy.ts";
import { callDashboard } from "./api.ts";

export const ME = ["me"];

async function findMe(): Promise<Me | null> {
  const { me } = await callDashboard<{ readonly me: Me | null }>("GET", "session");
  return me;
}

/** `me` is null when no one is signed in. */
export function useMe() {
  const { data = null, error, isPending } = useQuery({ queryKey: ME, queryFn: findMe, staleTime: 60_000 });
  return { me: data, error, isPending };
}

export interface SignUpInput {
  readonly name: string;
  readonly email: string;
  readonly password: string;
  readonly organization?: string;
  readonly invitation?: string;
  /** The response of the Turnstile widget, where there is one. */
  readonly challenge?: string | undefined;
}

type SignInInput = Pick<SignUpInput, "email" | "password" | "challenge">;

/** Who may sign up without an invitation. */
export const useSignUpPolicy = () =>
  useQuery({ queryKey: ["sign-up"], queryFn: () => callDashboard<SignUpPolicy>("GET", "sign-up") });

/** Clears the query cache with every change of the signed-in person. */
function useSignInRequest<Input extends object>(path: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (input: Input) => callDashboard<Me>("POST", path, input),
    onSuccess: () => {
      queries.clear();
    },
  });
}

export const useSignUp = () => useSignInRequest<SignUpInput>("sign-up");
export const useSignIn = () => useSignInRequest<SignInInput>("sign-in");

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
