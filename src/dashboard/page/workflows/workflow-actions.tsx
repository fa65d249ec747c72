/** The actions on a workflow: enable, delete. */
import type { Workflow } from "atrium/server";
import { useLocation } from "wouter";
import { useAddress } from "../data/use-address.ts";
import { Button } from "../ui/button.tsx";
import { ConfirmButton } from "../ui/confirm.tsx";
import { useDeleteWorkflow, useEnableWorkflow } from "./use-workflows.ts";

export function WorkflowActions({ workflow }: { readonly workflow: Workflow }) {
  const address = useAddress();
  const [, go] = useLocation();
  const enable = useEnableWorkflow(workflow.id);
  const remove = useDeleteWorkflow(workflow.id);
  const act = {
    ...remove,
    mutateAsync: async () => {
      await remove.mutateAsync();
      go(address("/workflows"));
    },
  };
  return (
    <>
      <Button isBusy={enable.isPending} onClick={() => enable.mutate(!workflow.enabled)}>
        {workflow.enabled ? "Disable" : "Enable"}
      </Button>
      <ConfirmButton
        label="Delete"
        title={`Delete ${workflow.name}?`}
        confirmLabel="Delete workflow"
        act={act}
      >
        <p>Runs in progress finish. This also deletes the run history and cannot be undone.</p>
      </ConfirmButton>
    </>
  );
}
