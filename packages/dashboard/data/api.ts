/** Requests to `/dashboard/api`, the cache of all queries, which pages render at once and refresh, and the signed-in person. */

import type { Me } from "@atrium/contract/rest/people.ts";
import {
  MutationCache,
  QueryCache,
  QueryClient,
  useMutation,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { AtriumError } from "atrium/server";
import { noteResult } from "./connection.ts";
import { fetchOrTake } from "./early-answers.ts";

/** The query key of the signed-in person. */
export const ME = ["me"];

interface Envelope {
  readonly data: unknown;
  readonly error: { readonly code: string; readonly module: string; readonly message: string } | null;
  readonly requestId: string;
}

/** Calls `/dashboard/api/…`. Throws {@link AtriumError}, as the SDK does. */
export async function callDashboard<Data>(
  method: "GET" | "POST" | "PATCH",
  path: string,
  body?: object,
): Promise<Data> {
  const { data, error, requestId } = await send(method, path, body);
  if (error !== null) throw new AtriumError(error, requestId);
  return data as Data;
}

async function send(method: string, path: string, body?: object): Promise<Envelope> {
  const headers = { "Content-Type": "application/json" };
  const init = body === undefined ? { method } : { method, headers, body: JSON.stringify(body) };
  try {
    const response = await fetchOrTake(`/dashboard/api/${path}`, init);
    return (await response.json()) as Envelope;
  } catch (error) {
    const message = `The service could not be reached or sent an invalid response: ${String(error)}`;
    throw new AtriumError({ code: "UNREACHABLE", module: "Client", message });
  }
}

/** Shows the sign-in page when the sign-in session has ended elsewhere. */
const onError = (error: unknown) => {
  noteResult(error);
  if (error instanceof AtriumError && error.code === "UNAUTHORIZED") queryClient.setQueryData(ME, null);
};
const onSuccess = () => noteResult(null);

export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError, onSuccess }),
  mutationCache: new MutationCache({ onError, onSuccess }),
  defaultOptions: {
    // The SDK retries where that helps. Without a network, requests fail at once: the banner says so.
    queries: { retry: false, staleTime: 1000, networkMode: "always" },
    mutations: { retry: false, networkMode: "always" },
  },
});

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

/** The organization that the person opened last in this browser, or else their first; undefined for none. */
export function latestOrganizationOf({ organizations }: Me) {
  const latest = localStorage.getItem("organization");
  return organizations.find(({ id }) => id === latest) ?? organizations[0];
}

/** A request with the fields of a form that signs a person in. It clears the query cache. */
export function useSignInRequest<Answer = Me>(path: string, onDone: (answer: Answer) => void) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (fields: Readonly<Record<string, string>>) => callDashboard<Answer>("POST", path, fields),
    onSuccess: (answer) => {
      queries.clear();
      onDone(answer);
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
