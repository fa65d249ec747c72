/** Requests to `/dashboard/api`, and the cache of all queries: pages render cached data at once and refresh them. */
import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import { AtriumError } from "atrium/server";
import { noteResult } from "./connection.ts";

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
    const response = await fetch(`/dashboard/api/${path}`, init);
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
