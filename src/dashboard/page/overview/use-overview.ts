/** The organization's overview, refreshed every few seconds. */
import { useQuery } from "@tanstack/react-query";
import { useCurrent, useKey } from "../data/organization.tsx";

const REFRESH_MS = 5000;

export function useOverview() {
  const { atrium } = useCurrent();
  const key = useKey();
  return useQuery({
    queryKey: key("overview"),
    queryFn: () => atrium.organization.overview(),
    refetchInterval: REFRESH_MS,
  });
}
