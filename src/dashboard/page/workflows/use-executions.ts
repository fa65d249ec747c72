/** Queries and actions for the runs of workflows. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { EventName, WorkflowExecution as Execution } from "atrium/server";
import { useCurrent, useKey } from "../data/organization.tsx";
import { useAction } from "../data/use-action.ts";

const REFRESH_MS = 2000;

export function useExecutions(workflowId: string, page: { readonly limit: number; readonly offset: number }) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useQuery({
    queryKey: key("workflow", workflowId, "executions", page),
    queryFn: () => atrium.workflows.listExecutions(workflowId, page),
    refetchInterval: REFRESH_MS,
    placeholderData: keepPreviousData,
  });
}

export interface Sample {
  readonly event: EventName;
  readonly data: { readonly roomId: string; readonly userId?: string };
}

export function useRunWorkflow(workflowId: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  const describeRun = ({ status, duration_ms }: Execution) =>
    `Run ${status === "success" ? "succeeded" : "failed"} in ${Math.round(duration_ms)} ms`;
  return useAction(({ event, data }: Sample) => atrium.workflows.run(workflowId, event, data), {
    notice: describeRun,
    isFailure: ({ status }) => status === "failed",
    invalidates: [key("workflow", workflowId, "executions")],
    isForm: true,
  });
}
