/** A webhook: its deliveries and its configuration. */
import type { Webhook } from "atrium/server";
import { Link, useParams } from "wouter";
import { useAction, useApiQuery } from "../data/organization.tsx";
import { Identifier } from "../ui/button.tsx";
import { EnabledBadge, Loaded } from "../ui/feedback.tsx";
import { Page, Section } from "../ui/page.tsx";
import { DeliveryStats } from "../ui/stats.tsx";
import { Time } from "../ui/time.tsx";
import { Deliveries } from "./deliveries.tsx";
import { WebhookActions } from "./webhook-actions.tsx";
import { WebhookForm, type WebhookInput } from "./webhook-form.tsx";

export default function WebhookPage() {
  const { webhookId = "" } = useParams();
  const webhook = useApiQuery(["webhook", webhookId], ({ webhooks }) => webhooks.get(webhookId));
  return <Loaded query={webhook}>{(data) => <Frame key={data.id} webhook={data} />}</Loaded>;
}

function Frame({ webhook }: { readonly webhook: Webhook }) {
  const { id, url, enabled, disabled_reason, backlogged_since } = webhook;
  const update = useAction(({ webhooks }, changes: WebhookInput) => webhooks.update(id, changes), {
    notice: "Webhook saved",
    refreshes: [["webhook", id], ["webhooks"]],
  });
  return (
    <Page
      title={url}
      above={<Link href="/webhooks">Webhooks</Link>}
      beside={
        <>
          <EnabledBadge enabled={enabled} />
          <Identifier value={id} what="the webhook's ID" />
        </>
      }
      actions={<WebhookActions webhook={webhook} />}
    >
      {disabled_reason && <p role="note">{disabled_reason}</p>}
      {backlogged_since && (
        <p role="note">
          Many events wait for this webhook, the oldest since <Time at={backlogged_since} />. If too much
          waits, the webhook is disabled; nothing is lost.
        </p>
      )}
      <DeliveryStats of={{ kind: "webhooks", id }} counted="Attempts" />
      <LatestReplay webhookId={id} />
      <div className="columns">
        <Deliveries webhookId={id} />
        <Section id="configuration" title="Configuration" className="panel">
          <WebhookForm webhook={webhook} submitLabel="Save" action={update} />
        </Section>
      </div>
    </Page>
  );
}

const REFRESH_MS = 2000;

/** The latest replay, followed while it runs. */
function LatestReplay({ webhookId }: { readonly webhookId: string }) {
  const { data: replay } = useApiQuery(
    ["webhook", webhookId, "replay"],
    ({ webhooks }) => webhooks.getReplay(webhookId),
    { refetchInterval: ({ state }) => (state.data?.state === "running" ? REFRESH_MS : false) },
  );
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
