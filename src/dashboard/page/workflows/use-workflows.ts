/** Queries and actions for workflows. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { EventName, WorkflowSearch } from "atrium/server";
import { useCurrent, useKey } from "../data/organization.tsx";
import { useAction } from "../data/use-action.ts";

export function useWorkflows(search: WorkflowSearch) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useQuery({
    queryKey: key("workflows", search),
    queryFn: () => atrium.workflows.list(search),
    placeholderData: keepPreviousData,
  });
}

/** Not polled: a refresh must not replace code that is being edited. */
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
  readonly retries: number;
  /** Null for none. */
  readonly schedule: { readonly cron: string; readonly timezone: string } | null;
  readonly httpTrigger: boolean;
}

export function useCreateWorkflow() {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAction((workflow: WorkflowInput) => atrium.workflows.create(workflow), {
    notice: "Workflow created",
    invalidates: [key("workflows")],
    isForm: true,
  });
}

export function useUpdateWorkflow(workflowId: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAction((changes: WorkflowInput) => atrium.workflows.update(workflowId, changes), {
    notice: ({ enabled }) => (enabled ? "Workflow saved" : "Workflow saved. It is disabled."),
    invalidates: [key("workflow", workflowId), key("workflows")],
    isForm: true,
  });
}

export function useEnableWorkflow(workflowId: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAction((enabled: boolean) => atrium.workflows.update(workflowId, { enabled }), {
    notice: ({ enabled }) => (enabled ? "Workflow enabled" : "Workflow disabled"),
    invalidates: [key("workflow", workflowId), key("workflows")],
  });
}

/** Its result has the secret, which is shown once. */
export function useRotateTriggerSecret(workflowId: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAction(() => atrium.workflows.rotateTriggerSecret(workflowId), {
    invalidates: [key("workflow", workflowId)],
    isForm: true,
  });
}

export function useDeleteWorkflow(workflowId: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAction(() => atrium.workflows.delete(workflowId), {
    notice: "Workflow deleted",
    invalidates: [key("workflows")],
    isForm: true,
  });
}
