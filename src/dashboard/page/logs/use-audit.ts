/** The query for the audit log. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { AuditFilter } from "atrium/server";
import { useCurrent, useIsOwner, useKey } from "../data/organization.tsx";

/** A page of the log; nothing for members who are not owners. */
export function useAudit(filter: AuditFilter) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useQuery({
    queryKey: key("audit", filter),
    queryFn: () => atrium.organization.listAuditEntries(filter),
    enabled: useIsOwner(),
    placeholderData: keepPreviousData,
  });
}
