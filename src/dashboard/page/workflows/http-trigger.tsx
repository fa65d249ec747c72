/** How requests start a workflow: the address, and the secret that signs them. */
import type { Workflow } from "atrium/server";
import { useCurrent } from "../data/organization.tsx";
import { ConfirmButton } from "../ui/confirm.tsx";
import { CodeBlock, Secret } from "../ui/copy.tsx";
import { Time } from "../ui/time.tsx";
import { useRotateTriggerSecret } from "./use-workflows.ts";

const ADVICE =
  "The sender of the requests signs them with it, as Standard Webhooks defines it. You will not see it again.";

export function HttpTrigger({ workflow }: { readonly workflow: Workflow }) {
  const { id: organizationId } = useCurrent().organization;
  const rotate = useRotateTriggerSecret(workflow.id);
  const createdAt = workflow.trigger_secret_created_at;
  const url = `${location.origin}/v1/accounts/${organizationId}/workflows/${workflow.id}/trigger`;
  return (
    <section aria-labelledby="trigger">
      <h2 id="trigger">HTTP trigger</h2>
      <p>A POST with JSON starts a run, with an API key or signed with the workflow's own secret.</p>
      <CodeBlock what="The address of the HTTP trigger" text={url} />
      <p className="soft">
        {createdAt === null ? (
          "It has no secret yet: only API keys start it."
        ) : (
          <>
            Its secret was created <Time at={createdAt} />.
          </>
        )}
      </p>
      <ConfirmButton
        label={createdAt === null ? "Create secret" : "Rotate secret"}
        title={createdAt === null ? "Create a secret for requests?" : "Rotate the secret of requests?"}
        confirmLabel={createdAt === null ? "Create" : "Rotate"}
        act={rotate}
      >
        <p>The secret is shown once. An earlier one is accepted beside it for 24 hours.</p>
      </ConfirmButton>
      <Secret
        title="Secret of the HTTP trigger"
        about={ADVICE}
        secret={rotate.data?.trigger_secret ?? null}
        what="the secret"
        onDone={rotate.reset}
      />
    </section>
  );
}
