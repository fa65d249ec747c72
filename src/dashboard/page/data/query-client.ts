/** What was asked of the service is kept here, so that pages show at once what is known and ask again behind it. */
import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import { AtriumError } from "atrium/server";
import { ME } from "./me.ts";

/** Whoever's session has ended elsewhere is shown the door, whatever they were doing. */
const onError = (error: unknown) => {
  if (error instanceof AtriumError && error.code === "UNAUTHORIZED") queryClient.setQueryData(ME, null);
};

export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError }),
  mutationCache: new MutationCache({ onError }),
  defaultOptions: {
    // The SDK tries again by itself where that can help.
    queries: { retry: false, staleTime: 1000 },
    mutations: { retry: false },
  },
});
