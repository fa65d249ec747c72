/** A webhook: its deliveries, and its configuration behind a tab. */

import { DAY_MS } from "@atrium/contract/time.ts";
import type { Webhook, WebhookInput } from "atrium/server";
import { useState } from "react";
import { Link, Redirect, Route, Switch, useLocation, useParams } from "wouter";
import { useAction, useApiQuery } from "../data/organization.tsx";
import { Button, Identifier } from "../ui/button.tsx";
import { ActionButton, Confirm, Dialog, Secret } from "../ui/dialog.tsx";
import { Loaded } from "../ui/feedback.tsx";
import { SelectField, TextField } from "../ui/fields.tsx";
import { Form, useUndone, type Values } from "../ui/form.tsx";
import { MenuItem, MoreMenu } from "../ui/menu.tsx";
import { Page, Section, Tabs } from "../ui/page.tsx";
import { type Attempts, guideOf, replayOfFailures, type Story } from "../ui/story.ts";
import { Activity, StatusLine, useAgreement, useEnabling, useStory } from "../ui/subscribers.tsx";
import { Time, toLocal } from "../ui/time.tsx";
import { Deliveries } from "./deliveries.tsx";
import { SECRET_ADVICE, savedInput, WebhookForm } from "./webhook-form.tsx";

const ABOVE = <Link href="/webhooks">Webhooks</Link>;

export default function WebhookPage() {
  const { webhookId = "" } = useParams();
  const webhook = useApiQuery(["webhook", webhookId], ({ webhooks }) => webhooks.get(webhookId));
  return (
    <Loaded query={webhook} shape="page" above={ABOVE}>
      {(data) => <Frame key={data.id} webhook={data} />}
    </Loaded>
  );
}

const TABS = [
  { name: "Deliveries", path: "" },
  { name: "Configuration", path: "/configuration" },
];

function Frame({ webhook }: { readonly webhook: Webhook }) {
  const { id, url, backlogged_since } = webhook;
  const known = useStory("webhooks", webhook);
  const undone = useUndone(webhook.updated_at);
  const update = useAction(({ webhooks }, changes: WebhookInput) => webhooks.update(id, changes), {
    toast: "Webhook saved",
    undo: ({ webhooks }) => webhooks.update(id, savedInput(webhook)).finally(undone.count),
    refreshes: [["webhook", id], ["webhooks"]],
  });
  return (
    <Page
      title={url}
      above={ABOVE}
      beside={<Identifier value={id} what="the webhook's ID" />}
      actions={<WebhookActions webhook={webhook} state={known?.story.state} />}
    >
      <StatusLine known={known}>{known && <Help webhook={webhook} {...known} />}</StatusLine>
      {backlogged_since && (
        <p role="note">
          Many events wait for this webhook, the oldest since <Time at={backlogged_since} />. If too much
          waits, the webhook is disabled; nothing is lost.
        </p>
      )}
      <Tabs label="Webhook" base={`/webhooks/${id}`} tabs={TABS} />
      <Switch>
        <Route path="/webhooks/:webhookId">
          {known?.story.state !== "new" && <Activity kind="webhooks" id={id} />}
          <LatestReplay webhookId={id} />
          <Deliveries webhookId={id} />
        </Route>
        <Route path="/webhooks/:webhookId/configuration">
          <Section id="configuration" title="Configuration" className="panel">
            <WebhookForm key={undone.key} webhook={webhook} submitLabel="Save" action={update} />
          </Section>
        </Route>
        <Route>
          <Redirect to={`/webhooks/${id}`} replace />
        </Route>
      </Switch>
    </Page>
  );
}

interface HelpProps {
  readonly webhook: Webhook;
  readonly story: Story;
  readonly attempts: Attempts;
}

/** The next step in the state that the status line names. */
function Help({ webhook, story: { state }, attempts }: HelpProps) {
  const { id } = webhook;
  const guide = (
    <a className="button" href={guideOf("webhooks", attempts.failing?.error ?? null)}>
      Open the guide
    </a>
  );
  const enabling = useEnabling("webhooks", webhook);
  if (state === "new") return <TestButton webhookId={id} />;
  if (state === "disabled")
    return (
      <>
        <Button variant="primary" onClick={enabling.toggle}>
          Enable
        </Button>
        {webhook.disabled_reason && guide}
      </>
    );
  if (state !== "failing") return null;
  return (
    <>
      <ActionButton
        label="Send all again"
        variant="primary"
        act={({ webhooks }) => webhooks.replay(id, replayOfFailures(attempts))}
        options={{ toast: "Sending again", refreshes: [["webhook", id]] }}
      />
      {guide}
    </>
  );
}

interface TestButtonProps {
  readonly webhookId: string;
  readonly variant?: "primary" | "plain";
}

