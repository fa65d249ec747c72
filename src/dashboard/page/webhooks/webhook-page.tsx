/** A webhook: its deliveries and its configuration. */
import type { Webhook } from "atrium/server";
import { Link, useParams } from "wouter";
import { useAddress } from "../data/organization.tsx";
import { Badge } from "../ui/badge.tsx";
import { ErrorMessage } from "../ui/error-message.tsx";
import { Identifier } from "../ui/identifier.tsx";
import { Loading } from "../ui/loading.tsx";
import { Page } from "../ui/page.tsx";
import { Time } from "../ui/time.tsx";
import { Deliveries } from "./deliveries.tsx";
import { useUpdateWebhook, useWebhook } from "./use-webhooks.ts";
import { WebhookActions } from "./webhook-actions.tsx";
import { WebhookFields } from "./webhook-fields.tsx";

export function WebhookPage() {
  const { webhookId = "" } = useParams();
  const address = useAddress();
  const { data: webhook, error, refetch } = useWebhook(webhookId);
  if (webhook === undefined) return error ? <ErrorMessage error={error} onRetry={refetch} /> : <Loading />;
  return (
    <Page
      title={webhook.url}
      above={<Link href={address("/webhooks")}>Webhooks</Link>}
      beside={
        <>
          <Badge tone={webhook.enabled ? "good" : "waiting"}>
            {webhook.enabled ? "enabled" : "disabled"}
          </Badge>
          <Identifier value={webhook.id} what="the webhook's ID" />
        </>
      }
      actions={<WebhookActions webhook={webhook} />}
    >
      {webhook.disabled_reason && <p role="note">{webhook.disabled_reason}</p>}
      {webhook.backlogged_since && (
        <p role="note">
          Much waits for this webhook, the oldest since <Time at={webhook.backlogged_since} />. If too much
          waits, the webhook is disabled; nothing is lost.
        </p>
      )}
      <Deliveries webhookId={webhook.id} />
      <Configuration key={webhook.id} webhook={webhook} />
    </Page>
  );
}

function Configuration({ webhook }: { readonly webhook: Webhook }) {
  const update = useUpdateWebhook(webhook.id);
  return (
    <section className="panel" aria-labelledby="configuration">
      <h2 id="configuration">Configuration</h2>
      <WebhookFields
        webhook={webhook}
        submitLabel="Save"
        error={update.error}
        isBusy={update.isPending}
        onSubmit={update.mutate}
      />
    </section>
  );
}
