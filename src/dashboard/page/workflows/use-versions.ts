/** Queries and actions for the versions of a workflow. */
import { useQuery } from "@tanstack/react-query";
import { useCurrent, useKey } from "../data/organization.tsx";
import { useAction } from "../data/use-action.ts";

/** As many as are kept. */
const MOST = 50;

export function useVersions(workflowId: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useQuery({
    queryKey: key("workflow", workflowId, "versions"),
    queryFn: () => atrium.workflows.listVersions(workflowId, { limit: MOST }),
  });
}

/** A version never changes. */
export function useVersion(workflowId: string, version: number) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useQuery({
    queryKey: key("workflow version", workflowId, version),
    queryFn: () => atrium.workflows.getVersion(workflowId, version),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

export function useRestoreVersion(workflowId: string, version: number) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAction(() => atrium.workflows.restoreVersion(workflowId, version), {
    notice: `Version ${version} restored`,
    invalidates: [key("workflow", workflowId), key("workflows")],
    isForm: true,
  });
}
