/** A workflow: its runs, and its code, versions and secrets behind tabs; and the form of a new one. */
import type { Workflow } from "atrium/server";
import { useState } from "react";
import { Link, Redirect, Route, Switch, useLocation, useParams } from "wouter";
import { useAction, useApiQuery, useCurrent } from "../data/organization.tsx";
import { Button, Identifier } from "../ui/button.tsx";
import { Confirm } from "../ui/dialog.tsx";
import { Loaded } from "../ui/feedback.tsx";
import { useUndone } from "../ui/form.tsx";
import { MenuItem, MoreMenu } from "../ui/menu.tsx";
import { Page, Tabs } from "../ui/page.tsx";
import { guideOf } from "../ui/story.ts";
import { Activity, StatusLine, useEnabling, useStory } from "../ui/subscribers.tsx";
import { Time } from "../ui/time.tsx";
import { forgetDraft, newDraft, type WorkflowInput } from "./draft.ts";
import { Runs, SampleRun } from "./runs.tsx";
import { HttpTrigger, Secrets } from "./secrets.tsx";
import { Versions } from "./versions.tsx";
import { savedInput, WorkflowForm } from "./workflow-form.tsx";

export default function WorkflowPage() {
  const { workflowId = "" } = useParams();
  return workflowId === "new" ? <NewWorkflow /> : <KnownWorkflow key={workflowId} workflowId={workflowId} />;
}

/** Not polled: a refresh must not replace code that is being edited. */
function KnownWorkflow({ workflowId }: { readonly workflowId: string }) {
  const workflow = useApiQuery(["workflow", workflowId], ({ workflows }) => workflows.get(workflowId));
  return (
    <Loaded query={workflow} shape="page" above={ABOVE}>
      {(data) => <Frame workflow={data} />}
    </Loaded>
  );
}

const ABOVE = <Link href="/workflows">Workflows</Link>;

const TABS = [
  { name: "Runs", path: "" },
  { name: "Code and configuration", path: "/code" },
  { name: "Versions", path: "/versions" },
  { name: "Secrets", path: "/secrets" },
];

function Frame({ workflow }: { readonly workflow: Workflow }) {
  const { id, name, next_run_at, http_trigger } = workflow;
  const known = useStory("workflows", workflow);
  const enabling = useEnabling("workflows", workflow);
  const [latest, setLatest] = useState<string | null>(null);
  const undone = useUndone(workflow.updated_at);
  const update = useAction(({ workflows }, changes: WorkflowInput) => workflows.update(id, changes), {
    toast: (saved) => (saved.enabled ? "Workflow saved" : "Workflow saved. It is disabled."),
    undo: ({ workflows }) => workflows.update(id, savedInput(workflow)).finally(undone.count),
    refreshes: [["workflow", id], ["workflows"]],
  });
  return (
    <Page
      title={name}
      above={ABOVE}
      beside={
        <>
          {next_run_at !== null && (
            <span className="soft">
              Next run <Time at={next_run_at} />
            </span>
          )}
          <Identifier value={id} what="the workflow's ID" />
        </>
      }
      actions={<WorkflowActions workflow={workflow} onRun={setLatest} />}
    >
      <StatusLine known={known}>
        {known?.story.state === "disabled" && (
          <Button variant="primary" onClick={enabling.toggle}>
            Enable
          </Button>
        )}
        {known?.story.state === "failing" && (
          <Link className="button" href={`/workflows/${id}/code`}>
            Open the code
          </Link>
        )}
        {(known?.story.state === "failing" || workflow.disabled_reason) && (
          <a
            className="button"
            href={guideOf("workflows", workflow.disabled_reason ?? known?.attempts.failing?.error ?? null)}
          >
            Open the guide
          </a>
        )}
      </StatusLine>
      <Tabs label="Workflow" base={`/workflows/${id}`} tabs={TABS} />
      <Switch>
        <Route path="/workflows/:workflowId">
          {known?.story.state !== "new" && <Activity kind="workflows" id={id} />}
          <Runs workflowId={id} latest={latest} />
        </Route>
        <Route path="/workflows/:workflowId/code">
          <WorkflowForm key={undone.key} workflow={workflow} submitLabel="Save" action={update} />
          {http_trigger && <HttpTrigger workflow={workflow} />}
        </Route>
        <Route path="/workflows/:workflowId/versions">
          <Versions workflow={workflow} />
        </Route>
        <Route path="/workflows/:workflowId/secrets">
          <Secrets workflowId={id} />
        </Route>
        <Route>
          <Redirect to={`/workflows/${id}`} replace />
        </Route>
      </Switch>
    </Page>
  );
}

function NewWorkflow() {
  const [, go] = useLocation();
  const { organization } = useCurrent();
  const create = useAction(({ workflows }, workflow: WorkflowInput) => workflows.create(workflow), {
    toast: "Workflow created",
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

interface WorkflowActionsProps {
  readonly workflow: Workflow;
  /** Called with the ID of a run that the person has made. */
  readonly onRun: (executionId: string) => void;
}

function WorkflowActions({ workflow, onRun }: WorkflowActionsProps) {
  const { id, name } = workflow;
  const [, go] = useLocation();
  const [isDeleting, setDeleting] = useState(false);
  const enabling = useEnabling("workflows", workflow);
  const remove = useAction(({ workflows }) => workflows.delete(id), {
    toast: "Workflow deleted",
    refreshes: [["workflows"]],
    onDone: () => go("/workflows", { replace: true }),
  });
  return (
    <>
      <SampleRun
        workflow={workflow}
        onRun={(executionId) => {
          onRun(executionId);
          go(`/workflows/${id}`);
        }}
      />
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
