/** A workflow, existing or new: its form, a test run, its runs, and its versions. */
import type { Workflow } from "atrium/server";
import { useState } from "react";
import { Link, useLocation, useParams } from "wouter";
import { useAction, useApiQuery, useCurrent } from "../data/organization.tsx";
import { Identifier } from "../ui/button.tsx";
import { Confirm } from "../ui/dialog.tsx";
import { Loaded } from "../ui/feedback.tsx";
import { MenuItem, MoreMenu } from "../ui/menu.tsx";
import { Page } from "../ui/page.tsx";
import { DeliveryStats, EnabledBadge, useEnabling } from "../ui/subscribers.tsx";
import { Time } from "../ui/time.tsx";
import { forgetDraft, newDraft, type WorkflowInput } from "./draft.ts";
import { Runs, TestRun } from "./runs.tsx";
import { HttpTrigger, Secrets } from "./secrets.tsx";
import { Versions } from "./versions.tsx";
import { WorkflowForm } from "./workflow-form.tsx";

export default function WorkflowPage() {
  const { workflowId = "" } = useParams();
  return workflowId === "new" ? <NewWorkflow /> : <KnownWorkflow key={workflowId} workflowId={workflowId} />;
}

/** Not polled: a refresh must not replace code that is being edited. */
function KnownWorkflow({ workflowId }: { readonly workflowId: string }) {
  const workflow = useApiQuery(["workflow", workflowId], ({ workflows }) => workflows.get(workflowId));
  return <Loaded query={workflow}>{(data) => <Frame workflow={data} />}</Loaded>;
}

const ABOVE = <Link href="/workflows">Workflows</Link>;

function Frame({ workflow }: { readonly workflow: Workflow }) {
  const { id, name, enabled, next_run_at, disabled_reason, http_trigger } = workflow;
  const [restored, setRestored] = useState(0);
  const update = useAction(({ workflows }, changes: WorkflowInput) => workflows.update(id, changes), {
    notice: (saved) => (saved.enabled ? "Workflow saved" : "Workflow saved. It is disabled."),
    refreshes: [["workflow", id], ["workflows"]],
  });
  return (
    <Page
      title={name}
      above={ABOVE}
      beside={
        <>
          <EnabledBadge enabled={enabled} />
          {next_run_at !== null && (
            <span className="soft">
              Next run <Time at={next_run_at} />
            </span>
          )}
          <Identifier value={id} what="the workflow's ID" />
        </>
      }
      actions={<WorkflowActions workflow={workflow} />}
    >
      {disabled_reason && <p role="note">{disabled_reason}</p>}
      <WorkflowForm key={restored} workflow={workflow} submitLabel="Save" action={update} />
      {http_trigger && <HttpTrigger workflow={workflow} />}
      <TestRun workflow={workflow} />
      <DeliveryStats of={{ kind: "workflows", id }} counted="Runs" />
      <Runs workflowId={id} />
      <Secrets workflowId={id} />
      <Versions workflow={workflow} onRestored={() => setRestored(restored + 1)} />
    </Page>
  );
}

function NewWorkflow() {
  const [, go] = useLocation();
  const { organization } = useCurrent();
  const create = useAction(({ workflows }, workflow: WorkflowInput) => workflows.create(workflow), {
    notice: "Workflow created",
    refreshes: [["workflows"]],
    onDone: ({ id }) => {
      forgetDraft(newDraft(organization.id));
      go(`/workflows/${id}`, { replace: true });
    },
  });
  return (
    <Page title="New workflow" above={ABOVE}>
      <WorkflowForm workflow={null} submitLabel="Create workflow" action={create} />
    </Page>
  );
}

/** The actions on a workflow: enable, delete. */
function WorkflowActions({ workflow }: { readonly workflow: Workflow }) {
  const { id, name } = workflow;
  const [, go] = useLocation();
  const [isDeleting, setDeleting] = useState(false);
  const enabling = useEnabling("workflows", workflow);
  const remove = useAction(({ workflows }) => workflows.delete(id), {
    notice: "Workflow deleted",
    refreshes: [["workflows"]],
    onDone: () => go("/workflows"),
  });
  return (
    <>
      <MoreMenu>
        <MenuItem onSelect={enabling.toggle}>{enabling.label}</MenuItem>
        <hr />
        <MenuItem isDanger onSelect={() => setDeleting(true)}>
          Delete…
        </MenuItem>
      </MoreMenu>
      <Confirm
        title={`Delete ${name}?`}
        confirmLabel="Delete workflow"
        action={remove}
        isOpen={isDeleting}
        onClose={() => setDeleting(false)}
      >
        <p>Runs in progress finish. This also deletes the run history and cannot be undone.</p>
      </Confirm>
    </>
  );
}
