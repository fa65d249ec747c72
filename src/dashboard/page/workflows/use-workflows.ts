/** Queries and actions for workflows. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { EventName, Workflow, WorkflowSearch } from "atrium/server";
import { useCurrent, useKey } from "../data/organization.tsx";
import { oneByOne } from "../data/several-requests.ts";
import { useAction } from "../data/use-action.ts";
import type { BulkAction } from "../ui/bulk-action.ts";

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

/** What can be done with several workflows. */
export function useWorkflowActions(): readonly BulkAction<Workflow>[] {
  const { workflows } = useCurrent().atrium;
  return [
    {
      label: "Enable",
      done: "enabled",
      consequences: "They run again on what starts them.",
      applies: ({ enabled }) => !enabled,
      run: oneByOne(({ id }) => workflows.update(id, { enabled: true })),
    },
    {
      label: "Disable",
      done: "disabled",
      consequences: "Nothing starts them until they are enabled again. Runs in progress finish.",
      applies: ({ enabled }) => enabled,
      run: oneByOne(({ id }) => workflows.update(id, { enabled: false })),
    },
    {
      label: "Delete",
      done: "deleted",
      consequences:
        "Their code, versions, secrets and runs are deleted with them. Runs in progress finish. This cannot be undone.",
      isDanger: true,
      run: oneByOne(({ id }) => workflows.delete(id)),
    },
  ];
}
