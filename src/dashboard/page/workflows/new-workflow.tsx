/** The page that creates a workflow. */
import { Link, useLocation } from "wouter";
import { useAddress } from "../data/organization.tsx";
import { Page } from "../ui/page.tsx";
import { useCreateWorkflow } from "./use-workflows.ts";
import { WorkflowFields } from "./workflow-fields.tsx";

export function NewWorkflow() {
  const address = useAddress();
  const [, go] = useLocation();
  const create = useCreateWorkflow();
  return (
    <Page title="New workflow" above={<Link href={address("/workflows")}>Workflows</Link>}>
      <WorkflowFields
        workflow={null}
        submitLabel="Create workflow"
        error={create.error}
        isBusy={create.isPending}
        onSubmit={(input) =>
          create.mutate(input, { onSuccess: ({ id }) => go(address(`/workflows/${id}`), { replace: true }) })
        }
      />
    </Page>
  );
}
