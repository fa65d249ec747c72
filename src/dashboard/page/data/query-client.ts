/** The query cache: pages render cached data at once and refresh it in the background. */
import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import { AtriumError } from "atrium/server";
import { noteResult } from "./connection.ts";
import { ME } from "./me.ts";

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
    // The SDK retries by itself where that can help.
    // Without a network, requests fail at once instead of waiting for ever: the banner says so.
    queries: { retry: false, staleTime: 1000, networkMode: "always" },
    mutations: { retry: false, networkMode: "always" },
  },
});
