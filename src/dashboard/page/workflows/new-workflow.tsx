/** The page that creates a workflow. */
import { Link, useLocation } from "wouter";
import { useCurrent } from "../data/organization.tsx";
import { useAddress } from "../data/use-address.ts";
import { Page } from "../ui/page.tsx";
import { forgetDraft, newDraft } from "./use-draft.ts";
import { useCreateWorkflow } from "./use-workflows.ts";
import { WorkflowFields } from "./workflow-fields.tsx";

export function NewWorkflow() {
  const address = useAddress();
  const [, go] = useLocation();
  const { id: organizationId } = useCurrent().organization;
  const create = useCreateWorkflow();
  return (
    <Page title="New workflow" above={<Link href={address("/workflows")}>Workflows</Link>}>
      <WorkflowFields
        workflow={null}
        submitLabel="Create workflow"
        error={create.error}
        isBusy={create.isPending}
        onSubmit={(input) =>
          create.mutate(input, {
            onSuccess: ({ id }) => {
              forgetDraft(newDraft(organizationId));
              go(address(`/workflows/${id}`), { replace: true });
            },
          })
        }
      />
    </Page>
  );
}
