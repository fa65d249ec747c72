/** The secrets that a workflow reads, whose values are never shown, and the secret that signs requests to it. */

import type { Workflow, WorkflowSecret } from "atrium/server";
import { useAction, useApiQuery, useCurrent } from "../data/organization.tsx";
import { CodeBlock } from "../ui/button.tsx";
import { ConfirmAction, ConfirmButton, Secret } from "../ui/dialog.tsx";
import { Empty, Loaded } from "../ui/feedback.tsx";
import { TextField } from "../ui/fields.tsx";
import { FormDialog } from "../ui/form.tsx";
import { Section } from "../ui/page.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";

interface SecretsProps {
  readonly workflowId: string;
}

export function Secrets({ workflowId }: SecretsProps) {
  const secrets = useApiQuery(["workflow", workflowId, "secrets"], ({ workflows }) =>
    workflows.listSecrets(workflowId),
  );
  const columns: readonly Column<WorkflowSecret>[] = [
    { label: "Name", cell: ({ name }) => <code>{name}</code> },
    { label: "Created", cell: ({ created_at }) => <Time at={created_at} /> },
    { label: "Last set", cell: ({ updated_at }) => <Time at={updated_at} /> },
    {
      label: "Actions",
      className: "row-actions",
      cell: ({ name }) => (
        <ConfirmAction
          label="Delete"
          accessibleName={`Delete ${name}`}
          variant="quiet"
          title={`Delete ${name}?`}
          confirmLabel="Delete secret"
          act={(atrium) => atrium.workflows.deleteSecret(workflowId, name)}
          options={{ toast: `${name} deleted`, refreshes: [["workflow", workflowId, "secrets"]] }}
        >
          <p>Runs that start from now on do not have it.</p>
        </ConfirmAction>
      ),
    },
  ];
  return (
    <Section
      id="secrets"
      title="Secrets"
      beside={secrets.data?.length ? <SetSecret workflowId={workflowId} /> : undefined}
    >
      <Loaded query={secrets} shape="list">
        {(data) => (
          <>
            <Table label="List of secrets" items={data} idOf={({ name }) => name} columns={columns} />
            {data.length === 0 && (
              <Empty
                title="No secrets yet"
                action={<SetSecret workflowId={workflowId} />}
                command={["PUT", `/workflows/${workflowId}/secrets/CHAT_TOKEN`, { value: "YOUR_SECRET" }]}
              >
                Runs read a secret as <code>env.NAME</code>, and no one can read its value here.
              </Empty>
            )}
          </>
        )}
      </Loaded>
    </Section>
  );
}

function SetSecret({ workflowId }: SecretsProps) {
  const set = useAction(
    ({ workflows }, { name, value }: { readonly name: string; readonly value: string }) =>
      workflows.setSecret(workflowId, name, value),
    { toast: ({ name }) => `${name} saved`, refreshes: [["workflow", workflowId, "secrets"]] },
  );
  return (
    <FormDialog
      button={{ icon: "plus", children: "Set a secret" }}
      title="Set a secret"
      submitLabel="Save secret"
      action={set}
      toInput={({ secret = "", value = "" }) => ({ name: secret, value })}
    >
      <TextField
        label="Name of the secret"
        name="secret"
        required
        maxLength={64}
        pattern="[A-Za-z_][A-Za-z0-9_]*"
        hint="Letters, digits and underscores. The name of an existing secret replaces its value."
      />
      <TextField
        label="Value"
        name="value"
        type="password"
        autoComplete="new-password"
        required
        minLength={8}
        maxLength={4096}
        hint="At least 8 characters. No one can read it here again."
      />
    </FormDialog>
  );
}

/** The HTTP trigger of a workflow: its address, and the secret that signs requests. */
export function HttpTrigger({ workflow }: { readonly workflow: Workflow }) {
  const { id, trigger_secret_created_at: createdAt } = workflow;
  const { organization } = useCurrent();
  const rotate = useAction(({ workflows }) => workflows.rotateTriggerSecret(id), {
    refreshes: [["workflow", id]],
  });
  const isNew = createdAt === null;
  return (
    <Section id="trigger" title="HTTP trigger">
      <p>A POST with JSON starts a run, with an API key or signed with the workflow's own secret.</p>
      <CodeBlock
        what="The address of the HTTP trigger"
        text={`${location.origin}/v1/accounts/${organization.id}/workflows/${id}/trigger`}
      />
      <p className="soft">
        {isNew ? (
          "It has no secret yet: only API keys start it."
        ) : (
          <>
            Its secret was created <Time at={createdAt} />.
          </>
        )}
      </p>
      <ConfirmButton
        label={isNew ? "Create secret" : "Rotate secret"}
        title={isNew ? "Create a secret for requests?" : "Rotate the secret of requests?"}
        confirmLabel={isNew ? "Create" : "Rotate"}
        action={rotate}
      >
        <p>The secret is shown once. An earlier one is accepted beside it for 24 hours.</p>
      </ConfirmButton>
      <Secret
        title="Secret of the HTTP trigger"
        about="The sender of the requests signs them with it, as Standard Webhooks defines it. You will not see it again."
        secret={rotate.data?.trigger_secret ?? null}
        what="the secret"
        onDone={rotate.reset}
      />
    </Section>
  );
}
