/** What can be done with several workflows. */
import type { Workflow } from "atrium/server";
import { useCurrent } from "../data/organization.tsx";
import { oneByOne } from "../data/several-requests.ts";
import type { BulkAction } from "../ui/bulk-action.ts";

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
