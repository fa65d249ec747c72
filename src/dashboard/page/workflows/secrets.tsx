/** The secrets of a workflow: their names and dates, and a dialog that sets one. Values are never shown. */

import { useQuery } from "@tanstack/react-query";
import type { WorkflowSecret } from "atrium/server";
import { useState } from "react";
import { useCurrent, useKey } from "../data/organization.tsx";
import { useAction } from "../data/use-action.ts";
import { Button } from "../ui/button.tsx";
import { ConfirmButton } from "../ui/confirm.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { ErrorMessage } from "../ui/feedback.tsx";
import { TextField } from "../ui/fields.tsx";
import { Form } from "../ui/form.tsx";
import { Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";

interface SecretsProps {
  readonly workflowId: string;
}

export function Secrets({ workflowId }: SecretsProps) {
  const { data, error, refetch } = useSecrets(workflowId);
  return (
    <section aria-labelledby="secrets">
      <div className="title-row">
        <h2 id="secrets">Secrets</h2>
        <SetSecret workflowId={workflowId} />
      </div>
      <ErrorMessage error={error} onRetry={refetch} />
      {data && data.length > 0 ? (
        <Table label="List of secrets" columns={["Name", "Created", "Last set", "!Actions"]}>
          {data.map((secret) => (
            <SecretRow key={secret.name} workflowId={workflowId} secret={secret} />
          ))}
        </Table>
      ) : (
        <p className="soft">
          Runs read a secret as <code>env.NAME</code>. No one can read its value here.
        </p>
      )}
    </section>
  );
}

function SetSecret({ workflowId }: SecretsProps) {
  const [isOpen, setOpen] = useState(false);
  const set = useSetSecret(workflowId);
  const close = () => {
    setOpen(false);
    set.reset();
  };
  return (
    <>
      <Button icon="plus" onClick={() => setOpen(true)}>
        Set a secret
      </Button>
      <Dialog title="Set a secret" isOpen={isOpen} onClose={close}>
        <Form
          submitLabel="Save secret"
          error={set.error}
          isBusy={set.isPending}
          onCancel={close}
          onSubmit={({ secret = "", value = "" }) =>
            set.mutate({ name: secret, value }, { onSuccess: close })
          }
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
        </Form>
      </Dialog>
    </>
  );
}

interface SecretRowProps extends SecretsProps {
  readonly secret: WorkflowSecret;
}

function SecretRow({ workflowId, secret: { name, created_at, updated_at } }: SecretRowProps) {
  const act = useDeleteSecret(workflowId, name);
  return (
    <tr>
      <th scope="row">
        <code>{name}</code>
      </th>
      <td>
        <Time at={created_at} />
      </td>
      <td>
        <Time at={updated_at} />
      </td>
      <td className="row-actions">
        <ConfirmButton
          label="Delete"
          accessibleName={`Delete ${name}`}
          variant="quiet"
          title={`Delete ${name}?`}
          confirmLabel="Delete secret"
          act={act}
        >
          <p>Runs that start from now on do not have it.</p>
        </ConfirmButton>
      </td>
    </tr>
  );
}

/** Queries and actions for the secrets of a workflow. */
function useSecrets(workflowId: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useQuery({
    queryKey: key("workflow", workflowId, "secrets"),
    queryFn: () => atrium.workflows.listSecrets(workflowId),
  });
}

interface NewSecret {
  readonly name: string;
  readonly value: string;
}

function useSetSecret(workflowId: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAction(({ name, value }: NewSecret) => atrium.workflows.setSecret(workflowId, name, value), {
    notice: ({ name }) => `${name} saved`,
    invalidates: [key("workflow", workflowId, "secrets")],
    isForm: true,
  });
}

function useDeleteSecret(workflowId: string, name: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAction(() => atrium.workflows.deleteSecret(workflowId, name), {
    notice: `${name} deleted`,
    invalidates: [key("workflow", workflowId, "secrets")],
    isForm: true,
  });
}
