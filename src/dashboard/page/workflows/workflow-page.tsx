/** A workflow, existing or new: its form, a test run, its runs, and its versions. */
import type { Workflow } from "atrium/server";
import { useState } from "react";
import { Link, useLocation, useParams } from "wouter";
import { useCurrent } from "../data/organization.tsx";
import { useAddress } from "../data/use-address.ts";
import { useFilters } from "../data/use-filters.ts";
import { DeliveryStats } from "../delivery/delivery-stats.tsx";
import { Button } from "../ui/button.tsx";
import { ConfirmButton } from "../ui/confirm.tsx";
import { Identifier } from "../ui/copy.tsx";
import { Badge, ErrorMessage, Loading } from "../ui/feedback.tsx";
import { Page } from "../ui/page.tsx";
import { Pager } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { ExecutionRow } from "./execution-row.tsx";
import { HttpTrigger } from "./http-trigger.tsx";
import { Secrets } from "./secrets.tsx";
import { TestRun } from "./test-run.tsx";
import { forgetDraft, newDraft } from "./use-draft.ts";
import { useExecutions } from "./use-executions.ts";
import {
  useCreateWorkflow,
  useDeleteWorkflow,
  useEnableWorkflow,
  useUpdateWorkflow,
  useWorkflow,
} from "./use-workflows.ts";
import { Versions } from "./versions.tsx";
import { WorkflowFields } from "./workflow-fields.tsx";

export default function WorkflowPage() {
  const { workflowId = "" } = useParams();
  return workflowId === "new" ? <NewWorkflow /> : <KnownWorkflow key={workflowId} workflowId={workflowId} />;
}

function KnownWorkflow({ workflowId }: { readonly workflowId: string }) {
  const { data: workflow, error, refetch } = useWorkflow(workflowId);
  if (workflow === undefined) return error ? <ErrorMessage error={error} onRetry={refetch} /> : <Loading />;
  return <Frame workflow={workflow} />;
}

function Frame({ workflow }: { readonly workflow: Workflow }) {
  const address = useAddress();
  const update = useUpdateWorkflow(workflow.id);
  const [restored, setRestored] = useState(0);
  return (
    <Page
      title={workflow.name}
      above={<Link href={address("/workflows")}>Workflows</Link>}
      beside={
        <>
          <Badge tone={workflow.enabled ? "good" : "waiting"}>
            {workflow.enabled ? "enabled" : "disabled"}
          </Badge>
          {workflow.next_run_at !== null && (
            <span className="soft">
              Next run <Time at={workflow.next_run_at} />
            </span>
          )}
          <Identifier value={workflow.id} what="the workflow's ID" />
        </>
      }
      actions={<WorkflowActions workflow={workflow} />}
    >
      {workflow.disabled_reason && <p role="note">{workflow.disabled_reason}</p>}
      <WorkflowFields
        key={restored}
        workflow={workflow}
        submitLabel="Save"
        error={update.error}
        isBusy={update.isPending}
        onSubmit={update.mutate}
      />
      {workflow.http_trigger && <HttpTrigger workflow={workflow} />}
      <TestRun workflow={workflow} />
      <DeliveryStats of={{ kind: "workflow", id: workflow.id }} counted="Runs" />
      <Executions workflowId={workflow.id} />
      <Secrets workflowId={workflow.id} />
      <Versions workflow={workflow} onRestored={() => setRestored(restored + 1)} />
    </Page>
  );
}

/** The runs of a workflow, newest first, updated live. */
function Executions({ workflowId }: { readonly workflowId: string }) {
  const filters = useFilters();
  const { limit, offset } = filters;
  const { data, error, refetch } = useExecutions(workflowId, { limit, offset });
  return (
    <section aria-labelledby="executions">
      <h2 id="executions">Runs</h2>
      <ErrorMessage error={error} onRetry={refetch} />
      {data === undefined && !error && <Loading />}
      <ul className="records">
        {data?.executions.map((execution) => (
          <ExecutionRow key={execution.id} execution={execution} />
        ))}
      </ul>
      {data?.total === 0 && <p className="soft">No runs yet. Run the workflow above to see one.</p>}
      {data && <Pager filters={filters} total={data.total} />}
    </section>
  );
}

/** The page that creates a workflow. */
function NewWorkflow() {
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

/** The actions on a workflow: enable, delete. */
function WorkflowActions({ workflow }: { readonly workflow: Workflow }) {
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
