/** The query cache: pages render cached data at once and refresh it in the background. */
import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import { AtriumError } from "atrium/server";
import { ME } from "./me.ts";

/** Shows the sign-in page when the sign-in session has ended elsewhere. */
const onError = (error: unknown) => {
  if (error instanceof AtriumError && error.code === "UNAUTHORIZED") queryClient.setQueryData(ME, null);
};

export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError }),
  mutationCache: new MutationCache({ onError }),
  defaultOptions: {
    // The SDK retries by itself where that can help.
    queries: { retry: false, staleTime: 1000 },
    mutations: { retry: false },
  },
});
