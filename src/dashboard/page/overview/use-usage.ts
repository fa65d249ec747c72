/** The query for what happened in the organization over time. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { Usage } from "atrium/server";
import { useCurrent, useKey } from "../data/organization.tsx";

const REFRESH_MS = 10_000;

export function useUsage(range: Usage["range"]) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useQuery({
    queryKey: key("usage", range),
    queryFn: () => atrium.organization.usage(range),
    refetchInterval: REFRESH_MS,
    placeholderData: keepPreviousData,
  });
}