function TestButton({ webhookId: id, variant = "primary" }: TestButtonProps) {
  const test = useAction(({ webhooks }) => webhooks.test(id), {
    toast: ({ status, error }) =>
      status === "success" ? "Test delivered" : `Test failed${error ? `: ${error}` : ""}`,
    isFailure: ({ status }) => status !== "success",
    refreshes: [["webhook", id]],
    notifiesErrors: true,
  });
  return (
    <Button
      variant={variant}
      icon="run"
      data-shortcut="new"
      isBusy={test.isPending}
      onClick={() => test.mutate()}
    >
      {test.isPending ? "Sending…" : "Send test event"}
    </Button>
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
  useAgreement({ kind: "webhooks", id: webhookId }, replay?.state);
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

interface WebhookActionsProps {
  readonly webhook: Webhook;
  readonly state: Story["state"] | undefined;
}

function WebhookActions({ webhook, state }: WebhookActionsProps) {
  const { id, enabled } = webhook;
  const [, go] = useLocation();
  const rotate = useAction(({ webhooks }) => webhooks.rotateSecret(id), { refreshes: [["webhook", id]] });
  const remove = useAction(({ webhooks }) => webhooks.delete(id), {
    toast: "Webhook deleted",
    refreshes: [["webhooks"]],
    onDone: () => go("/webhooks", { replace: true }),
  });
  const enabling = useEnabling("webhooks", webhook);
  const [openDialog, setOpenDialog] = useState<"replay" | "rotate" | "delete" | null>(null);
  const close = () => setOpenDialog(null);
  return (
    <>
      {(state === "going" || state === "quiet" || state === "failing") && (
        <TestButton webhookId={id} variant={state === "failing" ? "plain" : "primary"} />
      )}
      <MoreMenu>
        <MenuItem onSelect={enabling.toggle}>{enabling.label}</MenuItem>
        {enabled && <MenuItem onSelect={() => setOpenDialog("replay")}>Send again…</MenuItem>}
        <MenuItem onSelect={() => setOpenDialog("rotate")}>Rotate secret…</MenuItem>
        <hr />
        <MenuItem isDanger onSelect={() => setOpenDialog("delete")}>
          Delete…
        </MenuItem>
      </MoreMenu>
      <ReplayDialog webhookId={id} isOpen={openDialog === "replay"} onClose={close} />
      <Confirm
        title="Rotate the signing secret?"
        confirmLabel="Rotate"
        action={rotate}
        isOpen={openDialog === "rotate"}
        onClose={close}
      >
        <p>
          Deliveries are signed with both secrets for 24 hours. Rotating again invalidates the old secret at
          once.
        </p>
      </Confirm>
      <Confirm
        title="Delete this webhook?"
        confirmLabel="Delete webhook"
        action={remove}
        isOpen={openDialog === "delete"}
        onClose={close}
      >
        <p>This cancels pending deliveries and deletes the delivery history. This cannot be undone.</p>
      </Confirm>
      <Secret
        title="New signing secret"
        about={SECRET_ADVICE}
        secret={rotate.data?.secret ?? null}
        what="the secret"
        onDone={rotate.reset}
      />
    </>
  );
}

/** RFC 3339 timestamps; the end includes the minute that the field shows. */
const toSpan = ({ from = "", to = "", status }: Values) => ({
  from: new Date(from).toISOString(),
  to: new Date(Date.parse(`${to}:59.999`)).toISOString(),
  ...(status === "failed" && ({ status } as const)),
});

interface ReplayDialogProps {
  readonly webhookId: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

/** Sends events of a time to the webhook again. */
function ReplayDialog({ webhookId, isOpen, onClose }: ReplayDialogProps) {
  const replay = useAction(
    ({ webhooks }, span: ReturnType<typeof toSpan>) => webhooks.replay(webhookId, span),
    {
      toast: "Sending again",
      refreshes: [
        ["webhook", webhookId, "deliveries"],
        ["webhook", webhookId, "replay"],
      ],
      onDone: onClose,
    },
  );
  return (
    <Dialog
      title="Send events again"
      about="Sends the events of a time again that this webhook listens to, with the same IDs. Events of a room stay in order."
      isOpen={isOpen}
      onClose={onClose}
    >
      <Form submitLabel="Send again" action={replay} onCancel={onClose} toInput={toSpan}>
        <ReplayFields />
      </Form>
    </Dialog>
  );
}

function ReplayFields() {
  const [now] = useState(Date.now);
  return (
    <>
      <TextField
        label="From"
        name="from"
        type="datetime-local"
        required
        defaultValue={toLocal(now - DAY_MS)}
      />
      <TextField label="To" name="to" type="datetime-local" required defaultValue={toLocal(now)} />
      <SelectField
        label="Which"
        name="status"
        options={[
          ["", "All events in the log"],
          ["failed", "Only failed deliveries"],
        ]}
      />
    </>
  );
}
