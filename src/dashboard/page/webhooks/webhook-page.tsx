/** A webhook: its deliveries and its configuration. */
import type { Webhook } from "atrium/server";
import { Link, useParams } from "wouter";
import { useAddress } from "../data/use-address.ts";
import { DeliveryStats } from "../delivery/delivery-stats.tsx";
import { Identifier } from "../ui/copy.tsx";
import { Badge, ErrorMessage, Loading } from "../ui/feedback.tsx";
import { Page } from "../ui/page.tsx";
import { Time } from "../ui/time.tsx";
import { Deliveries } from "./deliveries.tsx";
import { useLatestReplay } from "./use-replay.ts";
import { useUpdateWebhook, useWebhook } from "./use-webhooks.ts";
import { WebhookActions } from "./webhook-actions.tsx";
import { WebhookFields } from "./webhook-fields.tsx";

export default function WebhookPage() {
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
      <DeliveryStats of={{ kind: "webhook", id: webhook.id }} counted="Attempts" />
      <LatestReplay webhookId={webhook.id} />
      <div className="columns">
        <Deliveries webhookId={webhook.id} />
        <Configuration key={webhook.id} webhook={webhook} />
      </div>
    </Page>
  );
}

/** What was sent again, and how far that is. */
function LatestReplay({ webhookId }: { readonly webhookId: string }) {
  const { data: replay } = useLatestReplay(webhookId);
  if (!replay) return null;
  return (
    <p role="status" className="soft">
      {replay.state === "running" ? "Sending again, started" : "Sent again"} <Time at={replay.created_at} />:{" "}
      {replay.deliveries} {replay.deliveries === 1 ? "delivery" : "deliveries"} of{" "}
      {replay.status === "failed" ? "what failed" : "the events"} from <Time at={replay.from} /> to{" "}
      <Time at={replay.to} />.{replay.error && ` It ended early: ${replay.error}.`}
    </p>
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
