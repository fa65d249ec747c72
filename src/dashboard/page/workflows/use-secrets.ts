/** Queries and actions for the secrets of a workflow. */
import { useQuery } from "@tanstack/react-query";
import { useCurrent, useKey } from "../data/organization.tsx";
import { useAction } from "../data/use-action.ts";

export function useSecrets(workflowId: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useQuery({
    queryKey: key("workflow", workflowId, "secrets"),
    queryFn: () => atrium.workflows.listSecrets(workflowId),
  });
}

export interface NewSecret {
  readonly name: string;
  readonly value: string;
}

export function useSetSecret(workflowId: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAction(({ name, value }: NewSecret) => atrium.workflows.setSecret(workflowId, name, value), {
    notice: ({ name }) => `${name} saved`,
    invalidates: [key("workflow", workflowId, "secrets")],
    isForm: true,
  });
}

export function useDeleteSecret(workflowId: string, name: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAction(() => atrium.workflows.deleteSecret(workflowId, name), {
    notice: `${name} deleted`,
    invalidates: [key("workflow", workflowId, "secrets")],
    isForm: true,
  });
}
