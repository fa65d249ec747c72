/** A workflow, existing or new: its form, a test run, its runs, and its versions. */
import type { Workflow } from "atrium/server";
import { useState } from "react";
import { Link, useParams } from "wouter";
import { useAddress } from "../data/use-address.ts";
import { DeliveryStats } from "../delivery/delivery-stats.tsx";
import { Badge } from "../ui/badge.tsx";
import { ErrorMessage } from "../ui/error-message.tsx";
import { Identifier } from "../ui/identifier.tsx";
import { Loading } from "../ui/loading.tsx";
import { Page } from "../ui/page.tsx";
import { Time } from "../ui/time.tsx";
import { Executions } from "./executions.tsx";
import { HttpTrigger } from "./http-trigger.tsx";
import { NewWorkflow } from "./new-workflow.tsx";
import { Secrets } from "./secrets.tsx";
import { TestRun } from "./test-run.tsx";
import { useUpdateWorkflow, useWorkflow } from "./use-workflows.ts";
import { Versions } from "./versions.tsx";
import { WorkflowActions } from "./workflow-actions.tsx";
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
