/** The workflows of the organization, what can be done to one, and how its runs went. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { EventName, WorkflowExecution as Execution } from "atrium/server";
import { useCurrent, useKey } from "../data/organization.tsx";
import { useAct } from "../data/use-action.ts";

const REFRESH_MS = 2000;

export interface WorkflowSearch {
  readonly limit: number;
  readonly offset: number;
  readonly search?: string;
}

export function useWorkflows(search: WorkflowSearch) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useQuery({
    queryKey: key("workflows", search),
    queryFn: () => atrium.workflows.list(search),
    placeholderData: keepPreviousData,
  });
}

/** Read once while somebody writes on it: what they have written is not to be replaced under their hands. */
export function useWorkflow(workflowId: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useQuery({
    queryKey: key("workflow", workflowId),
    queryFn: () => atrium.workflows.get(workflowId),
  });
}

export interface WorkflowInput {
  readonly name: string;
  readonly code: string;
  readonly events: readonly EventName[];
  readonly roomId: string | null;
}

export function useCreateWorkflow() {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAct((workflow: WorkflowInput) => atrium.workflows.create(workflow), {
    done: "Workflow created",
    touches: [key("workflows")],
    isForm: true,
  });
}

export function useUpdateWorkflow(workflowId: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAct((changes: WorkflowInput) => atrium.workflows.update(workflowId, changes), {
    done: ({ enabled }) => (enabled ? "Workflow saved" : "Workflow saved; it is switched off"),
    touches: [key("workflow", workflowId), key("workflows")],
    isForm: true,
  });
}

export function useEnableWorkflow(workflowId: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAct((enabled: boolean) => atrium.workflows.update(workflowId, { enabled }), {
    done: ({ enabled }) => (enabled ? "Workflow switched on" : "Workflow switched off"),
    touches: [key("workflow", workflowId), key("workflows")],
  });
}

export function useDeleteWorkflow(workflowId: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAct(() => atrium.workflows.delete(workflowId), {
    done: "Workflow deleted",
    touches: [key("workflows")],
    isForm: true,
  });
}

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
  const tell = ({ status, duration_ms }: Execution) =>
    `The run ${status === "success" ? "went well" : "failed"}, in ${Math.round(duration_ms)} ms`;
  return useAct(({ event, data }: Sample) => atrium.workflows.run(workflowId, event, data), {
    done: tell,
    isFailure: ({ status }) => status === "failed",
    touches: [key("workflow", workflowId, "executions")],
    isForm: true,
  });
}
