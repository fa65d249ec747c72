/** The queries for the log of API requests. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { RequestFilter } from "atrium/server";
import { useCurrent, useKey } from "../data/organization.tsx";

/** A page of the log, refreshed every `refreshMs` milliseconds. */
export function useRequests(filter: RequestFilter, refreshMs: number | false) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useQuery({
    queryKey: key("requests", filter),
    queryFn: () => atrium.requests.list(filter),
    refetchInterval: refreshMs,
    placeholderData: keepPreviousData,
  });
}

/** The log is about a second late: a request that it does not have yet is asked for again a few times. */
const MAX_ATTEMPTS = 5;
const RETRY_MS = 1_000;

/** One request by its ID; nothing for an empty one. */
export function useRequest(requestId: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useQuery({
    queryKey: key("request", requestId),
    queryFn: () => atrium.requests.get(requestId),
    enabled: requestId !== "",
    refetchInterval: ({ state }) =>
      state.status === "error" && state.errorUpdateCount < MAX_ATTEMPTS ? RETRY_MS : false,
  });
}
