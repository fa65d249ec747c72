/** The person who is signed in, and what changes that. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { AtriumError } from "atrium/server";
import { askDoor } from "./api.ts";

export interface Membership {
  readonly id: string;
  readonly name: string;
  readonly role: "owner" | "member";
}

export interface Me {
  readonly person: { readonly id: string; readonly name: string; readonly email: string };
  readonly organizations: readonly Membership[];
}

export const ME = ["me"];

async function findMe(): Promise<Me | null> {
  try {
    return await askDoor<Me>("GET", "me");
  } catch (error) {
    if (error instanceof AtriumError && error.code === "UNAUTHORIZED") return null;
    throw error;
  }
}

/** `me` is null for those who are not signed in. */
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
}

/** What another person has seen is forgotten with every change of who is signed in. */
function useDoor<Input extends object>(path: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (input: Input) => askDoor<Me>("POST", path, input),
    onSuccess: () => {
      queries.clear();
    },
  });
}

export const useSignUp = () => useDoor<SignUpInput>("sign-up");
export const useSignIn = () => useDoor<{ readonly email: string; readonly password: string }>("sign-in");

export function useSignOut() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => askDoor<object>("POST", "sign-out", {}),
    onSuccess: () => {
      queries.clear();
      location.assign("/dashboard/sign-in");
    },
  });
}
