/** The query for quotas. */
import { useQuery } from "@tanstack/react-query";
import { useCurrent, useKey } from "../data/organization.tsx";

export function useQuotas() {
  const { atrium } = useCurrent();
  const key = useKey();
  return useQuery({ queryKey: key("quotas"), queryFn: () => atrium.organization.listQuotas() });
}
